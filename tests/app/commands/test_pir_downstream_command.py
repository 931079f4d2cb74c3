"""`berdseye study pir-downstream` as a person calls it, over the released demo files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from berdseye.app.cli import main
from berdseye.data.errors import UnknownNameError
from berdseye.data.workspace import Workspace
from tests.app.command_line import output
from tests.data.language_models.chat_server import ChatServer, Reply, chat_server, completion, last_words

MODEL = ("--model", "api(served)")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """Writes essays that speak for what supports; is asked for a side, and reads it off; else answers 18."""

    def answer(body: dict[str, Any]) -> Reply:
        text = last_words(body)
        if "Answer with one word" in text:
            return completion("For" if "Splendid" in text else "Against")
        if "essay" in text:
            return completion("Splendid." if "that supports" in text else "Awful.")
        return completion("18")

    with chat_server(answer) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


def test_table_5_from_the_demo_files(
    workspace: Workspace, server: ChatServer, shared_data: Path, tmp_path: Path
) -> None:
    tasks = shared_data / "pir"
    accepted = tmp_path / "accepted.jsonl"
    rows = [(query, "18" if n % 4 == 0 else "nobody knows") for n, query in
            enumerate(json.loads((tasks / "ambigqa.json").read_text())["queries"][:8])]  # fmt: skip
    accepted.write_text("".join(json.dumps({"question": q, "answers": [a]}) + "\n" for q, a in rows))
    command = ("study", "pir-downstream", "--ambigqa", tasks / "ambigqa.json", "--answers", accepted, "--perspectrum",
               tasks / "perspectrum.json", *MODEL, "--judge", "api(served)", "--essays", "8", "--pipeline", "bm25", "-w",
               workspace.folder)  # fmt: skip
    held = json.loads(output(*command, "--format", "json"))["pir_downstream"]
    shown = {(row["retriever"], row["task"], row["measure"]): row for row in held}
    # Every essay takes the side that was asked for; 2 of 8 questions have the answer 18.
    for retriever in ("none", "gold", "bm25"):
        assert shown[retriever, "perspectrum", "correlation"]["value"] == pytest.approx(100)
        assert shown[retriever, "ambigqa", "accuracy"]["value"] == 25
    assert shown["gold (paper)", "ambigqa", "accuracy"]["published"] == 77.5
    assert shown["gold", "ambigqa", "accuracy"]["published"] is None, "printed for 120 questions"
    assert shown["gold", "perspectrum", "correlation"]["published"] is None, "printed for TextBlob's polarity"
    # Essays are sampled at temperature 1, answers and verdicts are not.
    temperatures = {
        body.get("temperature", 1.0) for body in map(dict, server.requests) if "about 100 words" in str(body)
    }
    assert temperatures == {1.0}
    asked = len(server.requests)
    # 3 retrievers: 8 answers and 8 essays each; equal essays of one statement are judged once.
    assert asked <= 3 * (8 + 8) + 8
    assert "pap+ (paper)" in output(*command)
    assert len(server.requests) == asked, "a second run asks for nothing"
    prompt = tmp_path / "essay.txt"
    prompt.write_text("My essay on [Question] [Passages]")
    output(*command, "--prompt", f"essay={prompt}")
    assert (
        sum("My essay on" in last_words(dict(body)) for body in server.requests[asked:]) == len(server.requests) - asked
    )
    with pytest.raises(UnknownNameError, match="Did you mean essay"):
        output(*command, "--prompt", f"essays={prompt}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "There is nothing to score."),
        (("--ambigqa", "a.json"), "PIR's AmbigQA file has no answers."),
        (("--perspectrum", "none.json"), "none.json"),
        (("--perspectrum", "p.json", "--judge", "llm", "--detector", "embedded"), "exclude each other"),
        (("--perspectrum", "p.json", "--pipeline", "bm52"), "bm25"),
    ],
)
def test_a_mistake_is_one_line(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setattr(
        "sys.argv", ["berdseye", "study", "pir-downstream", *arguments, *MODEL, "-w", str(workspace.folder)]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())
