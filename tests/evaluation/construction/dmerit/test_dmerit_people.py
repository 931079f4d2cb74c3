"""What people make of a D-MERIT: they verify decisions, label as experts, and judge what a pool of systems found."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import save_run
from berdseye.evaluation.construction.checking import begin_check
from berdseye.evaluation.construction.dmerit.audit import audited, begin_audit, pool_of
from berdseye.evaluation.construction.dmerit.statistics import figures
from berdseye.evaluation.construction.dmerit.verification import (
    Verified,
    begin_verification,
    verification_figures,
    verification_items,
    verified,
)
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.stored import Construction
from berdseye.evaluation.partial.pool_coverage import logarithmic_fit


@pytest.fixture
def judgments(tmp_path: Path) -> Iterator[Judgments]:
    opened = Judgments.open(f"sqlite:///{tmp_path / 'judgments.db'}")
    yield opened
    opened.engine.dispose()


def _judge(judgments: Judgments, batch: Batch, person: str, verdict: Callable[[PairRecord], str | None]) -> None:
    """Judge all pairs of a batch; None skips a pair."""
    queue, annotator = BatchQueue(judgments, batch), judgments.sign_in(person)
    while key := queue.next(annotator):
        said = verdict(queue.record(key))
        if said is None:
            queue.skip(annotator, key)
        else:
            queue.give(annotator, key, said)


def _query(page: int, members: int, passages: Sequence[Sequence[int]]) -> Row:
    """A query whose passages confirm the given pages."""
    evidence = [
        {"passage": str(n), "members": [{"page": m, "title": str(m)} for m in confirmed]}
        for n, confirmed in enumerate(passages, start=1)
    ]
    return Row(str(page), {"members": members, "evidence": evidence})


def test_statistics_are_those_of_the_paper_s_section() -> None:
    rows = [_query(1, 4, [[1], [1, 2], [2]]), _query(2, 100, [[1]] * 7), _query(3, 101, [[9]] * 5)]
    found = {figure.name: (figure.ours, figure.printed) for figure in figures(rows)}
    assert found["queries"] == (3, 1196)
    assert found["passages of evidence"] == (15, 60333)
    assert found["evidence of a query, mean"] == (5, 50.44)
    assert found["evidence of a query, median"] == (5, 22)
    assert (found["evidence of a query, fewest"][0], found["evidence of a query, most"][0]) == (3, 7)
    assert found["members of a list, mean"] == (pytest.approx(205 / 3), 23.71)
    own = (
        3 + 1
    )  # passages 1 and 2 of the first query confirm pages 1 and 2, and passage 1 of the second confirms page 1
    assert found["evidence from other articles than the member's (%)"] == (
        pytest.approx(100 * (1 - (own - 1) / 16)),
        61.8,
    )
    assert found["evidence of a member, mean"] == (pytest.approx(16 / 205), 2)
    assert found["queries with 1-10 members"] == (1, 558)
    assert found["their evidence, mean (1-10)"] == (3, 25.5)
    assert (found["queries with 51-100 members"], found["queries with 100+ members"]) == ((1, 77), (1, 43))
    assert found["their evidence, mean (100+)"] == (5, 281.2)
    assert figures([])[2].ours is None


def test_decisions_to_verify_are_balanced_and_drawn_by_the_seed(done: Construction) -> None:
    items = verification_items(done, 40, 1)
    assert [item.decision for item in items].count(True) == 20 == len(items) // 2
    assert items == verification_items(done, 40, 1) != verification_items(done, 40, 2)
    kept = {row.id for row in done.kept("identified")}
    rows = {
        (r.fields["member"], r.fields["hierarchy"], r.fields["article"]): r.id in kept for r in done.rows("identified")
    }
    for item in items:
        member, hierarchy = item.record.perspective.split(" belongs to: ")
        assert rows[member, hierarchy, item.record.title] == item.decision
    every = verification_items(done, 10**6)
    assert len(every) == 2 * len(kept), "the rarer decision is that for evidence"


def test_people_agree_with_a_share_of_the_decisions(done: Construction, judgments: Judgments) -> None:
    batch = begin_verification(judgments, done, "sample", size=40, made_by="ada")
    assert (batch.task, batch.recipe["construction"]) == ("verify", "made")
    decisions = {item.record.key: item.decision for item in verification_items(done, 40)}
    yes = [key for key, decision in decisions.items() if decision]
    no = [key for key, decision in decisions.items() if not decision]
    wrong, unsure = {*yes[:3], no[0]}, {yes[5], no[5]}

    def verdict(record: PairRecord) -> str:
        if record.key in unsure:
            return "unsure"
        return "supports" if decisions[record.key] != (record.key in wrong) else "does not support"

    assert verified(judgments, batch) == Verified(40, 0, 0, 0)
    assert verified(judgments, batch).agreed is None
    _judge(judgments, batch, "Ada", verdict)
    outcome = verified(judgments, batch)
    assert outcome == Verified(40, 38, 3, 1)
    assert outcome.agreed == pytest.approx(100 * 34 / 38)
    assert [(f.ours, f.printed) for f in verification_figures(outcome)] == [
        (38, 1300),
        (pytest.approx(100 * 34 / 38), 84.7),
        (3, 141),
        (1, 57),
    ]


def test_experts_label_without_the_decision(done: Construction, judgments: Judgments) -> None:
    batch = begin_check(done, judgments, "experts", size=20)
    assert (batch.task, batch.per_pair) == ("check", 2)
    with pytest.raises(BadInputError, match="not verify"):
        verified(judgments, batch)
    _judge(judgments, batch, "Ada", lambda record: "yes" if "is one of the" in record.passage else "no")


def _run(done: Construction, pipeline: str, lists: dict[str, list[str]], k: int) -> None:
    """Store a run of the data set, whose lists are ids of the dump's pages."""
    corpus = open_corpus(done.workspace, "lists")
    ids = {passage.source_id: passage.id for batch in corpus.batches() for passage in batch}
    questions = load_dataset(done.workspace, "lists")
    ranked = np.full((len(questions), k), -1, dtype=np.int64)
    for place, question in enumerate(questions):
        found = [ids[page] for page in lists[question.id]]
        ranked[place, : len(found)] = found
    save_run(
        done.workspace,
        dataset="lists",
        corpus="lists",
        corpus_hash=corpus.manifest.hash,
        pipeline=pipeline,
        question_ids=[question.id for question in questions],
        ids=ranked,
        scores=np.tile(np.arange(k, 0, -1, dtype=np.float32), (len(questions), 1)),
        milliseconds_per_question=1.0,
    )


def test_one_audit_gives_both_figures_of_the_paper(done: Construction, judgments: Judgments) -> None:
    rows = {row.id: [p["passage"] for p in row.fields["evidence"]] for row in done.kept("natural")}
    evidence = {page for pages in rows.values() for page in pages}
    corpus = open_corpus(done.workspace, "lists")
    others = [p.source_id for batch in corpus.batches() for p in batch if p.source_id not in evidence][:4]
    # Each system finds evidence of its own, one at rank 1 and the other at rank 2, and two passages that are none.
    _run(done, "bm25", {query: [pages[0], others[0], others[1]] for query, pages in rows.items()}, 3)
    _run(done, "qld", {query: [others[0], pages[1], others[2]] for query, pages in rows.items()}, 3)
    with pytest.raises(BadInputError, match="at least 2 runs of 4 passages"):
        begin_audit(judgments, done, "lists", "deep", k=4)
    batch = begin_audit(judgments, done, "lists", "audit", k=3, queries=4, seed=3)
    audited_queries = set(pool_of(done, "lists", k=3, queries=4, seed=3).queries)
    assert len(audited_queries) == 4 < len(rows)
    records = [record.question_id for record in judgments.pair_records().values()]
    assert set(records) == {f"{query}/{other}" for query in audited_queries for other in others[:3]}
    assert len(records) == 12, "passages that are evidence already are not judged"
    new = f"{min(audited_queries)}/{others[0]}"
    _judge(
        judgments,
        batch,
        "Ada",
        lambda record: (
            "yes" if record.question_id == new else "unsure" if record.question_id.endswith(f"/{others[1]}") else "no"
        ),
    )
    audit = audited(done.workspace, judgments, batch)
    assert {query: ids for query, ids in audit.new.items() if ids} == {min(audited_queries): (others[0],)}
    assert audit.undecided == 4
    known = sum(len(rows[query]) for query in audited_queries)
    found = {figure.name: figure.ours for figure in audit.figures}
    assert found["queries of the audit"] == 4
    assert found["passages in the top 3 of 2 systems"] == 4 * 5
    assert found["of them evidence already"] == 8
    assert found["of them judged by people"] == 12
    assert (found["new evidence"], found["evidence in the pool"]) == (1, 9)
    assert found["evidence in the pool (%)"] == pytest.approx(100 * 9 / 20)
    assert found["evidence of the data set"] == known
    assert found["new evidence by that of the data set (%)"] == pytest.approx(100 / known)
    by_depth = logarithmic_fit([1, 2, 3], [4 + 1, 8 + 1, 9]).at(100)
    assert found["evidence in the pool of depth 100, extrapolated"] == pytest.approx(float(by_depth))
    assert found["new evidence at depth 100, extrapolated"] == pytest.approx(1)
    assert found["all evidence that the data set has (%), extrapolated"] == pytest.approx(100 * known / (known + 1))
    printed = {figure.name: figure.printed for figure in audit.figures}
    assert printed["new evidence"] == 35
    assert printed["evidence in the pool of depth 100, extrapolated"] == 638
    assert printed["all evidence that the data set has (%), extrapolated"] == 94.5
    assert set(audit.charts) == {"dmerit-figure-6", "dmerit-figure-7"}
    charts = [audit.charts[name].to_dict()["datasets"] for name in sorted(audit.charts)]
    measured = [next(rows for rows in data.values() if len(rows) == 3) for data in charts]
    assert [[row["y"] for row in rows] for rows in measured] == [[1, 1, 1], [5, 9, 9]]


def test_a_batch_that_is_no_audit_is_refused(done: Construction, judgments: Judgments) -> None:
    batch = begin_verification(judgments, done, "sample", size=10)
    with pytest.raises(BadInputError, match="no audit"):
        audited(done.workspace, judgments, batch)
