"""BERDS's studies on a small workspace with gold labels, worked out by hand, and the published figures beside ours."""

from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import add_corpus
from berdseye.data.datasets.stored import GOLD, save_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair, Perspective, Question
from berdseye.data.runs.stored import list_runs, load_run, save_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.interchange.external_runs import IMPORTED
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.published import published
from berdseye.evaluation.published.berds import Sizes
from berdseye.evaluation.studies.berds.base import base, with_published
from berdseye.evaluation.studies.berds.depth import coverage, union
from berdseye.evaluation.studies.berds.diversity import (
    diversity,
    is_papers_reranking,
    published_methods,
    relative_changes,
    tuning,
)
from berdseye.evaluation.studies.berds.sides import following, leaning
from berdseye.evaluation.studies.by_name.study_registry import run_study
from berdseye.evaluation.studies.comparing import comparisons, corrected_comparisons, correction, k_curves
from berdseye.evaluation.studies.gathering import Gatherer, Selection, checked
from berdseye.evaluation.studies.result import StudyResult

TEXTS = ["zoos protect rare animals", "zoos harm animals that pace their cages", "cars crowd streets",
         "cars bring people to work", "bread is baked at night"]  # fmt: skip
QUESTIONS = [
    Question("zoos", "", "do zoos protect animals", (Perspective("zoos protect", "supporting"),
                                                     Perspective("zoos harm", "opposing"))),
    Question("cars", "", "do cars crowd streets", (Perspective("cars crowd", "supporting"),
                                                   Perspective("cars bring work", "opposing"))),
    Question("plain", "", "when is bread baked", (Perspective("at night"),)),
]  # fmt: skip
SUPPORTS = {(0, "zoos protect"), (1, "zoos harm"), (2, "cars crowd"), (4, "at night")}
ALL = Selection(("made",), ("web",), ("bm25",))


@pytest.fixture
def gatherer(tmp_path: Path) -> Gatherer:
    workspace = Workspace.create(tmp_path / "workspace")
    (tmp_path / "passages.jsonl").write_text("".join(f'{{"id": {n}, "text": "{t}"}}\n' for n, t in enumerate(TEXTS)))
    add_corpus(workspace, "web", tmp_path / "passages.jsonl")
    save_dataset(workspace, "made", QUESTIONS)
    gold = {
        Pair(t, p.text): (n, p.text) in SUPPORTS for n, t in enumerate(TEXTS) for q in QUESTIONS for p in q.perspectives
    }
    LabelStore(workspace).put(GOLD, "1", [p.key for p in gold], [float(v) for v in gold.values()])
    judgments = Judgments.open(f"sqlite:///{tmp_path / 'judgments.db'}")
    yield Gatherer(workspace, judgments, parse_label_source("gold"))
    judgments.engine.dispose()


def value(result: StudyResult, table: int = 0, **where: object) -> float:
    cells = result.tables[table].cells
    for column, wanted in where.items():
        cells = cells[cells[column] == wanted]
    assert len(cells) == 1
    return float(cells["value"].iloc[0])


def test_base_makes_the_run_once_and_scores_it(gatherer: Gatherer) -> None:
    result = base(gatherer, ALL, ks=(2,))
    # Zoos: both sides in the top 2. Cars: one of two. Bread: found. MRecall 2/3; Precision (2 + 1 + 1) / 2 over 3.
    assert value(result, measure="MRecall@2", dataset="made") == pytest.approx(100 * 2 / 3)
    assert value(result, measure="Precision@2", dataset="made") == pytest.approx(100 * 2 / 3)
    [first] = list_runs(gatherer.workspace)
    base(gatherer, ALL, ks=(2,))
    assert list_runs(gatherer.workspace) == [first]
    deeper = base(gatherer, ALL, ks=(3,))
    assert value(deeper, measure="MRecall@3") == pytest.approx(100 * 2 / 3)
    assert list_runs(gatherer.workspace)[0].k == 3


def test_a_run_of_a_changed_data_set_is_made_again(gatherer: Gatherer) -> None:
    base(gatherer, ALL, ks=(2,))
    save_dataset(gatherer.workspace, "made", QUESTIONS[:1])
    assert value(base(gatherer, ALL, ks=(2,)), measure="MRecall@2") == 100


def test_coverage_and_union(gatherer: Gatherer) -> None:
    result = coverage(gatherer, ALL)
    # Zoos are covered by two passages, bread by one; no passage brings people to work in these labels.
    assert value(result, figure="average size", corpus="web") == 1.5
    assert value(result, figure="% of questions", corpus="web") == pytest.approx(100 * 2 / 3)
    together = union(gatherer, Selection(("made",), ("web",), ("bm25", "dense(static)")))
    assert value(together, corpus="web", dataset="made") == pytest.approx(100 * 2 / 3)
    assert value(union(gatherer, ALL, depth=1), corpus="web") == pytest.approx(100 / 3)


def test_leaning_and_sycophancy(gatherer: Gatherer, monkeypatch: pytest.MonkeyPatch) -> None:
    result = leaning(gatherer, ALL, k=2)
    assert [value(result, leaning=kind) for kind in ("only supporting", "only opposing", "both", "neither")] == [
        50,
        0,
        50,
        0,
    ]
    assert "two sides: 1 questions" in result.notes[0]
    follow = following(gatherer, ALL, k=1)
    # Each side's own words bring its own passage first: asked by the opposing side, no passage supports, which is undefined.
    assert value(follow, asked="supporting") == 1
    assert np.isnan(value(follow, asked="opposing"))
    cells = follow.tables[0].cells.set_index("asked")
    assert cells.loc["opposing", ["n", "supporting", "opposing"]].tolist() == [2, 0, 50]
    assert cells.loc["supporting", ["n", "supporting", "opposing"]].tolist() == [2, 100, 0]
    monkeypatch.setattr(
        "berdseye.evaluation.studies.gathering.search", None
    )  # what was searched for once is not searched for again
    assert following(gatherer, ALL, k=1).tables[0].cells.equals(follow.tables[0].cells)
    with pytest.raises(TypeError):
        following(gatherer, ALL, k=2)


@pytest.mark.parametrize("name", ["berds base", "berds leaning", "berds sycophancy", "curves"])
def test_studies_say_that_labels_of_topics_cannot_mean_sides(gatherer: Gatherer, name: str) -> None:
    def notes(labels: str) -> list[str]:
        found = run_study(gatherer.workspace, name, dataset=["made"], corpus=["web"], pipeline=["bm25"], labels=labels)
        return [note for note in found.notes if "not which side" in note]

    assert notes("gold") == []
    [note] = notes("gold>embedded")
    assert "The labels of gold>embedded tell what is on topic" in note
    assert "MRecall may count opposing perspectives as covered by one passage" in note


def test_diversity_and_tuned_weights(gatherer: Gatherer) -> None:
    mixed = Selection(("made",), ("web",), ("bm25", "bm25 >> mmr(0.5)"))
    weights = tuning(gatherer, mixed, measure="MRecall@2")
    assert value(weights, corpus="web") == 0.99  # all weights rank alike here: the one that changes least
    assert len(weights.tables[0].cells.query("corpus == 'web'")) == 1  # what reranks already is not reranked again
    result = diversity(gatherer, mixed, k=2, weight="tuned")
    for method in ("default", "reranking"):
        assert value(result, corpus="web", method=method, measure="MRecall@2") == pytest.approx(100 * 2 / 3)
    assert "--expansion" in result.notes[0]
    with pytest.raises(BadInputError, match="retriever without stages"):
        diversity(gatherer, Selection(("made",), ("web",), ("bm25 >> mmr(0.5)",)))


def test_relative_changes_are_in_percent_of_the_retriever_alone() -> None:
    # BERDS, table 4: Wikipedia with BM25, MRecall@5 8.20 alone, 8.03 reranked (-2.1%), 10.39 expanded (+26.7%).
    changes = relative_changes(published("berds_diversity").rename(columns={"retriever": "pipeline"}))
    assert set(changes["method"]) == {"reranking", "query_expansion"}
    row = changes[(changes["corpus"] == "wikipedia") & (changes["pipeline"] == "bm25")]
    assert row.set_index(["method", "measure"])["value"].round(1).to_dict() == {
        ("reranking", "Precision@5"): -0.9, ("reranking", "MRecall@5"): -2.1,
        ("query_expansion", "Precision@5"): 13.2, ("query_expansion", "MRecall@5"): 26.7,
    }  # fmt: skip
    zero = pd.DataFrame(
        [("c", "p", "default", "m", 0.0), ("c", "p", "reranking", "m", 5.0)],
        columns=["corpus", "pipeline", "method", "measure", "value"],
    )
    assert relative_changes(zero)["value"].isna().all()


def test_diversity_with_a_weight_tuned_on_dev_and_perspectives_searched_alone(gatherer: Gatherer) -> None:
    workspace = gatherer.workspace
    save_dataset(workspace, "made-dev", QUESTIONS)
    lines = [f'{{"question": "{q.text}", "perspectives": ["bread is baked", "night"]}}\n' for q in QUESTIONS]
    (workspace.folder / "said.jsonl").write_text("".join(lines))
    result = diversity(gatherer, ALL, k=2, dev=["made-dev"], expansion="file(said.jsonl)", queries="paper")
    assert [t.name for t in result.tables] == ["berds-diversity", "berds-diversity-change", "berds-lambda"]
    assert value(result, 2, corpus="web") == 0.99
    systems = result.tables[0].cells.groupby("method")["system"].first().to_dict()
    assert systems["reranking"] == "bm25 >> mmr(tuned)"
    assert systems["query_expansion"] == "expand(file(said.jsonl),variant=paper) >> bm25"
    # Both perspectives alone find the bread, which covers one question of three; alone, bm25 covers two.
    assert value(result, corpus="web", method="query_expansion", measure="MRecall@2") == pytest.approx(100 / 3)
    assert value(result, 1, corpus="web", method="query_expansion", measure="MRecall@2") == pytest.approx(-50)
    assert value(result, 1, corpus="web", method="reranking", measure="MRecall@2") == 0
    assert result.settings["dev"] == ("made-dev",)
    with pytest.raises(BadInputError, match="must not be tuned on a data set that is measured: made"):
        diversity(gatherer, ALL, k=2, dev=["made"])


def test_figures_of_a_method_are_shown_only_for_the_method_of_the_paper(gatherer: Gatherer) -> None:
    shown = {
        (reranking, expansion): set(published_methods(5, reranking=reranking, expansion=expansion)["method"])
        for reranking in (False, True) for expansion in (None, "llm", "file(gpt-4.jsonl)")
    }  # fmt: skip
    assert shown[False, None] == shown[False, "llm"] == {"default"}
    assert shown[True, "llm"] == {"default", "reranking"}
    assert shown[True, "file(gpt-4.jsonl)"] == {"default", "reranking", "query_expansion"}
    assert published_methods(10, reranking=True, expansion=None).empty
    ours = pd.DataFrame([("wikipedia", "bm25", "lambda", 0.9)], columns=["corpus", "pipeline", "figure", "value"])
    theirs = ours.assign(value=0.99)
    dev = Sizes({"arguana": 250, "kialo": 258, "opinionqa": 294}, WIKIPEDIA)
    keys = ("corpus", "pipeline", "figure")
    assert with_published(ours, theirs, keys, dev, "dev")["published"].tolist() == [0.99]
    on_test = with_published(ours, theirs, keys, Sizes(TESTS, WIKIPEDIA), "dev")
    assert on_test["published"].isna().all(), "the paper tuned on the dev splits"
    weights = tuning(gatherer, ALL, measure="MRecall@2").tables[0].cells
    assert weights["published"].isna().all()


def test_curves_and_comparisons(gatherer: Gatherer) -> None:
    curve = k_curves(gatherer, ALL, "Coverage", deepest=3)
    # Coverage@1: 1/2, 1/2 and 1; at 2 and 3: 1, 1/2 and 1.
    assert [value(curve, k=k) for k in (1, 2, 3)] == pytest.approx([100 * 2 / 3, 100 * 2.5 / 3, 100 * 2.5 / 3])
    both = Selection(("made",), ("web",), ("bm25", "dense(static)"))
    compared = comparisons(gatherer, both, "Precision@1").tables[0].cells
    assert set(compared["judged"]) == {1.0}
    [difference, p] = compared["value"].tolist()
    assert -100 <= difference <= 100
    assert 0 < p <= 1
    people = replace(gatherer, source=parse_label_source("human"))
    assert set(comparisons(people, both, "Precision@1").tables[0].cells["judged"]) == {0.0}
    with pytest.raises(BadInputError, match="at least two systems"):
        comparisons(gatherer, ALL, "Precision@1")


def test_what_people_did_not_judge_whole_corrects_nothing(gatherer: Gatherer) -> None:
    source = Gatherer(gatherer.workspace, gatherer.judgments, parse_label_source("random"))
    with pytest.raises(BadInputError, match="--preset random-questions"):
        correction(source, ALL, ["Precision@2"])


def test_corrected_differences_are_tested_on_what_both_were_judged_for() -> None:
    random = np.random.default_rng(3)
    truth = {name: (random.random(400) < share).astype(float) for name, share in (("good", 0.7), ("bad", 0.3))}
    detector = {name: np.where(random.random(400) < 0.9, v, 1 - v) for name, v in truth.items()}
    people = {name: np.where(np.arange(400) < 80, v, nan) for name, v in truth.items()}
    people["bad"][:10] = nan
    [found] = corrected_comparisons(people, detector, "holm")
    assert found.n == 70
    assert found.low < 0.4 < found.high
    assert found.significant


TESTS = {"berds-arguana-test": 750, "berds-kialo-test": 774, "berds-opinionqa-test": 882}
WIKIPEDIA = {"wikipedia": 21_015_324}


def test_published_cells_are_next_to_measured_ones_or_below() -> None:
    ours = pd.DataFrame([{"corpus": "wikipedia", "pipeline": "bm25", "value": 9.0}])
    theirs = pd.DataFrame(
        [("wikipedia", "bm25", 8.2), ("sphere", "bm25", 24.7)], columns=["corpus", "pipeline", "value"]
    )
    cells = with_published(ours, theirs, ("corpus", "pipeline"), Sizes(TESTS, WIKIPEDIA))
    assert cells["published"].tolist() == [8.2, 24.7]
    assert cells["value"].tolist()[0] == 9
    assert np.isnan(cells["value"].tolist()[1])


@pytest.mark.parametrize(
    ("questions", "passages", "shown"),
    [
        (TESTS, {"wikipedia": 4}, [24.7]),  # another corpus of this name: nothing of the paper's Wikipedia
        ({**TESTS, "mine": 9}, WIKIPEDIA, []),  # a figure of three data sets together, and four were measured
        ({**TESTS, "berds-kialo-test": 258}, WIKIPEDIA, []),
    ],
)
def test_figures_of_other_questions_or_passages_are_not_shown(
    questions: dict[str, int], passages: dict[str, int], shown: list[float]
) -> None:
    ours = pd.DataFrame([{"corpus": "wikipedia", "pipeline": "bm25", "value": 9.0}])
    theirs = pd.DataFrame(
        [("wikipedia", "bm25", 8.2), ("sphere", "bm25", 24.7)], columns=["corpus", "pipeline", "value"]
    )
    cells = with_published(ours, theirs, ("corpus", "pipeline"), Sizes(questions, passages))
    assert cells["published"].dropna().tolist() == shown


def test_the_papers_reranking_is_tuned_on_its_dev_splits() -> None:
    dev = {"arguana": 250, "kialo-dev": 258, "berds-opinionqa-dev": 294}
    assert is_papers_reranking("WhereIsAI/UAE-Large-V1", dev)
    assert not is_papers_reranking("static", dev)
    for other in (
        {},
        {"mine": 250},
        {**dev, "arguana": 249},
        {**dev, "mine": 10},
        {"arguana": 250, "kialo": 258},
        TESTS,
    ):
        assert not is_papers_reranking("WhereIsAI/UAE-Large-V1", other)


def test_dev_questions_named_like_the_data_set_get_no_figures_of_the_test_split() -> None:
    keys = ("corpus", "pipeline", "dataset")
    theirs = pd.DataFrame(
        [("wikipedia", "bm25", "kialo", 10.85), ("wikipedia", "contriever", "kialo", 15.63),
         ("wikipedia", "bm25", "arguana", 10.8), ("wikipedia", "bm25", "average", 8.2)],
        columns=[*keys, "value"],
    )  # fmt: skip
    ours = pd.DataFrame([("wikipedia", "bm25", d, 9.0) for d in ("kialo", "average")], columns=[*keys, "value"])
    dev = with_published(ours, theirs, keys, Sizes({"kialo": 258}, WIKIPEDIA)).dropna(subset="published")
    assert dev[[*keys, "published"]].to_numpy().tolist() == [["wikipedia", "bm25", "arguana", 10.8]]
    test = with_published(ours, theirs, keys, Sizes({"kialo": 774}, WIKIPEDIA)).dropna(subset="published")
    assert test.set_index(["pipeline", "dataset"])["published"].to_dict() == {
        ("bm25", "kialo"): 10.85, ("contriever", "kialo"): 15.63, ("bm25", "arguana"): 10.8
    }  # fmt: skip


def test_figures_without_a_measured_value_are_in_the_column_of_the_data_set(gatherer: Gatherer) -> None:
    questions = [Question(str(n), "", "do zoos protect animals", QUESTIONS[0].perspectives) for n in range(774)]
    save_dataset(gatherer.workspace, "berds-kialo-test", questions)
    cells = base(gatherer, Selection(("berds-kialo-test",), ("web",), ("bm25",)), ks=(5,)).tables[0].cells
    theirs = cells[(cells["corpus"] == "sphere") & (cells["pipeline"] == "bm25")]
    assert {"berds-kialo-test", "arguana"} <= set(theirs["dataset"])
    assert "kialo" not in set(theirs["dataset"])
    assert cells[cells["corpus"] == "web"]["published"].isna().all()


def test_an_empty_workspace_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no data set to study"):
        checked(Workspace.create(tmp_path / "empty"), Selection((), (), ()))


def test_nothing_judged_is_no_number_anywhere(gatherer: Gatherer) -> None:
    nobody = Gatherer(gatherer.workspace, gatherer.judgments, parse_label_source("human"))
    assert np.isnan(value(coverage(nobody, ALL), figure="% of questions", corpus="web"))
    assert np.isnan(value(union(nobody, ALL), corpus="web", dataset="made"))
    cells = leaning(nobody, ALL, k=2).tables[0].cells
    assert cells["n"].tolist() == [0, 0, 0, 0]
    assert cells["value"].isna().all()
    assert np.isnan(value(following(nobody, ALL, k=1), asked="supporting"))


def test_other_versions_and_other_questions_are_run_again(gatherer: Gatherer) -> None:
    base(gatherer, ALL, ks=(2,))
    [first] = list_runs(gatherer.workspace)
    save_dataset(
        gatherer.workspace,
        "made",
        [QUESTIONS[0], *(Question(q.id, "", "bread", q.perspectives) for q in QUESTIONS[1:])],
    )
    base(gatherer, ALL, ks=(2,))
    [second] = list_runs(gatherer.workspace)
    assert first.versions["questions"] != second.versions["questions"]


def test_an_imported_run_is_studied_as_it_is(gatherer: Gatherer) -> None:
    base(gatherer, ALL, ks=(2,))
    run = load_run(gatherer.workspace, list_runs(gatherer.workspace)[0].name)
    save_run(
        gatherer.workspace, dataset="made", corpus="web", corpus_hash=run.manifest.corpus_hash, pipeline="imported(mine)",
        question_ids=run.question_ids, ids=run.ids[:, :1], scores=run.scores[:, :1], milliseconds_per_question=0,
        versions={IMPORTED: "mine.run"},
    )  # fmt: skip
    result = base(gatherer, checked(gatherer.workspace, Selection((), (), ())), ks=(1,))
    assert value(result, pipeline="imported(mine)", measure="MRecall@1") == 100  # one passage supports one side: m > k
