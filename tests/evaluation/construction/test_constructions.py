"""Steps run once, resume with equal bytes, keep what they reject, and follow what people overrule."""

from pathlib import Path

import pytest

from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import (
    BadInputError,
    BerdseyeError,
    DamagedError,
    StaleError,
    UnavailableError,
    UnknownNameError,
)
from berdseye.data.files.locks import locked
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.finishing import finish
from berdseye.evaluation.construction.kinds import kind_of
from berdseye.evaluation.construction.opening import begin, list_constructions, open_construction, remove_construction
from berdseye.evaluation.construction.reporting import funnel, reasons, rejections, spent, spent_text
from berdseye.evaluation.construction.rows import Row, read_rows, write_rows
from berdseye.evaluation.construction.running import expected, run_construction
from berdseye.evaluation.construction.stored import Construction
from tests.evaluation.construction.constructed import begun, lines, scripted, step_bytes

TOPICS = ("zoos", "cars", "tests", "taxes", "parks", "trams")


def answer(asked: str) -> str:
    """A question about the topic of two documents, and two statements about a question; nothing for `tests`."""
    topic = next(topic for topic in TOPICS if f"about {topic}" in asked)
    if "argue against each other" in asked:
        return "I would rather not." if topic == "tests" else f"Question: Is it right to decide about {topic}?"
    return f"Supporting: It is good to decide about {topic}.\n**Opposing:** It is bad to decide about {topic}."


@pytest.fixture
def source(tmp_path: Path) -> Path:
    documents = [{"id": t, "document1": f"Yes about {t}.", "document2": f"No about {t}."} for t in TOPICS]
    return lines(tmp_path / "pairs.jsonl", *documents)


def run(workspace: Workspace, source: Path) -> Construction:
    construction = begun(workspace, "arguana", source)
    run_construction(construction)
    return construction


def test_each_step_keeps_its_rows_with_their_origin(
    workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted(monkeypatch, answer)
    construction = run(workspace, source)
    assert [(s.step, s.kept, s.rejected) for s in funnel(construction)] == [
        ("sources", 6, 0),
        ("questions", 5, 1),
        ("duplicates", 5, 0),
        ("perspectives", 5, 0),
    ]
    [rejection] = rejections(construction)
    assert (rejection.step, rejection.row, rejection.reason) == (
        "questions",
        "tests",
        "the question has no question mark",
    )
    rejected = next(row for row in construction.rows("questions") if row.id == "tests")
    assert rejected.origin["questions"]["raw"] == ["I would rather not."] * 2, "asked twice, and both texts are kept"
    asked = [text for text in model.asked if "about tests" in text]
    assert "no question mark" in asked[1], "the second attempt names the fault"
    made = construction.kept("perspectives")[0]
    assert made.fields["opposing"] == "It is bad to decide about zoos."
    assert made.origin["sources"] == {"source": "pairs", "line": 1}
    assert made.origin["perspectives"]["model"] == "api(scripted)"
    assert [(s.step, s.rows, s.dollars) for s in spent(construction)] == [
        ("questions", 6, 3.5),
        ("perspectives", 5, 2.5),
    ]
    assert reasons(construction)["questions"] == {"the question has no question mark": 1}
    before = len(model.asked)
    assert run_construction(construction) == []
    assert len(model.asked) == before


@pytest.mark.parametrize("calls", range(1, 12))
def test_a_run_cut_off_at_any_call_resumes_with_equal_bytes(
    workspace: Workspace, tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    scripted(monkeypatch, answer)
    whole = step_bytes(run(Workspace.create(tmp_path / "other"), source))

    def failing(asked: str) -> str:
        if len(model.asked) > calls:
            raise UnavailableError("The server is gone.")
        return answer(asked)

    model = scripted(monkeypatch, failing)
    with pytest.raises(UnavailableError):
        run(workspace, source)
    stored = CompletionCache(workspace).spent().calls
    assert stored == calls
    again = scripted(monkeypatch, answer)
    assert step_bytes(run(workspace, source)) == whole
    assert len(again.asked) == 12 - calls, "finished completions are not paid for twice"


def test_overruling_keeps_and_drops_rows_and_runs_later_steps_again(
    workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer)
    construction = run(workspace, source)
    with pytest.raises(BadInputError, match="lacks question"):
        construction.overrule("questions", {"tests": ""}, keep=True, made_by="ada")
    with pytest.raises(UnknownNameError, match=r"step 'question'\. Did you mean questions"):
        construction.overrule("question", {"tests": ""}, keep=True, made_by="ada")
    with pytest.raises(UnknownNameError, match="step 'nosuch'"):
        rejections(construction, "nosuch")
    with pytest.raises(UnknownNameError, match="row of the step 'questions'"):
        construction.overrule("questions", {"test": ""}, keep=True, made_by="ada")
    asks = {"question": "Should schools decide about tests?"}
    construction.overrule("questions", {"tests": "written by hand"}, keep=True, made_by="ada", fields=asks)
    construction.overrule("duplicates", {"cars": "too vague"}, keep=False, made_by="ben")
    reopened = open_construction(workspace, "made")
    assert run_construction(reopened) == ["duplicates", "perspectives"]
    assert [row.id for row in reopened.kept("perspectives")] == ["zoos", "tests", "taxes", "parks", "trams"]
    kept = next(row for row in reopened.kept("perspectives") if row.id == "tests")
    assert kept.fields["question"] == "Should schools decide about tests?"
    assert kept.origin["overruled"]["made_by"] == "ada"
    assert kept.origin["overruled"]["was"] == "the question has no question mark"
    assert next(r for r in rejections(reopened) if r.row == "cars").reason == "too vague"
    reopened.overrule("duplicates", {"cars": ""}, keep=True, made_by="ben")
    run_construction(reopened)
    assert len(reopened.kept("perspectives")) == 6, "the last decision holds"


def test_a_torn_last_line_of_decisions_is_dropped(
    workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer)
    construction = run(workspace, source)
    construction.overrule("questions", {"cars": "vague"}, keep=False, made_by="ada")
    path = construction.folder / "overruled.jsonl"
    path.write_bytes(path.read_bytes() + b'{"step": "questions", "row": "zo')
    assert [o.row for o in construction.overrulings()] == ["cars"]
    construction.overrule("questions", {"trams": "vague"}, keep=False, made_by="ada")
    assert [o.row for o in construction.overrulings()] == ["cars", "trams"]


def test_steps_run_singly_and_up_to_one(workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, answer)
    construction = begun(workspace, "arguana", source)
    with pytest.raises(StaleError, match="'sources' of 'made' is not finished"):
        run_construction(construction, only="questions")
    assert run_construction(construction, until="questions") == ["sources", "questions"]
    assert run_construction(construction, only="duplicates") == ["duplicates"]
    with pytest.raises(UnknownNameError, match="Did you mean questions"):
        run_construction(construction, until="question")
    with pytest.raises(StaleError, match="is not finished"):
        finish(construction, "made")


def test_a_dry_run_counts_rows_and_calls_and_asks_nothing(
    workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted(monkeypatch, answer)
    construction = begun(workspace, "arguana", source)
    before = expected(construction)
    assert [(s.name, s.rows, s.exact, s.cost and s.cost.calls) for s in before] == [
        ("sources", 6, True, None),
        ("questions", 6, True, 6),
        ("duplicates", 6, False, None),
        ("perspectives", 6, False, 6),
    ]
    assert model.asked == []
    run_construction(construction, until="duplicates")
    after = expected(construction)
    assert [(s.finished, s.rows) for s in after] == [(True, 6), (True, 6), (True, 5), (False, 5)]


def test_a_changed_model_prompt_or_source_is_noticed(
    workspace: Workspace, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer)
    construction = run(workspace, source)
    scripted(monkeypatch, answer, version="2")
    assert run_construction(construction) == ["questions", "perspectives"], "duplicates gets the same questions"
    with pytest.raises(UnknownNameError, match="prompt 'question'"):
        begun(workspace, "arguana", source, "other", {"question": source})
    own = tmp_path / "own.txt"
    own.write_text("Question [Doc 1], which argue against each other")
    with pytest.raises(BadInputError, match=r"no \[Doc 2\]"):
        begun(workspace, "arguana", source, "other", {"questions": own})
    own.write_text("These argue against each other: [Doc 1] [Doc 2]")
    other = begun(workspace, "arguana", source, "other", {"questions": own})
    run_construction(other)
    assert other.kept("questions")[0].origin["questions"]["prompt"] == "questions.txt"
    with pytest.raises(BadInputError, match="with other sources, settings or prompts"):
        begun(workspace, "arguana", source, "other")
    source.write_text(source.read_text().replace("zoos", "pets"))
    with pytest.raises(StaleError, match="has changed since this construction began"):
        run_construction(construction)


def test_one_process_runs_a_construction_at_a_time(
    workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer)
    construction = begun(workspace, "arguana", source)
    with (
        locked(construction.folder / ".running.lock"),
        pytest.raises(BerdseyeError, match="Another process is running 'made'"),
    ):
        run_construction(construction)


def test_finished_questions_become_data_sets(
    workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer)
    construction = run(workspace, source)
    assert finish(construction, "mine") == ["mine: 5 questions, 10 perspectives"]
    first = load_dataset(workspace, "mine")[0]
    assert (first.id, first.text) == ("zoos", "Is it right to decide about zoos?")
    assert [(p.text, p.stance) for p in first.perspectives] == [
        ("It is good to decide about zoos.", "supporting"),
        ("It is bad to decide about zoos.", "opposing"),
    ]
    with pytest.raises(BadInputError, match="'mine' already exists"):
        finish(construction, "mine")
    finish(construction, "mine", dev_share=0.4, seed=3)
    parts = [{q.id for q in load_dataset(workspace, f"mine-{part}")} for part in ("dev", "test")]
    assert [len(part) for part in parts] == [2, 3]
    assert not parts[0] & parts[1]
    finish(construction, "mine", dev_share=0.4, seed=3, replacing=True)
    assert {q.id for q in load_dataset(workspace, "mine-dev")} == parts[0]


def test_constructions_are_listed_and_removed(
    workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer)
    assert list_constructions(workspace) == []
    with pytest.raises(BadInputError, match="needs a source"):
        begin(workspace, kind_of("arguana"), "none", {}, {"model": "llm"}, {}, made_by="")
    construction = run(workspace, source)
    assert list_constructions(workspace) == ["made"]
    construction.rows_file("questions").write_text("{")
    with pytest.raises(DamagedError, match="cannot be read"):
        construction.rows("questions")
    remove_construction(workspace, "made")
    assert list_constructions(workspace) == []
    with pytest.raises(UnknownNameError):
        open_construction(workspace, "made")


def test_a_price_that_is_unknown_is_not_zero(
    workspace: Workspace, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer, cost=None)
    costs = spent(run(workspace, source))
    assert [(cost.rows, cost.dollars, cost.unpriced) for cost in costs] == [(6, 0, 6), (5, 0, 5)]
    assert spent_text(costs) == "11 rows with completions, of unknown price"
    assert spent_text([costs[0], costs[1]._replace(dollars=2.5, unpriced=1)]).endswith(
        "$2.50 and 7 rows of unknown price"
    )


def test_rows_are_written_and_read_unchanged(tmp_path: Path) -> None:
    rows = [Row("a", {"x": [1, "é\u2028"], "y": None}, {"s": {"raw": ["\x00"]}}), Row("b", {}, {}, "no")]
    write_rows(tmp_path / "rows.jsonl", rows)
    assert list(read_rows(tmp_path / "rows.jsonl")) == rows


def test_a_model_that_is_unknown_is_named_before_anything_is_stored(workspace: Workspace, source: Path) -> None:
    with pytest.raises(UnknownNameError, match="language model 'gpt'"):
        begin(workspace, kind_of("arguana"), "made", {"pairs": source}, {"model": "gpt(4)"}, {}, made_by="ada")
    assert list_constructions(workspace) == []
