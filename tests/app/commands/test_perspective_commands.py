"""`berdseye perspective` and `dataset version` from the first proposal to a measured version, as one person and as a team."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.app.cli import cli
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.errors import BerdseyeError
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from tests.app.command_line import output

NAME, CARS = "made", "cars"
PERSPECTIVES = (
    Perspective("Cars harm cities.", "supporting"),
    Perspective("Shops need cars.", "opposing"),
    Perspective("Trams suffice.", "supporting"),
)


@pytest.fixture
def folder(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with one question."""
    monkeypatch.delenv("BERDSEYE_PERSON", raising=False)
    save_dataset(workspace, NAME, [Question(CARS, NAME, "Should cities ban cars?", PERSPECTIVES)])
    return workspace.folder


def test_an_edit_goes_from_a_proposal_to_a_version(folder: Path, tmp_path: Path) -> None:

    def berdseye(*words: object, person: str = "Ana") -> str:
        return output("--as", person, *words, "-w", folder)

    before = json.loads(berdseye("perspective", "show", NAME, CARS, "--json"))
    first, second = before[0], before[1]
    merged = berdseye("perspective", "merge", NAME, CARS, 1, 2, "--new", "- Both.", "--comment", "the same")
    assert merged.startswith("1\tmerge: ")
    berdseye("perspective", "reword", NAME, CARS, first["text"], "--new", "Other words.", person="Bo")
    berdseye("perspective", "propose", NAME, CARS, "--new", "+ Nobody said this.")
    listed = json.loads(berdseye("perspective", "list", NAME, "--json"))
    assert [(e["by"], e["status"], e["overlaps"]) for e in listed] == [
        ("Ana", "open", [2]),
        ("Bo", "open", [1]),
        ("Ana", "open", []),
    ]
    assert listed[1]["becomes"] == [{**listed[1]["parts"][0], "text": "Other words."}], "the stance stays"
    berdseye("perspective", "accept", NAME, 2)
    with pytest.raises(BerdseyeError, match="Edit 1 conflicts with edit 2, which Ana accepted"):
        berdseye("perspective", "accept", NAME, 1)
    berdseye("perspective", "reject", NAME, 1, person="Bo")
    berdseye("perspective", "accept", NAME, 3)
    made = json.loads(berdseye("dataset", "version", NAME, "--json"))
    assert (made["name"], made["parent"], made["made_by"], len(made["edits"])) == (f"{NAME}@2", NAME, "Ana", 2)
    assert berdseye("dataset", "versions", NAME).count("\t") == 5, "nothing is wrong with it"
    texts = [p.text for q in load_dataset(Workspace.open(folder), f"{NAME}@2") if q.id == CARS for p in q.perspectives]
    assert texts == ["Other words.", second["text"], *(p["text"] for p in before[2:]), "Nobody said this."]
    berdseye("perspective", "undo", NAME, 3)
    assert len(json.loads(berdseye("perspective", "list", NAME, "--status", "open", "--json"))) == 1
    berdseye("perspective", "export", tmp_path / "edits.jsonl")
    other = Workspace.create(tmp_path / "other").folder
    shutil.copytree(folder / "datasets", other / "datasets")
    output("perspective", "import", tmp_path / "edits.jsonl", "-w", other)
    there = json.loads(output("perspective", "list", NAME, "--json", "-w", other))
    assert [e["uid"] for e in there] == [e["uid"] for e in listed]


def test_drops_and_splits(folder: Path) -> None:
    asked = ("perspective", "split", NAME, CARS, "1", "--new", "+ One half.", "--new", "- Other half.", "-w", folder)
    assert "-> One half.; Other half." in output("--as", "Ana", *asked)
    assert "drop: " in output("--as", "Ana", "perspective", "drop", NAME, CARS, "2", "-w", folder)
    result = CliRunner().invoke(cli, ["perspective", "drop", NAME, CARS, "9", "-w", str(folder)])
    assert "Unknown perspective '9'" in str(result.exception)


def test_in_a_team_another_adjudicator_decides(folder: Path) -> None:
    settings = folder / "berdseye.toml"
    text = settings.read_text(encoding="utf-8").replace('mode = "local"', 'mode = "team"')
    text = text.replace('issuer = ""', 'issuer = "https://id.example.org"').replace('client_id = ""', 'client_id = "b"')
    roles = '"ana@example.org" = "adjudicator"\n"bo@example.org" = "adjudicator"\n"cy@example.org" = "annotator"\n'
    settings.write_text(text.replace("[people.roles]\n", f"[people.roles]\n{roles}"), encoding="utf-8")
    assert Workspace.open(folder).people.team

    def berdseye(person: str, *words: object) -> str:
        return output("--as", f"{person}@example.org", *words, "-w", folder)

    berdseye("ana", "perspective", "drop", NAME, CARS, 1)
    berdseye("cy", "perspective", "drop", NAME, CARS, 2)
    with pytest.raises(BerdseyeError, match="is your own"):
        berdseye("ana", "perspective", "accept", NAME, 1)
    with pytest.raises(BerdseyeError, match=r"cy@example\.org is an annotator"):
        berdseye("cy", "perspective", "accept", NAME, 1)
    berdseye("bo", "perspective", "accept", NAME, 1)
    with pytest.raises(BerdseyeError, match=r"cy@example\.org is an annotator"):
        berdseye("cy", "perspective", "undo", NAME, 1)
    berdseye("cy", "perspective", "undo", NAME, 2)
    with pytest.raises(BerdseyeError, match=r"bo@example\.org is an adjudicator"):
        berdseye("bo", "dataset", "version", NAME)
