"""People work on both sides, an exchange meets a fault at a random moment, and afterwards both sides agree exactly.

Every word is counted: in the log, here and there. All faults, many times, with a table of counts:

    BERDSEYE_FAULT_ROUNDS=20 .venv/bin/python -m pytest -m slow -s tests/annotation/label_studio/test_fault_rounds.py
"""

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import pytest
from faults import Scene
from faulty_proxy import FAULTS
from world import World

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.label_studio.connection import connect
from berdseye.annotation.label_studio.project import find_or_create
from berdseye.annotation.label_studio.server import running, start
from berdseye.data.workspace import Workspace

pytestmark = pytest.mark.label_studio
WAYS = ("push", "pull")
KILLS = ("Label Studio killed", "Berdseye killed")
OF_PUSHES = ("import race", "proxy: short import")
EVERY = (*KILLS, "network refused", "import race", *(f"proxy: {fault}" for fault in FAULTS), "proxy: all")


@pytest.fixture(scope="module")
def scene(server_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One world for all faults: what one of them left behind would show in the next."""
    workspace = Workspace.create(tmp_path_factory.mktemp("faults") / "workspace")
    judgments = Judgments.open(workspace.judgments_url)
    server = (running(server_folder) or start(server_folder, 0)).ready()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERDSEYE_LABEL_STUDIO_URL", server.url)
        patch.setenv("BERDSEYE_LABEL_STUDIO_TOKEN", server.token)
        connection = connect(workspace)
        project = find_or_create(connection, f"Test {uuid4().hex[:12]}")
        people = [judgments.sign_in(f"{name} {uuid4().hex[:6]}") for name in ("Ana", "Bo", "Zoë")]
        world = World(judgments, connection, project, people, seed=int(os.environ.get("BERDSEYE_FAULT_SEED", "6")))
        world.new_pairs(6)
        world.settle()
        world.check()
        yield Scene(world, workspace, server_folder, patch)
    judgments.engine.dispose()


def play(scene: Scene, name: str, way: str, size: int) -> bool:
    """Work on both sides, the fault, more work, recovery; returns whether the fault hit the exchange."""
    world = scene.world
    world.new_pairs(size)
    world.work_here(size)
    world.work_there(size)
    # About the time that an exchange takes, so that kills fall anywhere in it.
    scene.seconds = world.sync_seconds * (0.8 if way == "push" else 0.3)
    hit = scene.faults[name](way)
    world.work_here(2)
    world.settle()
    world.check()
    return hit


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("Berdseye killed", "push"),
        ("proxy: all", "pull"),
        pytest.param("proxy: short import", "push", marks=pytest.mark.slow),
        pytest.param("Label Studio killed", "push", marks=pytest.mark.slow),
    ],
)
def test_both_sides_agree_after_a_fault(scene: Scene, name: str, way: str) -> None:
    play(scene, name, way, 4)


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
def test_both_sides_agree_after_many_faults(scene: Scene) -> None:
    rounds = int(os.environ.get("BERDSEYE_FAULT_ROUNDS", "5"))
    played: dict[tuple[str, str], list[bool]] = {
        (name, way): [] for name in EVERY for way in WAYS if way == "push" or name not in OF_PUSHES
    }
    began = time.monotonic()
    try:
        for _ in range(rounds):
            for (name, way), hits in played.items():
                hits.append(play(scene, name, way, 6))
    finally:
        print(table(played, scene.world.counts, time.monotonic() - began), flush=True)
    assert scene.world.counts["checks"] == 1 + rounds * len(played)
    assert all(any(any(played[name, way]) for way in WAYS) for name in KILLS), "no kill fell into an exchange"


def table(played: Mapping[tuple[str, str], list[bool]], counts: Mapping[str, int], seconds: float) -> str:
    """How often each fault was made and hit an exchange; each round ended with a check that nothing is lost or doubled."""
    lines = ["", f"{'fault':28} {'during':7} {'rounds':>6} {'hit':>5}"]
    lines += [f"{name:28} {way:7} {len(hits):6} {sum(hits):5}" for (name, way), hits in played.items()]
    lines += [f"{name}: {count}" for name, count in sorted(counts.items())]
    return "\n".join([*lines, f"{seconds:.0f} s"])
