"""D-MERIT's tables on made and on real data: layout, what stands beside what, and what is left out."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.evidence_sets import read_evidence_set
from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import save_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.partial.ranked_sets import RankedSet, from_evidence, from_runs
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.dmerit.study import dmerit_study
from berdseye.evaluation.studies.dmerit.systems import HERE, PAPER, PUBLISHED_SYSTEMS
from berdseye.evaluation.studies.result import load_result, save_result
from tests.evaluation.small_workspace import build

TOPICS = ("trams", "zoos", "soup", "chess", "rivers", "violins")
VERBS = ("carry people", "cost money", "please children", "need care", "are old", "make noise", "come from far")


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> RankedSet:
    """Six queries with seven relevant passages each, searched by four real pipelines."""
    folder = tmp_path_factory.mktemp("evidence")
    passages = [
        {
            "id": f"{t}-{n}",
            "text": f"{t if n % 3 else t[:-1]} {verb} {'and so on ' * n}".strip(),
            "popularity": (n * 7) % 5,
        }
        for t in TOPICS
        for n, verb in enumerate(VERBS)
    ]
    queries = [{"id": t, "query": f"what about {t}", "relevant": [f"{t}-{n}" for n in range(7)]} for t in TOPICS]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(p) + "\n" for p in passages), encoding="utf-8")
    (folder / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in queries), encoding="utf-8")
    workspace = Workspace.create(folder / "workspace")
    pipelines = ["bm25", "dense(static)", "dense(static) >> mmr(0.5)", "bm25 >> mmr(0.5)"]
    found = from_evidence(workspace, read_evidence_set(folder), pipelines, 20)
    again = from_evidence(workspace, read_evidence_set(folder), pipelines, 20)
    assert np.array_equal(found.matrices.ranks, again.matrices.ranks)
    assert len(list((workspace.studies_folder / ".rankings").glob("*.npy"))) == 4
    return found


def test_every_table_and_figure_is_made_and_kept(ranked: RankedSet, workspace: Workspace) -> None:
    result = dmerit_study(ranked, trials=20)
    assert [t.name for t in result.tables] == [
        "dmerit-table-5", "dmerit-table-3", "dmerit-table-9", "dmerit-table-4", "dmerit-table-8", "dmerit-table-7",
        "dmerit-annotation-curve", "dmerit-coverage",
    ]  # fmt: skip
    assert {"dmerit-table-5", "dmerit-figure-2", "dmerit-figure-3", "dmerit-figure-4", "dmerit-figure-5", "dmerit-figure-6",
            "dmerit-figure-8-k5", "dmerit-figure-9-k5"} <= set(result.charts)  # fmt: skip
    assert any("k = 50, 100 is left out: the lists hold 20" in note for note in result.notes)
    stored = load_result(workspace, save_result(workspace, result).name)
    assert len(stored.tables) == 8
    for table in stored.tables:
        assert not table.laid_out().empty


def test_published_figures_are_separate_on_other_data(ranked: RankedSet) -> None:
    for table in dmerit_study(ranked, trials=5).tables:
        cells = table.cells
        if "set" in cells:
            ours, paper = cells[cells["set"] == HERE], cells[cells["set"] == PAPER]
            assert ours["published"].isna().all()
            assert paper["value"].isna().all()
            assert paper["published"].notna().all()


def test_published_figures_are_next_to_measured_ones_on_the_release(ranked: RankedSet) -> None:
    matrices = replace(ranked.matrices, ranks=ranked.matrices.ranks[[0, 1, 2, 3] * 3])
    named = tuple(sorted(PUBLISHED_SYSTEMS))
    same = RankedSet(
        "d-merit", type(matrices)(named, *[getattr(matrices, f) for f in ("queries", "relevant", "ranks", "exists", "depth")]),
        ranked.words, ranked.popularity, "qrels", released=True,
    )  # fmt: skip
    tables = {t.name: t.cells for t in dmerit_study(same, trials=5).tables}
    nine = tables["dmerit-table-9"]
    assert set(nine["set"]) == {HERE}
    longest = nine[(nine["k"] == 5) & (nine["selection"] == "longest") & (nine["figure"] == "tau-similarity")]
    assert longest["published"].item() == 0.462
    five = tables["dmerit-table-5"]
    bm25 = five[(five["system"] == "bm25") & (five["measure"] == "Recall@k") & (five["k"] == "20")]
    assert bm25["published"].item() == 17.46
    eight = tables["dmerit-table-8"]
    bucket = eight[(eight["k"] == 5) & (eight["bucket"] == "[0.01, 0.05)") & (eight["figure"] == "partial tau")]
    assert bucket["published"].item() == -0.583
    assert {r["system"] for r in published("dmerit_systems").to_dict("records")} == PUBLISHED_SYSTEMS


def test_selections_without_their_data_are_left_out_and_reported(ranked: RankedSet) -> None:
    bare = RankedSet("files", ranked.matrices, None, None, "qrels")
    result = dmerit_study(bare, ["selection"], trials=5)
    nine = next(t for t in result.tables if t.name == "dmerit-table-9").cells
    assert set(nine[nine["set"] == HERE]["selection"]) == {"random", "system-based"}
    assert sum("'Most popular' is left out" in note or "'Longest' and" in note for note in result.notes) == 2


def test_what_was_known_before_is_not_counted_as_new(ranked: RankedSet) -> None:
    known = {t: tuple(f"{t}-{n}" for n in range(6)) for t in TOPICS}
    tables = [dmerit_study(ranked, ["coverage"], known=k).tables[0].cells for k in (None, known)]
    everything, new = (
        float(t[t["figure"].str.startswith("relevant passages") & (t["basis"] == "measured")]["value"].iloc[0])
        for t in tables
    )
    assert new <= 6 < everything  # one of seven passages a query is new, of six queries


def test_stored_runs_with_labels_are_a_set_too(tmp_path: Path) -> None:
    workspace, run = build(tmp_path / "made")
    turned = run.ids.copy()
    turned[0] = turned[0, ::-1]
    for name, ids in (("bm25(k1=2)", turned), ("dense(static)", run.ids)):
        save_run(
            workspace, dataset="made", corpus="web", corpus_hash=run.manifest.corpus_hash, pipeline=name,
            question_ids=run.question_ids, ids=ids, scores=run.scores, milliseconds_per_question=1.0,
        )  # fmt: skip
    judgments = Judgments.open(workspace.judgments_url)
    found = from_runs(workspace, judgments, "made", "web", parse_label_source("embedded"))
    assert set(found.matrices.systems) == {"bm25", "bm25(k1=2)", "dense(static)"}
    assert found.judged == 1.0
    assert found.words is not None
    assert (found.words[found.matrices.exists] > 5).all()
    with pytest.raises(BadInputError, match="'made' over 'none' has 0"):
        from_runs(workspace, judgments, "made", "none", parse_label_source("embedded"))


def test_a_ranking_needs_systems(ranked: RankedSet) -> None:
    first = ranked.matrices
    two = RankedSet("two", replace(first, systems=first.systems[:2], ranks=first.ranks[:2]), None, None, "qrels")
    with pytest.raises(BadInputError, match="The set has 2 systems"):
        dmerit_study(two)
    assert dmerit_study(two, ["coverage"]).tables
