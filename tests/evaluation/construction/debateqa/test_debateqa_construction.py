"""A DebateQA from released debates: every step, interrupted and resumed, with a model that also answers nonsense."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.checks import check_form
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import add_corpus
from berdseye.data.datasets.layouts.debateqa import read_debateqa
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.records import Question
from berdseye.data.web.settings import TRUSTED_LISTS
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.checking import apply_outcome, begin_check, checked
from berdseye.evaluation.construction.debateqa.checks import CHECKS, threshold_by_people
from berdseye.evaluation.construction.debateqa.documents import Documents
from berdseye.evaluation.construction.debateqa.kind import DEBATEQA
from berdseye.evaluation.construction.debateqa.report import _by_source, debateqa_report
from berdseye.evaluation.construction.debateqa.similarity import unit_vectors
from berdseye.evaluation.construction.finishing import finish
from berdseye.evaluation.construction.reporting import funnel, reasons, rejections
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.running import expected, run_construction
from berdseye.evaluation.construction.stored import Construction
from tests.evaluation.construction.constructed import scripted, step_bytes
from tests.evaluation.construction.debateqa.scripted_debates import (
    CORPUS,
    answer,
    begun_debateqa,
    copied,
    debate_workspace,
    write_files,
)


@pytest.fixture(scope="module")
def files(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("debates") / "files"
    write_files(folder, shared_data)
    return folder


@pytest.fixture(scope="module")
def searched(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return debate_workspace(tmp_path_factory.mktemp("debates") / "workspace", files / "pages.jsonl")


@pytest.fixture(scope="module")
def finished(searched: Workspace, files: Path, tmp_path_factory: pytest.TempPathFactory) -> Construction:
    """A finished construction, for reading only."""
    workspace = copied(searched, tmp_path_factory.mktemp("debates") / "finished")
    with pytest.MonkeyPatch.context() as patched:
        scripted(patched, answer)
        construction = begun_debateqa(workspace, files)
        run_construction(construction)
        finish(construction, "debate")
    return construction


@pytest.fixture
def own(searched: Workspace, tmp_path: Path) -> Workspace:
    return copied(searched, tmp_path / "own")


def test_rows_that_cannot_be_read_are_listed_with_their_lines(finished: Construction) -> None:
    listed = {(r.row, r.reason.partition(":")[0]) for r in rejections(finished, "sources")}
    assert listed == {
        ("delphi/line 17", "cannot be read"), ("delphi/18", "cannot be read"),
        ("delphi/line 19", "repeats an id"), ("web/w91", "cannot be read"),
    }  # fmt: skip
    origin = next(row.origin["sources"] for row in finished.rows("sources") if row.id == "delphi/18")
    assert origin == {"source": "delphi", "line": 18}


def test_every_list_of_trusted_sites_may_be_chosen() -> None:
    [trusted] = [option for option in DEBATEQA.options if option.name == "trusted"]
    assert trusted.choices == (*TRUSTED_LISTS, "all")


def test_questions_of_both_sources_are_kept_once(finished: Construction) -> None:
    rows = finished.rows("duplicates")
    dropped = {row.id: row.origin["duplicates"] for row in rows if row.rejected}
    assert {f"web/w0{n}" for n in range(4)} | {"web/w90"} <= set(dropped)
    kept = {row.id for row in rows if not row.rejected}
    for made in dropped.values():
        assert made["kept"] in kept
        assert made["cosine"] >= 0.78
    assert dropped["web/w90"]["kept"] == "delphi/d02"


def test_documents_are_of_trusted_sites_and_enough(finished: Construction) -> None:
    rows = finished.kept("evidence")
    assert rows
    texts = Documents(finished.working())
    for row in rows:
        documents = row.fields["documents"]
        assert 3 <= len(documents) <= 5
        assert [document["number"] for document in documents] == list(range(1, len(documents) + 1))
        assert all(document["url"].startswith("https://debatewise.org/") for document in documents)
        assert len({texts.text(document) for document in documents}) == len(documents)
        assert 0 < row.fields["cosine"] <= 1
    few = [row for row in finished.rows("evidence") if row.rejected]
    assert [(row.id, row.rejected) for row in few] == [("web/w92", "fewer than 3 documents: 0")]


def test_points_of_view_cite_documents_that_exist(finished: Construction) -> None:
    kept = finished.kept("points")
    for row in kept:
        assert row.fields["documents"]
    why = reasons(finished)["points"]
    questions = len(finished.kept("views"))
    assert why["cites no document"] == why["cites documents that do not exist"] == questions
    made = kept[0].origin
    assert made["views"]["temperature"] == made["views"]["top_p"] == 0.7
    assert made["views"]["raw"]
    assert made["queries"]["temperature"] == 0


def test_the_data_set_is_what_debateqas_reader_reads(finished: Construction) -> None:
    verified = finished.kept("verified")
    asked = {row.id: str(row.fields["question"]) for row in finished.kept("views")}
    folder = finished.folder / "finished"
    test, dev = (load_dataset(finished.workspace, f"debate-{split}") for split in ("test", "dev"))
    assert (len(test), len(test) + len(dev)) == (6, len(asked))
    assert {q.id for q in [*test, *dev]} == set(asked)
    assert sum(len(q.perspectives) for q in [*test, *dev]) == len(verified)
    assert read_debateqa(folder / "debate-test.jsonl").questions[0].perspectives == test[0].perspectives
    entry = json.loads((folder / "debate-test.jsonl").read_text("utf-8").splitlines()[0])
    cited = entry["partial_answers"][0]
    assert set(cited["documents"]) <= {document["number"] for document in entry["documents"]}
    assert all(document["text"] for document in entry["documents"])
    assert cited["origin"]["explanations"]["model"] == "api(scripted)"
    assert entry["origin"]["sources"]["source"] == entry["source"]


def test_the_report_stands_beside_the_papers_counts(finished: Construction) -> None:
    report = debateqa_report(finished)
    printed = {stage.step: stage.printed for stage in funnel(finished) if stage.printed}
    assert printed == {
        "duplicates": 3216, "evidence": 2982, "views": 2941, "explanations": 11640, "verified": 10873,
    }  # fmt: skip
    delphi, web, total = report.sources
    assert (delphi.printed, web.printed) == ({"sources": 2281, "duplicates": 1597}, {})
    assert total.printed == {"sources": 4473, "duplicates": 3216}
    assert delphi.counts["sources"] + web.counts["sources"] == total.counts["sources"] == 16 + 16
    assert sum(report.documents.values()) == len(finished.rows("evidence"))
    cosines = [row.fields["cosine"] for row in finished.kept("evidence")]
    assert report.relevance == pytest.approx(sum(cosines) / len(cosines))
    assert sum(topic.questions for topic in report.topics) <= len(finished.kept("views"))
    assert _by_source(["procon"], {})[0].printed == {"sources": 107}, "table 6 has no counts after duplicates"
    text = "\n".join(report.lines())
    assert "(DebateQA: 0.56)" in text
    json.dumps(report.to_json())


def test_a_construction_killed_at_each_step_ends_with_the_same_bytes(
    own: Workspace, files: Path, finished: Construction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before the rows of each step are written, and in the middle of each batch of completions."""
    construction = begun_debateqa(own, files)
    asked, killed, store = [0], [0], Construction.store
    steps: set[str] = set()

    def dying(text: str) -> str:
        asked[0] += 1
        if asked[0] % 40 == 7 and killed[0] < asked[0]:
            killed[0] = asked[0]
            raise KeyboardInterrupt
        return answer(text)

    def killed_before(self: Construction, step: str, rows: Sequence[Row], made_from: str) -> None:
        if step not in steps:
            steps.add(step)
            raise KeyboardInterrupt
        store(self, step, rows, made_from)

    model = scripted(monkeypatch, dying)
    monkeypatch.setattr(Construction, "store", killed_before)
    for _ in range(100):
        try:
            run_construction(construction)
        except KeyboardInterrupt:
            continue
        break
    assert steps == set(construction.step_names)
    assert killed[0] > 0
    assert step_bytes(construction) == step_bytes(finished)
    finish(construction, "debate")
    for name in ("debate-test.jsonl", "debate-dev.jsonl"):
        assert (construction.folder / "finished" / name).read_bytes() == (
            finished.folder / "finished" / name
        ).read_bytes()
    assert finish(construction, "debate")[0].startswith("debate-test: 6 questions"), (
        "an interrupted call may be repeated"
    )
    construction.overrule("verified", {construction.kept("verified")[0].id: "wrong"}, keep=False, made_by="ada")
    with pytest.raises(BadInputError, match=r"debate-(test|dev)' already exists"):
        finish(construction, "debate")
    wrong = construction.rows("verified")[0].fields["point_of_view"]
    assert wrong in _views(construction.workspace)
    finish(construction, "debate", replacing=True)
    assert wrong not in _views(construction.workspace)
    for name in ("debate-test", "debate-dev"):
        save_dataset(construction.workspace, name, [Question("1", name, "Another?", ())])
    with pytest.raises(BadInputError, match="The data set 'debate-test' and the data set 'debate-dev' already exist"):
        finish(construction, "debate")
    finish(construction, "debate", replacing=True)
    assert len(load_dataset(construction.workspace, "debate-test")) == 6
    texts = [text for text in model.asked if "search queries" in text]
    assert len(texts) - len(set(texts)) <= 5, "only the calls that were interrupted are repeated"
    assert run_construction(construction) == []


def _views(workspace: Workspace) -> set[str]:
    questions = [*load_dataset(workspace, "debate-test"), *load_dataset(workspace, "debate-dev")]
    return {perspective.text for question in questions for perspective in question.perspectives}


def test_nonsense_is_counted_and_survived(own: Workspace, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the completions are empty, in another form, endless, or cite documents that do not exist."""
    nonsense = [
        "",
        "\x00\ud800",
        "<think>" + "1. " * 5000,
        "[Document 99999999999999]" * 50,
        "Point-of-View : [",
        "(" * 2000,
    ]

    def hostile(text: str) -> str:
        number = len(model.asked)
        return nonsense[number // 2 % len(nonsense)] if number % 2 else answer(text)

    model = scripted(monkeypatch, hostile)
    construction = begun_debateqa(own, files)
    run_construction(construction)
    for stage in funnel(construction):
        assert stage.rows == (stage.kept or 0) + (stage.rejected or 0)
    rejected = rejections(construction)
    assert all(one.reason for one in rejected)
    rows = [row for name in ("queries", "views", "explanations") for row in construction.rows(name)]
    assert all(row.origin[name]["raw"] for row in rows for name in row.origin if name in ("queries", "views"))


def test_a_model_of_pure_nonsense_leaves_nothing(own: Workspace, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, lambda _: "…")
    construction = begun_debateqa(own, files)
    run_construction(construction)
    assert reasons(construction)["queries"] == {"no search query in the completion": len(construction.rows("queries"))}
    with pytest.raises(BadInputError, match="Nothing is left"):
        finish(construction, "debate")
    assert debateqa_report(construction).lines()


def test_a_dry_run_counts_without_asking(own: Workspace, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = scripted(monkeypatch, answer)
    construction = begun_debateqa(own, files)
    before = {step.name: step for step in expected(construction)}
    assert before["queries"].cost is not None
    assert before["queries"].cost.calls == 32
    assert before["explanations"].cost is not None
    assert before["explanations"].cost.calls == 128
    assert model.asked == []
    run_construction(construction, until="evidence")
    after = {step.name: step for step in expected(construction)}
    words = sum(d["words"] for row in construction.kept("evidence") for d in row.fields["documents"])
    assert after["views"].cost is not None
    assert words < after["views"].cost.words < words + 300 * len(construction.kept("evidence"))


def test_nearly_equal_points_of_view_wait_for_a_person(
    own: Workspace, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeating(text: str) -> str:
        if "List the points of view" not in text:
            return answer(text)
        return (
            "Point-of-View 1: Rules protect workers from harm. [Document 1]\n"
            "Point-of-View 2: The rules protect the workers from harm. [Document 2]\n"
            "Point-of-View 3: Freedom matters more than safety. [Document 3]"
        )

    scripted(monkeypatch, repeating)
    construction = begun_debateqa(own, files)
    run_construction(construction)
    waiting = [row for row in construction.rows("distinct") if row.rejected]
    assert waiting
    assert all(row.id.endswith("/2") for row in waiting)
    assert waiting[0].rejected.startswith("nearly the same as another point of view: ")
    first = waiting[0].id.replace("/2", "/1")
    by_id = {row.id: row for row in construction.kept("explanations")}
    assert [document["number"] for document in by_id[first].fields["documents"]] == [1, 2], "merged with its documents"
    construction.overrule("distinct", {waiting[0].id: "another reason"}, keep=True, made_by="ada")
    run_construction(construction)
    by_id = {row.id: row for row in construction.kept("explanations")}
    assert [document["number"] for document in by_id[first].fields["documents"]] == [1]
    assert [document["number"] for document in by_id[waiting[0].id].fields["documents"]] == [2]


def test_a_person_may_write_what_a_model_did_not(own: Workspace, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries, points of view and numbers of documents, as texts of `construct overrule --field`."""

    def lacking(text: str) -> str:
        question = "Minimum Weight Limit" in text  # the first claim
        asks = "search queries" in text or "List the points of view" in text
        return "…" if question and asks else answer(text)

    scripted(monkeypatch, lacking)
    construction = begun_debateqa(own, files)
    run_construction(construction, until="queries")
    with pytest.raises(BadInputError, match="lacks queries"):
        construction.overrule("queries", {"delphi/d00": "asked by hand"}, keep=True, made_by="ada")
    queries = {"queries": "weight of models; thin models health"}
    construction.overrule("queries", {"delphi/d00": "asked by hand"}, keep=True, made_by="ada", fields=queries)
    run_construction(construction, until="views")
    assert "delphi/d00" in {row.id for row in construction.kept("evidence")}
    views = {"views": "1. Thin models harm girls. [Document 1]\n2. Laws do not help. [Document 2]\n3. Let them be."}
    construction.overrule("views", {"delphi/d00": "read by hand"}, keep=True, made_by="ada", fields=views)
    run_construction(construction, until="points")
    assert next(r for r in construction.rows("points") if r.id == "delphi/d00/3").rejected == "cites no document"
    fields = {"documents": "Documents 1, 3 and 88"}
    construction.overrule("points", {"delphi/d00/3": "it does"}, keep=True, made_by="ada", fields=fields)
    construction.overrule("points", {"delphi/d00/2": "it does"}, keep=True, made_by="ada", fields={"documents": "99"})
    assert expected(construction)
    run_construction(construction)
    by_id = {row.id: row for row in construction.kept("verified")}
    assert [document["number"] for document in by_id["delphi/d00/3"].fields["documents"]] == [1, 3]
    assert by_id["delphi/d00/3"].fields["explanation"]
    assert next(r for r in construction.rows("distinct") if r.id == "delphi/d00/2").rejected == "cites no document"


def test_what_two_of_three_people_reject_is_removed_and_its_question_stays(
    own: Workspace, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer)
    construction = begun_debateqa(own, files, test=0)
    run_construction(construction)
    rows = construction.kept("verified")
    question = str(rows[0].fields["question_id"])
    of_question = [row.id for row in rows if row.fields["question_id"] == question]
    judgments = Judgments.open(own.judgments_url)
    batch = begin_check(construction, judgments, "grounded", people=("Ana", "Bo", "Cy"))
    assert (batch.per_pair, batch.recipe["check"]) == (3, "grounded")
    for name in ("Ana", "Bo", "Cy"):
        queue, person = BatchQueue(judgments, batch), judgments.sign_in(name)
        while (key := queue.next(person)) is not None:
            row = queue.record(key).question_id
            alone = name == "Bo" and row == rows[-1].id  # one rejection of three
            rejects = alone or (name != "Cy" and row in of_question)
            queue.give(person, key, "no" if rejects else "yes")
    [done] = checked(construction, judgments)
    assert apply_outcome(construction, done, made_by="ada") == of_question
    assert apply_outcome(construction, done, made_by="ada") == []
    assert run_construction(construction) == []
    finish(construction, "debate")
    asked = {q.id: q for q in load_dataset(own, "debate")}
    assert asked[question].perspectives == ()
    assert sum(len(q.perspectives) for q in asked.values()) == len(rows) - len(of_question)
    assert reasons(construction)["verified"] == {"rejected by people": len(of_question)}


def test_people_get_items_for_each_check(finished: Construction) -> None:
    items = {check.name: check.items(finished, 10, 3) for check in CHECKS}
    for check in CHECKS:
        assert items[check.name] == check.items(finished, 10, 3)
        assert all(item.id and item.statement for item in items[check.name])
        assert len({item.key(check_form(check.form)) for item in items[check.name]}) == len(items[check.name])
    assert [item.id for item in items["grounded"]] == [item.id for item in items["addresses"]]
    explanation = {row.id: row.fields["explanation"] for row in finished.kept("explanations")}
    for item in items["grounded"]:
        assert item.read.startswith("[Document ")
        assert item.statement.endswith(explanation[item.id])
    assert all(item.statement.startswith("1. ") and item.read and item.question for item in items["covered"])
    pairs = items["duplicates"]
    assert pairs
    assert all(pair.read.casefold() != pair.statement.casefold() and not pair.title for pair in pairs)
    cosines = {
        pair.id: float(np.prod(unit_vectors([pair.read, pair.statement], "static"), axis=0).sum()) for pair in pairs
    }
    chosen = sorted(cosines, key=lambda pair: cosines[pair])[-1]
    counts = {pair: {"yes": 3 if pair == chosen else 0, "no": 1} for pair in cosines}
    suggested = threshold_by_people(finished, {**counts, "gone|pair": {"yes": 3}})
    assert (suggested.threshold, suggested.duplicates, suggested.different) == (cosines[chosen], 1, len(pairs) - 1)


def test_a_corpus_that_was_replaced_is_noticed(
    own: Workspace, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer)
    construction = begun_debateqa(own, files)
    run_construction(construction, until="evidence")
    pages = (files / "pages.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "other.jsonl").write_text("\n".join(pages[::-1]), "utf-8")
    add_corpus(own, CORPUS, tmp_path / "other.jsonl", replace=True)
    with pytest.raises(StaleError, match="no longer what it was"):
        run_construction(construction)
