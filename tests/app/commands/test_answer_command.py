"""`berdseye answer` as a person calls it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from berdseye.app.cli import cli, main
from berdseye.app.commands.answer import _usage
from berdseye.data.corpora import add_corpus
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from tests.app.command_line import output
from tests.data.language_models.chat_server import ChatServer, chat_server, completion

MODEL = "api(served)"


@pytest.fixture
def held(workspace: Workspace) -> Workspace:
    save_dataset(workspace, "made", [Question("z", "made", "Should zoos exist?"), Question("c", "made", "Ban cars?")])
    source = workspace.folder / "web.jsonl"
    source.write_text(json.dumps({"id": "a", "title": "Apes", "text": "Zoos keep apes. [bold]x[/bold]"}) + "\n")
    add_corpus(workspace, "web", source)
    return workspace


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with chat_server(lambda _: completion("Well: yes.", 50, 4)) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


def test_answers_are_made_listed_and_shown(held: Workspace, server: ChatServer, tmp_path: Path) -> None:
    made = json.loads(
        output("answer", "made", "--model", MODEL, "--strategy", "vanilla", "--corpus", "web", "--name", "first",
               "-w", held.folder, "--json")
    )  # fmt: skip
    assert (made["name"], made["answers"], made["settings"]["prompt_tokens"]) == ("first", 2, 100)
    assert output("answer", "--list", "-w", held.folder) == "first\tmade\tapi(served)\tbasic\tvanilla\tweb\tbm25\t2\n"
    shown = output("answer", "--show", "first", "--question", "z", "-w", held.folder)
    assert shown.splitlines()[:3] == ["[z] Should zoos exist?", "", "Well: yes."]
    assert "read 1: Apes" in shown
    assert "Zoos keep apes. [bold]x[/bold]" in shown, "as it stands in the passage"
    [both] = [json.loads(output("answer", "--show", "first", "-w", held.folder, "--json"))]
    assert [row["id"] for row in both] == ["z", "c"]
    assert (both[0]["chunks"][0]["text"], both[1]["chunks"]) == ("Zoos keep apes. [bold]x[/bold]", [])
    prompt = tmp_path / "paper.txt"
    prompt.write_text("Speak for every side.")
    output("answer", "made", "--model", MODEL, "--prompt-file", prompt, "-w", held.folder)
    assert server.requests[-1]["messages"][0] == {"role": "system", "content": "Speak for every side."}


def test_tokens_and_calls_are_printed(
    held: Workspace, server: ChatServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    del server
    arguments = ["answer", "made", "--model", MODEL, "--strategy", "react", "--corpus", "web", "-w", str(held.folder)]
    monkeypatch.setattr("sys.argv", ["berdseye", *arguments])
    for calls in (6, 0):
        cli(arguments, standalone_mode=False)
        said = " ".join(capsys.readouterr().err.split())
        # Two questions, each with two searches and an answer, 50 tokens in and 4 out.
        assert "300 prompt tokens, 24 completion tokens, $0.0000 and 6 calls of unknown price" in said
        assert f"{calls} of 6 completions" in said
        assert "1 answers had no chunk to read" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "No data set is given."),
        (["mode", "--model", MODEL], "Did you mean made?"),
        (["made", "--model", MODEL, "--strategy", "vanilla"], "needs a corpus"),
        (["made"], "The workspace has no default language model."),
        (["made", "--model", "apo(x)"], "Unknown language model 'apo'"),
        (["made", "--model", MODEL, "--prompt-file", "nowhere.txt"], "nowhere.txt"),
        (["made", "--model", MODEL, "--name", "Not So"], "cannot be the name"),
        (["--show", "none"], "Unknown answer set 'none'"),
    ],
)
def test_a_mistake_is_one_line(
    held: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.setattr("sys.argv", ["berdseye", "answer", *arguments, "-w", str(held.folder)])
    with pytest.raises(SystemExit) as ended:
        main()
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert said in " ".join(error.split())
    assert "Traceback" not in error


def test_calls_without_tokens_are_read_under_their_earlier_name() -> None:
    stored = {"unpriced": 0, "prompt_tokens": 1, "completion_tokens": 1, "cost": 0.0}
    for key in ("unreported", "untold"):
        assert "(2 calls did not report tokens)" in _usage(stored | {key: 2})
