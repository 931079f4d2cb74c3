"""Which questions count: the same ones for every run, however a run is scored."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import berdseye
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cli import cli
from berdseye.data.corpora import open_corpus
from berdseye.data.runs.stored import Run, load_run, save_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.qrels import Qrels, pooled_qrels
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.counted import counted_questions
from berdseye.evaluation.scores.scoring import score_run, scores_of
from tests.evaluation.small_workspace import CORPUS, DATASET, QUESTIONS, TEXTS, judge, passages, put_gold

ALL = "MRecall@2 Precision@2 Coverage@2 ToCover@2 Recall@2 nDCG@2 AP@2 Rprec alpha_nDCG@2 ERR_IA@2 StRecall@2"
GOLD = {(0, 0, 0): True, (0, 1, 1): True, (1, 0, 3): False}


def store(workspace: Workspace, pipeline: str, ranked: list[list[int]]) -> Run:
    """A stored run of passages by their places in TEXTS."""
    by_text = {p.text: p.id for p in passages(workspace).values()}
    ids = np.full((len(ranked), max(map(len, ranked))), -1, dtype=np.int64)
    scores = np.zeros(ids.shape, dtype=np.float32)
    for row, found in enumerate(ranked):
        ids[row, : len(found)] = [by_text[TEXTS[n]] for n in found]
        scores[row, : len(found)] = range(len(found), 0, -1)
    saved = save_run(
        workspace, dataset=DATASET, corpus=CORPUS, corpus_hash=open_corpus(workspace, CORPUS).manifest.hash,
        pipeline=pipeline, question_ids=[q.id for q in QUESTIONS], ids=ids, scores=scores, milliseconds_per_question=1.0,
    )  # fmt: skip
    return load_run(workspace, saved.name)


def test_retrieving_what_nobody_judged_is_no_way_out_of_a_question(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    put_gold(small, GOLD)
    evasive = store(small, "evasive", [[0, 1], [2], []])  # of the second question it holds what nobody judged
    source, measures = parse_label_source("gold"), parse_measures("Precision@2")
    for one in (run, evasive):
        [score] = score_run(small, judgments, one, source, measures, min_judged=0)
        # Both passages of the first question support something; of the second question none does; the third has nothing.
        assert (score.estimate.value, score.estimate.n) == (pytest.approx(0.5), 2), one.manifest.pipeline


@pytest.mark.usefixtures("run")
def test_the_questions_are_those_that_the_pool_knows_something_of(small: Workspace, judgments: Judgments) -> None:
    put_gold(small, GOLD)
    for name, expected in (("gold", [1, 1, 0]), ("human", [0, 0, 0]), ("random", [1, 1, 0]), ("human>random", [1, 1, 0]),
                           ("corrected(random)", [1, 1, 0]), ("derived", [0, 0, 0])):  # fmt: skip
        source = parse_label_source(name)
        found = counted_questions(small, judgments, DATASET, CORPUS, source)
        assert found.tolist() == [bool(x) for x in expected], name
        pool = pooled_qrels(small, judgments, DATASET, CORPUS, source.plain)
        assert pool.counted(source).tolist() == found.tolist(), name


LABELS = st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=24, max_size=24)
RANKING = st.permutations(range(6)).flatmap(lambda order: st.integers(0, 6).map(lambda n: list(order[:n])))


@settings(deadline=None)
@given(LABELS, st.lists(RANKING, min_size=2, max_size=2), st.integers(0, 6), st.integers(0, 1))
def test_an_unjudged_passage_never_raises_a_measure_and_n_is_of_no_run(
    labels: list[float], ranked: list[list[int]], place: int, row: int
) -> None:
    known = np.array(labels).reshape(2, 6, 2)
    # Passages 0 to 5 may have labels; 6 has none.
    qrels = Qrels(["a", "b"], [np.arange(7)] * 2, [np.vstack([block, np.full((1, 2), np.nan)]) for block in known])
    lower = [list(one) for one in ranked]
    lower[row].insert(min(place, len(lower[row])), 6)

    def scored(rankings: list[list[int]]) -> dict[str, Any]:
        ids = np.full((2, 8), -1, dtype=np.int64)
        for held, found in zip(ids, rankings, strict=True):
            held[: len(found)] = found
        return {
            s.measure: s
            for s in scores_of(
                parse_measures(ALL), qrels.support(ids), qrels.pool(parse_label_source("gold")), min_judged=0.0,
                dataset="d", corpus="c", pipeline="p", labels="gold", detector_version="",
            )
        }  # fmt: skip

    before, after = scored(ranked), scored(lower)
    for name, score in before.items():
        assert after[name].estimate.n == score.estimate.n
        if score.estimate.n:
            better = score.estimate.value - after[name].estimate.value
            assert (-better if score.unit == "passages" else better) >= -1e-12, name


def by_file(workspace: Workspace, path: Path, *options: str) -> dict[str, dict[str, Any]]:
    command = ["evaluate", "--run", str(path), "--measures", ALL, "--min-judged", "0", "--json", *options]
    result = CliRunner().invoke(cli, [*command, "--workspace", str(workspace.folder)])
    assert result.exit_code == 0, result.output
    found: dict[str, dict[str, Any]] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_every_path_gives_one_value(
    small: Workspace, run: Run, judgments: Judgments, tmp_path: Path, seed: int
) -> None:
    random = np.random.default_rng(seed)
    pairs = [(q, p, n) for q, p in ((0, 0), (0, 1), (1, 0)) for n in range(4)]
    put_gold(small, {pair: bool(random.random() < 0.5) for pair in pairs if random.random() < 0.5})
    others = [
        store(small, f"made{n}", [random.permutation(4)[: random.integers(1, 4)].tolist() for _ in range(3)])
        for n in range(2)
    ]
    ns = set()
    for one in (run, *others):
        name, files = (
            one.manifest.name,
            {form: tmp_path / f"{one.manifest.pipeline}.{form}" for form in ("run", "jsonl")},
        )
        invoked = [
            CliRunner().invoke(cli, ["runs", *words, "--workspace", str(small.folder)])
            for words in (
                ["export", name, str(files["run"])],
                ["export", name, str(files["jsonl"]), "--format", "berds", "--labels", "gold"],
                ["labels", DATASET, CORPUS, str(tmp_path / "x.qrels"), "--labels", "gold"],
            )
        ]
        assert [r.exit_code for r in invoked] == [0, 0, 0], [r.output for r in invoked]
        scored = score_run(small, judgments, one, parse_label_source("gold"), parse_measures(ALL), min_judged=0.0)
        ns.add(tuple(s.estimate.n for s in scored))
        api = berdseye.open(small.folder).measures(one.manifest.name, ALL, "gold", min_judged=0.0)
        here = by_file(small, files["run"], "--dataset", DATASET, "--corpus", CORPUS, "--labels", "gold")
        against = by_file(small, files["run"], "--dataset", DATASET, "--qrels", str(tmp_path / "x.qrels"))
        carried = by_file_of_top(small, files["jsonl"])
        for row, s in enumerate(scored):
            expected = [None if np.isnan(x) else pytest.approx(x) for x in (s.estimate.value, s.estimate.low)]
            assert [api["value"][row] if api["n"][row] else None, api["n"][row]] == [expected[0], s.estimate.n]
            assert [here[s.measure][x] for x in ("value", "low")] == expected
            assert [against[s.measure][x] for x in ("value", "low")] == expected
            assert here[s.measure]["n"] == against[s.measure]["n"] == s.estimate.n
            if s.measure in carried:
                assert [carried[s.measure][x] for x in ("value", "low")] == expected
    assert len(ns) == 1


def by_file_of_top(workspace: Workspace, path: Path) -> dict[str, dict[str, Any]]:
    """The measures that need nothing beyond the file."""
    words = ["evaluate", "--run", str(path), "--measures", "MRecall@2 Precision@2 Coverage@2 ToCover@2", "--json"]
    result = CliRunner().invoke(cli, [*words, "--min-judged", "0", "--workspace", str(workspace.folder)])
    assert result.exit_code == 0, result.output
    found: dict[str, dict[str, Any]] = json.loads(result.stdout)
    return found


def test_a_lone_run_cannot_leave_out_a_question_by_retrieving_unjudged_text(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    """People judged only passage 0 for the second question, which the run does not rank: the question counts as 0, n is 2."""
    ana = judgments.sign_in("Ana")
    judge(judgments, ana, 0, 0, 0, "supports")
    judge(judgments, ana, 1, 0, 0, "does not support")
    source, measures = parse_label_source("human"), parse_measures("Precision@1")
    [zero] = score_run(small, judgments, run, source, measures, min_judged=0)
    assert (zero.estimate.value, zero.estimate.n, zero.judged) == (pytest.approx(0.5), 2, pytest.approx(1 / 3))
    [left_out] = score_run(small, judgments, run, source, measures, min_judged=0, unjudged="left-out")
    assert (left_out.estimate.value, left_out.estimate.n, left_out.judged) == (1.0, 1, pytest.approx(1 / 2))
