"""Reasons of holes from a workspace with two runs, people's words and a flag, worked out by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import Run, load_run, run_files, save_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.failures.charts import PICKED, hole_chart
from berdseye.evaluation.failures.hole_map import LENGTHS, hole_map
from berdseye.evaluation.failures.reasons import REASONS, others_of, pool_ranks, reason_counts, reasons_of_holes
from berdseye.evaluation.labels.labelled_runs import labelled_run
from berdseye.evaluation.labels.sources import parse_label_source
from tests.evaluation.small_workspace import CORPUS, DATASET, QUESTIONS, judge, key, put_gold

# Zoos: [0, 1, 2] ranked; cars: [3, 2]. Passage 2 supports "Zoos harm." only at rank 3; nothing supports "Zoos protect.".
GOLD = {
    (0, 0, 0): False, (0, 0, 1): False, (0, 0, 2): False, (0, 1, 0): False, (0, 1, 1): False, (0, 1, 2): True,
    (1, 0, 3): False, (1, 0, 2): False,
}  # fmt: skip


def other_run(workspace: Workspace, run: Run, ranked: list[list[int]], *, pipeline: str = "other") -> Run:
    """The same questions ranked otherwise; numbers are places in the first ranking's passages."""
    by_number = {0: run.ids[0, 0], 1: run.ids[0, 1], 2: run.ids[0, 2], 3: run.ids[1, 0]}
    ids = np.full((3, 3), -1, dtype=np.int64)
    for row, held in enumerate(ranked):
        ids[row, : len(held)] = [by_number[n] for n in held]
    saved = save_run(
        workspace,
        dataset=DATASET,
        corpus=CORPUS,
        corpus_hash=run.manifest.corpus_hash,
        pipeline=pipeline,
        question_ids=[q.id for q in QUESTIONS],
        ids=ids,
        scores=np.zeros((3, 3), dtype=np.float32),
        milliseconds_per_question=1.0,
    )
    return load_run(workspace, saved.name)


def holes(workspace: Workspace, judgments: Judgments, run: Run, *others: Run, source: str = "gold") -> pd.DataFrame:
    by = parse_label_source(source)
    labelled = labelled_run(workspace, judgments, run, by, 100)
    return reasons_of_holes(judgments, DATASET, labelled, pool_ranks(workspace, judgments, others, by), 2)


def reasons(workspace: Workspace, judgments: Judgments, run: Run, *others: Run, source: str = "gold") -> list[str]:
    found = holes(workspace, judgments, run, *others, source=source)
    return [f"{row.question_id} {row.place}: {row.reason}" for row in found.itertuples()]


def test_hole_map_by_hand(small: Workspace, run: Run, judgments: Judgments) -> None:
    put_gold(small, GOLD)
    found = hole_map(labelled_run(small, judgments, run, parse_label_source("gold"), 3), 2)
    expected = pd.DataFrame(
        {
            "row": [0, 0, 1],
            "question_id": ["zoos", "zoos", "cars"],
            "place": [1, 2, 1],
            "stance": ["supporting", "opposing", "none"],
            "perspectives": [2, 2, 1],
            "length": [LENGTHS[0]] * 3,
            "rank": [np.nan, 3.0, np.nan],
            "hole": [True, True, True],
            "judged": [1.0, 1.0, 1.0],
        }
    )
    pd.testing.assert_frame_equal(found[expected.columns], expected, check_dtype=False)


def test_ranks_and_pool(small: Workspace, run: Run, judgments: Judgments) -> None:
    put_gold(small, GOLD | {(1, 0, 1): True})
    assert reasons(small, judgments, run) == ["zoos 1: not in the pool", "zoos 2: below k", "cars 1: not in the pool"]
    other = other_run(small, run, [[0, 1], [3, 2, 1], []])
    assert reasons(small, judgments, run, other) == [
        "zoos 1: not in the pool", "zoos 2: below k", "cars 1: another pipeline",
    ]  # fmt: skip
    found = holes(small, judgments, run, other)
    np.testing.assert_array_equal(found["elsewhere"], [np.nan, np.nan, 3])
    assert found["found_by"].tolist() == ["", "", "other"]
    elsewhere = replace(other, manifest=replace(other.manifest, corpus="encyclopedia"))
    with pytest.raises(BadInputError, match="several data sets or corpora"):
        reasons(small, judgments, run, other, elsewhere)


def test_peoples_words(small: Workspace, run: Run, judgments: Judgments) -> None:
    put_gold(small, GOLD)
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    judge(judgments, ana, 0, 0, 1, "supports")
    assert reasons(small, judgments, run)[0] == "zoos 1: detector against people"
    judge(judgments, bo, 0, 0, 1, "does not support")
    assert reasons(small, judgments, run)[0] == "zoos 1: disputed"
    adjudicate(judgments, bo, key(0, 0, 1), "does not support")
    assert reasons(small, judgments, run)[0] == "zoos 1: not in the pool"
    adjudicate(judgments, bo, key(0, 0, 1), "supports")
    assert reasons(small, judgments, run)[0] == "zoos 1: detector against people"
    # What people say beyond the top k changes nothing there.
    judge(judgments, ana, 0, 1, 2, "does not support")
    assert reasons(small, judgments, run)[1] == "zoos 2: below k"
    judgments.flag(ana, key(0, 0, 1), source="annotate")
    assert reasons(small, judgments, run)[0] == "zoos 1: flagged"


def test_without_labels_nobody_can_tell(small: Workspace, run: Run, judgments: Judgments) -> None:
    assert reasons(small, judgments, run, source="human") == [
        "zoos 1: unjudged",
        "zoos 2: unjudged",
        "cars 1: unjudged",
    ]


def test_counts_have_a_row_for_every_run_those_without_a_hole_too() -> None:
    found = pd.DataFrame({"corpus": ["web", "web", "web"], "reason": ["below k", "flagged", "below k"]})
    counts = reason_counts(found, ("corpus",), [("pages",), ("web",)])
    assert counts.columns.tolist() == ["corpus", *REASONS, "holes"]
    assert counts[["corpus", "flagged", "below k", "holes"]].to_numpy().tolist() == [
        ["pages", 0, 0, 0],
        ["web", 1, 2, 3],
    ]
    assert reason_counts(found.iloc[:0], ("corpus",), [("web",)])["holes"].tolist() == [0]


def test_runs_that_fit_no_more_are_named_and_left_out(small: Workspace, run: Run) -> None:
    other_run(small, run, [[0, 1], [3, 2, 1], []])
    stale = small.runs_folder / f"{other_run(small, run, [[0], [3], []], pipeline='older').manifest.name}.json"
    stale.write_text(stale.read_text(encoding="utf-8").replace(run.manifest.corpus_hash, "other"), encoding="utf-8")
    run_files(small, stale.stem).seal()
    fitting, left_out = others_of(small, run.manifest)
    assert [other.manifest.pipeline for other in fitting] == ["other"]
    assert left_out == [stale.stem]


@pytest.mark.parametrize("copies", [1, 30])
def test_corpora_are_next_to_each_other_in_one_map(
    small: Workspace, run: Run, judgments: Judgments, copies: int
) -> None:
    """Few questions a line each, many from above: either way every perspective of every corpus has a cell of its own."""
    put_gold(small, GOLD)
    one = hole_map(labelled_run(small, judgments, run, parse_label_source("gold"), 3), 2)
    many = pd.concat([one.assign(row=one["row"] + 3 * n) for n in range(copies)])
    both = pd.concat([many.assign(corpus=corpus) for corpus in ("web", "pages")], ignore_index=True)
    drawn = hole_chart(both, 2).to_dict()
    [cells] = drawn["datasets"].values()
    x, y = ("column", "line") if copies == 1 else ("x", "y")
    assert len({(cell[x], cell[y]) for cell in cells}) == len(cells) == 2 * len(many)
    [picked] = [param for param in drawn["params"] if param["name"] == PICKED]
    assert picked["select"]["fields"] == ["row", "place", "corpus"]
