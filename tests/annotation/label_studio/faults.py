"""Faults during an exchange: servers and programs killed, networks refused, and what a proxy does to requests."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from faulty_proxy import FAULTS, proxy
from world import VERSION, World

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.label_studio import connection as connections
from berdseye.annotation.label_studio.connection import Connection, connect
from berdseye.annotation.label_studio.project import find_or_create, project_by_id
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.push import push
from berdseye.annotation.label_studio.server import running, start
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace

_GIVE_UP_SECONDS = 3.0
_ANSWER_SECONDS = "_ANSWER_SECONDS"


def exchange(world: World, connection: Connection, way: str) -> None:
    """One push, or one pull of everything."""
    if way == "pull":
        pull(world.judgments, connection, world.project, whole=True)
    else:
        push(world.judgments, connection, world.project, world.keys, world.labels, VERSION)


class Scene:
    """A world with its server; every fault is `scene.fault(way)`, and says whether it hit the exchange."""

    def __init__(self, world: World, workspace: Workspace, server_folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.world, self.workspace, self.server_folder, self.patch = world, workspace, server_folder, patch
        self.faults: dict[str, Callable[[str], bool]] = {
            "Label Studio killed": self.label_studio_killed,
            "Berdseye killed": self.berdseye_killed,
            "network refused": self.network_refused,
            "import race": self.import_race,
            **{f"proxy: {fault}": partial(self.proxied, (fault,)) for fault in FAULTS},
            "proxy: all": partial(self.proxied, FAULTS),
        }
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["faults"])
        self._processes = context
        self.seconds = 1.0

    def label_studio_killed(self, way: str) -> bool:
        server = running(self.server_folder)
        assert server is not None
        killer = threading.Timer(self._moment(), os.killpg, (server.pid, signal.SIGKILL))
        killer.start()
        hit = self._broken(way, self.world.connection)
        killer.join()
        again = start(self.server_folder, 0).ready()
        self.patch.setenv("BERDSEYE_LABEL_STUDIO_URL", again.url)
        self.world.connection = connect(self.workspace)
        return hit

    def berdseye_killed(self, way: str) -> bool:
        ready = self._processes.Event()
        told = (self.workspace.folder, self.world.project.id, way, self.world.keys, dict(os.environ), ready)
        program = self._processes.Process(target=_program, args=told)
        program.start()
        assert ready.wait(60)
        time.sleep(self._moment())
        hit = program.is_alive()
        program.kill()
        program.join()
        return hit

    def network_refused(self, way: str) -> bool:
        """The address stops answering after some requests, or answers none at all."""
        with proxy(self.world.connection.url, FAULTS, 0, share=0) as between:
            connection = self._through(between.url)
            if self.world.random.random() < 0.5:
                killer = threading.Timer(self._moment(), between.shutdown)
                killer.start()
                # A listener that accepts nothing more is as good as a closed port once its queue is closed.
                closer = threading.Timer(killer.interval, between.socket.close)
                closer.start()
                hit = self._broken(way, connection)
                killer.join()
                closer.join()
                return hit
        return self._broken(way, connection)

    def import_race(self, way: str) -> bool:
        """Another program imports into another project all the time."""
        world, done = self.world, threading.Event()
        other = find_or_create(world.connection, f"{world.project.title} 2")
        data = {"ext_id": "spare", "question": "", "perspective": "", "title": "", "passage": ""}

        def disturb() -> None:
            while not done.is_set():
                try:
                    world.connection.client.projects.import_tasks(other.id, request=[{"data": data}] * 40)
                except Exception:
                    time.sleep(0.02)

        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            return self._broken(way, world.connection)
        finally:
            done.set()
            thread.join()

    def proxied(self, faults: tuple[str, ...], way: str) -> bool:
        world = self.world
        too_slow = _GIVE_UP_SECONDS + 0.5
        share = 0.15 if len(faults) > 1 else 0.5 if faults == ("short import",) else 0.3
        with proxy(
            world.connection.url, faults, world.random.randrange(2**32), share=share, too_slow=too_slow
        ) as between:
            broken = [self._broken(way, connection) for connection in self._tries(between.url)]
        world.counts.update({f"answers '{fault}'": times for fault, times in between.done.items()})
        return any(broken) or bool(between.done)

    def _tries(self, url: str) -> list[Connection]:
        return [self._through(url) for _ in range(2)]

    def _broken(self, way: str, connection: Connection) -> bool:
        try:
            exchange(self.world, connection, way)
        except BerdseyeError:
            return True
        return False

    def _through(self, url: str) -> Connection:
        """A connection by another address, whose client soon gives up."""
        with self.patch.context() as patch:
            patch.setattr(connections, _ANSWER_SECONDS, _GIVE_UP_SECONDS)
            direct = self.world.connection
            client = connections._client(url, connections.TokenAuth(url, os.environ["BERDSEYE_LABEL_STUDIO_TOKEN"]))
        return Connection(url, client, direct.lock, direct.organization, direct.account, direct.personal)

    def _moment(self) -> float:
        return self.world.random.uniform(0, self.seconds)


def _program(
    folder: Path, project: int, way: str, keys: list[str], environment: dict[str, str], ready: "threading.Event"
) -> None:
    """Another Berdseye, doing the same exchange."""
    os.environ.update(environment)
    workspace = Workspace.open(folder)
    judgments = Judgments.open(workspace.judgments_url)
    connection = connect(workspace)
    found = project_by_id(connection, project)
    ready.set()
    if way == "pull":
        pull(judgments, connection, found, whole=True)
    else:
        push(judgments, connection, found, keys, dict.fromkeys(keys, (0.7, True)), VERSION)
