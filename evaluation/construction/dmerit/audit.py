"""How much evidence a construction has missed: people judge what a pool of systems finds (D-MERIT, section 2.6, appendix E).

The pool holds the top k of all stored runs for random queries. What is evidence already is left out, and people judge the rest
with the check `relevant`. Both of the paper's figures come of the one audit: figure 6 counts the evidence that the pool adds,
figure 7 all evidence of the pool, each by depth and extrapolated to depth 100 by a logarithm.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.annotation.batches.check_items import CheckItem, create_check_batch
from berdseye.annotation.batches.check_outcomes import check_outcomes
from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage
from berdseye.data.runs.pairs import fitting_corpus
from berdseye.data.runs.stored import list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.charts import Chart
from berdseye.evaluation.construction.dmerit.evidence import CANDIDATES
from berdseye.evaluation.construction.dmerit.queries import NATURAL
from berdseye.evaluation.construction.dmerit.statistics import Figure
from berdseye.evaluation.construction.opening import open_construction
from berdseye.evaluation.construction.stored import Construction
from berdseye.evaluation.partial.pool_coverage import found_by_depth, logarithmic_fit
from berdseye.evaluation.partial.rank_matrices import rank_matrices
from berdseye.evaluation.partial.ranked_sets import RankedSet
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.dmerit.coverage import FAR, coverage_study

QUERIES, DEPTH = 23, 20
FORM = "relevant"
_AUDIT = "audit"


@dataclass(frozen=True)
class Pool:
    """The top k of each system for the audited queries: ids of passages by system and query, best first; `passages` by id.

    `known` is the evidence of the construction, `candidates` the number of passages that were asked about, both by query.
    """

    queries: Mapping[str, str]
    runs: Mapping[str, Mapping[str, Sequence[str]]]
    passages: Mapping[str, Passage]
    known: Mapping[str, tuple[str, ...]]
    candidates: Mapping[str, int]
    k: int

    @property
    def pooled(self) -> dict[str, list[str]]:
        """The passages in the top k of any system, by query."""
        return {
            query: sorted({passage for lists in self.runs.values() for passage in lists[query]})
            for query in self.queries
        }

    @property
    def unknown(self) -> dict[str, list[str]]:
        """The pooled passages that are no evidence of the construction: what people judge."""
        return {query: [p for p in found if p not in set(self.known[query])] for query, found in self.pooled.items()}


def pool_of(
    construction: Construction,
    dataset: str,
    *,
    k: int = DEPTH,
    queries: int = QUERIES,
    seed: int = 0,
    of: Sequence[str] = (),
) -> Pool:
    """Return the pool of all stored runs of a construction's data set on its corpus, for random queries or for those `of` which
    the ids are given.

    Raises `BadInputError` for fewer than two runs with k passages and a k below 2, `StaleError` for runs of other questions or
    passages.
    """
    if k < 2:
        raise BadInputError(f"An audit needs a depth of at least 2, got {k}.")
    workspace = construction.workspace
    rows = {row.id: row for row in construction.kept(NATURAL.name)}
    manifests = [m for m in list_runs(workspace) if m.dataset == m.corpus == dataset and m.k >= k]
    if len(manifests) < 2:
        raise BadInputError(
            f"A pool needs at least 2 runs of {k} passages; '{dataset}' over its corpus has {len(manifests)}.",
            hint=f"Create them: `berdseye run --dataset {dataset} --corpus {dataset} --k {k} --pipeline PIPELINE`.",
        )
    questions = [question for question in load_dataset(workspace, dataset) if not of or question.id in set(of)]
    if any(question.id not in rows for question in questions):
        raise BadInputError(
            f"'{dataset}' has queries that '{construction.name}' has not.",
            hint=f"Add it again: `berdseye construct dataset {construction.name} --as {dataset} --replace`.",
        )
    drawn = questions if of else random.Random(seed).sample(questions, min(queries, len(questions)))
    runs: dict[str, dict[str, list[str]]] = {}
    passages: dict[str, Passage] = {}
    for manifest in manifests:
        run = load_run(workspace, manifest.name)
        corpus = fitting_corpus(workspace, run, load_dataset(workspace, dataset))
        places = {question: place for place, question in enumerate(run.question_ids)}
        lists = {one.id: [i for i in run.ids[places[one.id], :k].tolist() if i >= 0] for one in drawn}
        wanted = sorted({i for found in lists.values() for i in found})
        found_passages = dict(zip(wanted, corpus.passages(wanted), strict=True))
        passages |= {passage.source_id: passage for passage in found_passages.values()}
        runs[manifest.pipeline] = {
            query: [found_passages[i].source_id for i in found] for query, found in lists.items()
        }
    ids = {one.id for one in drawn}
    asked: dict[str, set[str]] = {query: set() for query in ids}
    for row in construction.kept(CANDIDATES.name):
        if row.fields["list"] in ids:
            asked[row.fields["list"]].add(row.fields["passage"])
    return Pool(
        {one.id: f"{one.text} ({rows[one.id].fields['hierarchy']})" for one in drawn},
        runs,
        passages,
        {query: tuple(p["passage"] for p in rows[query].fields["evidence"]) for query in ids},
        {query: len(found) for query, found in asked.items()},
        k,
    )


def begin_audit(
    judgments: Judgments,
    construction: Construction,
    dataset: str,
    name: str,
    *,
    k: int = DEPTH,
    queries: int = QUERIES,
    seed: int = 0,
    per_pair: int = 1,
    people: Sequence[str] = (),
    made_by: str = "",
) -> Batch:
    """Create a batch of the check `relevant` with the pooled passages that are no evidence yet; raises what `pool_of` raises."""
    pool = pool_of(construction, dataset, k=k, queries=queries, seed=seed)
    items = [
        CheckItem(
            f"{query}/{passage}", pool.passages[passage].text, pool.queries[query], "", pool.passages[passage].title
        )
        for query, found in pool.unknown.items()
        for passage in found
    ]
    recipe = {"construction": construction.name, "dataset": dataset, "k": k, "queries": sorted(pool.queries)}
    return create_check_batch(
        judgments,
        name,
        FORM,
        items,
        dataset=construction.name,
        per_pair=per_pair,
        people=people,
        seed=seed,
        made_by=made_by,
        recipe={_AUDIT: recipe},
    )


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit: its figures beside the paper's, and the charts of the paper's figures 6 and 7.

    `new` is the evidence that people found, by query; `undecided` counts the items without a decision, which count as none.
    """

    figures: tuple[Figure, ...]
    new: Mapping[str, tuple[str, ...]]
    undecided: int
    charts: Mapping[str, Chart]


def audited(workspace: Workspace, judgments: Judgments, batch: Batch) -> Audit:
    """Return the outcome of an audit from its batch. Raises `BadInputError` for a batch that is no audit."""
    recipe = batch.recipe.get(_AUDIT)
    if recipe is None:
        raise BadInputError(
            f"The batch '{batch.name}' is no audit.", hint="Create one: `berdseye construct audit NAME`."
        )
    construction = open_construction(workspace, recipe["construction"])
    pool = pool_of(construction, recipe["dataset"], k=recipe["k"], of=recipe["queries"])
    outcomes = check_outcomes(judgments, batch)
    records = judgments.pair_records(list(outcomes))
    new: dict[str, list[str]] = {query: [] for query in pool.queries}
    for key, outcome in outcomes.items():
        query, _, passage = records[key].question_id.partition("/")
        if outcome.accepted and passage not in pool.known[query]:
            new[query].append(passage)
    found = {query: tuple(sorted(passages)) for query, passages in new.items()}
    relevant = {query: (*pool.known[query], *found[query]) for query in pool.queries}
    ranked = RankedSet(
        construction.name, rank_matrices(pool.runs, relevant, depth=pool.k), None, None, f"audit {batch.name}"
    )
    charts = {
        "dmerit-figure-6": coverage_study(ranked, known=pool.known).charts["dmerit-figure-6"],
        "dmerit-figure-7": coverage_study(ranked).charts["dmerit-figure-6"],
    }
    undecided = sum(outcome.accepted is None for outcome in outcomes.values())
    return Audit(tuple(_figures(pool, ranked, found)), found, undecided, charts)


def _figures(pool: Pool, ranked: RankedSet, new: Mapping[str, tuple[str, ...]]) -> list[Figure]:
    pooled = {query: set(found) for query, found in pool.pooled.items()}
    judged = sum(map(len, pool.unknown.values()))
    added = sum(map(len, new.values()))
    known = sum(map(len, pool.known.values()))
    known_pooled = sum(len(pooled[query] & set(ids)) for query, ids in pool.known.items())
    candidates = sum(pool.candidates.values())
    count = sum(map(len, pooled.values()))
    depths = np.arange(1, pool.k + 1)
    every = found_by_depth(ranked.matrices, depths.tolist())
    only_new = {query: ids for query, ids in new.items() if ids}
    of_new = (
        found_by_depth(rank_matrices(pool.runs, only_new, depth=pool.k), depths.tolist())
        if only_new
        else np.zeros(pool.k, np.int64)
    )
    all_far, new_far = (float(logarithmic_fit(depths, counts).at(FAR)) for counts in (every, of_new))
    ours: list[tuple[str, float | None, str, int | None]] = [
        ("queries of the audit", len(pool.queries), "queries in the audit", DEPTH),
        (f"passages in the top {pool.k} of {len(pool.runs)} systems", count, "unique pooled passages", DEPTH),
        ("of them evidence already", known_pooled, "pooled passages already annotated", DEPTH),
        ("of them judged by people", judged, "pooled passages sent to raters", DEPTH),
        ("new evidence", added, "new evidence", DEPTH),
        ("evidence in the pool", known_pooled + added, "pooled evidence", DEPTH),
        ("evidence in the pool (%)", _percent(known_pooled + added, count), "positives in the pool", DEPTH),
        ("evidence of the data set", known, "evidence of the dataset in the audit queries", None),
        (
            "passages that the model was asked about",
            candidates,
            "annotations of the dataset in the audit queries",
            None,
        ),
        ("evidence among them (%)", _percent(known, candidates), "positives among those annotations", None),
        (
            "new evidence by that of the data set (%)",
            _percent(added, known),
            "new evidence relative to the dataset",
            DEPTH,
        ),
        (f"evidence in the pool of depth {FAR}, extrapolated", all_far, "pooled evidence", FAR),
        (f"new evidence at depth {FAR}, extrapolated", new_far, "new evidence", FAR),
        (
            "all evidence that the data set has (%), extrapolated",
            _percent(known, known + new_far),
            "dataset coverage of identified evidence",
            FAR,
        ),
        (
            "all evidence that the pool has (%), extrapolated",
            _percent(all_far, known + new_far),
            "pool coverage of identified evidence",
            FAR,
        ),
    ]
    paper = {
        (str(row["fact"]), None if np.isnan(row["pool_depth"]) else int(row["pool_depth"])): float(row["value"])
        for row in published("dmerit_coverage").to_dict("records")
    }
    return [Figure(name, value, paper[fact, depth], "D-MERIT, appendix E") for name, value, fact, depth in ours]


def _percent(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None
