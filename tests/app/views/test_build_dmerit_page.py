"""The page Build with a dump of Wikipedia: lists become queries with evidence, which people verify and audit."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.opening import list_constructions
from tests.app.command_line import output
from tests.app.drawn_page import again, drawn, press, says, wait_for_jobs
from tests.data.language_models.chat_server import chat_server, completion, last_words
from tests.data.wikipedia.made_dump import POPULAR, MadeDump, make_dump
from tests.evaluation.construction.dmerit.made_wiki import judge_all, reader


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MadeDump]:
    dump = make_dump(tmp_path / "madewiki.xml.bz2", 220, 4, words=5)
    answer = reader(dump)
    with chat_server(lambda body: completion(answer(last_words(body)))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield dump


def chosen(dump: Path, model: str = "api(served)") -> AppTest:
    at = drawn("build", name="Ada")
    at.selectbox(key="kind").set_value("dmerit")
    again(at).segmented_control(key="build-dmerit-from").set_value("Path on this machine")
    again(at).text_area(key="build-dmerit-path").set_value(f"lists={dump}")
    at.number_input(key="build-dmerit-most_references").set_value(POPULAR - 10)
    again(at).text_input(key="build-model").set_value(model)
    return again(at)


def figures(at: AppTest) -> dict[str, tuple[float, float]]:
    """Ours and the paper's, by the name of the figure."""
    table = next(frame.value for frame in at.dataframe if "paper" in frame.value.columns)
    return {row[""]: (row["ours"], row["paper"]) for row in table.to_dict("records")}


def test_a_dump_becomes_queries_that_people_verify_and_audit(at_hand: Workspace, made: MadeDump) -> None:
    press(chosen(made.path), "Start")
    wait_for_jobs(at_hand)
    at = drawn("build", name="Ada")
    assert says(at, "the paper: D-MERIT, section 2.2 .about.: 2,500", "caption")
    assert "does not confirm the member" in at.dataframe[0].value["reason"].tolist()
    press(at, "Add")
    questions = load_dataset(at_hand, "lists")
    judgments = Judgments.open(at_hand.judgments_url)

    at = drawn("build", name="Ada")
    assert figures(at)["queries"] == (len(questions), 1196)
    at.button(key="audit-send").click()
    assert says(again(at), "needs at least 2 runs", "error"), "nothing was retrieved yet"
    for pipeline in ("bm25", "qld"):
        output("run", "--dataset", "lists", "--corpus", "lists", "--pipeline", pipeline, "--k", 5)
    at = drawn("build", name="Ada")
    at.number_input(key="verification-size").set_value(10)
    again(at).button(key="verification-send").click()
    again(at).number_input(key="audit-k").set_value(5)
    at.number_input(key="audit-queries").set_value(2)
    again(at).button(key="audit-send").click()
    again(at)
    assert load_batch(judgments, "lists-verified").task == "verify"
    assert judge_all(judgments, "lists-verified", "supports") == 10
    assert judge_all(judgments, "lists-audited", "no") > 0

    at = drawn("build", name="Ada")
    found = figures(at)
    assert found["people agree with the model (%)"] == (50, 84.7)
    assert found["new evidence"] == (0, 35)
    assert {"lists-verified", "lists-audited"} <= {button.label.replace("\\", "") for button in at.button}
    judgments.engine.dispose()


@pytest.mark.usefixtures("made")
def test_a_file_that_is_no_dump_is_an_error_in_place(at_hand: Workspace, tmp_path: Path) -> None:
    at = press(chosen(tmp_path / "missing.xml"), "Dry run")
    assert says(at, "The source does not exist", "error")
    assert list_constructions(at_hand) == []
    (tmp_path / "page.xml").write_text("<html><body>No wiki.</body></html>", encoding="utf-8")
    at = press(chosen(tmp_path / "page.xml"), "Dry run")
    assert says(at, "dump", "error")
