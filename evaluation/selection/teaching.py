"""Selecting the pairs that a teacher labels: the top k of stored runs for drawn questions, without near-duplicate passages.

BERDS (Chen and Choi) trains its detector on about 3,000 pairs of 50 questions that a prompted language model labels, and
measures it outside of its training data on 300 pairs of each corpus and retriever. A seed always selects the same pairs, in
whatever order the runs are named.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

import numpy as np

from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.batches.stored import Item
from berdseye.annotation.judgments.log import PairRecord
from berdseye.data.datasets.stored import load_dataset, same_question, split_version
from berdseye.data.errors import BadInputError
from berdseye.data.runs.pairs import run_keys
from berdseye.data.runs.stored import Run, RunManifest, load_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.selection.batches import runs_by_dataset, stratified, without_near_duplicates

QUESTIONS, K = 50, 5
"""The numbers of questions and of passages of each ranking from which BERDS's training pairs come."""


class FoundPair(NamedTuple):
    """A pair with the retrievers (pipelines) whose top k it is in; several are joined by ` + `."""

    record: PairRecord
    retriever: str


class TeachingPairs(NamedTuple):
    """The selected pairs, the number of drawn questions, and the number of pairs with a near-duplicate passage, which were
    dropped."""

    pairs: list[FoundPair]
    questions: int
    near_duplicates: int


def teaching_pairs(
    workspace: Workspace,
    runs: Sequence[str],
    *,
    questions: int = QUESTIONS,
    k: int = K,
    of_each: int | None = None,
    seed: int = 0,
    without: frozenset[str] = frozenset(),
) -> TeachingPairs:
    """Select every pair of the top `k` of stored runs for `questions` drawn questions, without near-duplicate passages.

    The runs are pooled, so that each pair occurs once. With `of_each`, that many pairs are drawn for each corpus and retriever
    from its own runs, so that the figures of each are those of a random sample; a pair that two retrievers find may then occur
    for both. Raises `BadInputError` for too few questions or pairs, and for runs of two versions of a data set.
    """
    by_dataset = runs_by_dataset(workspace, runs)
    drawn = drawn_questions(workspace, by_dataset, questions, seed, without)
    loaded = [load_run(workspace, name) for names in by_dataset.values() for name in names]
    by_domain: dict[tuple[str, str], list[Run]] = {}
    for run in loaded:
        by_domain.setdefault((run.manifest.corpus, run.manifest.pipeline), []).append(run)
    pools = [loaded] if of_each is None else [by_domain[domain] for domain in sorted(by_domain)]
    chosen: list[FoundPair] = []
    dropped = 0
    for pool in pools:
        items = _items(workspace, pool, k, drawn)
        kept = without_near_duplicates(items)
        dropped += len(items) - len(kept)
        if of_each is not None:
            kept = _sample(kept, of_each, seed, pool[0].manifest)
        retrievers = _retrievers(workspace, pool, k)
        chosen += [FoundPair(item.record, " + ".join(retrievers[item.record.key])) for item in kept]
    if not chosen:
        raise BadInputError(
            f"The runs have no passage for any of the {questions} drawn questions.", hint="Name other runs."
        )
    return TeachingPairs(chosen, questions, dropped)


def drawn_questions(
    workspace: Workspace, datasets: Iterable[str], count: int, seed: int, without: frozenset[str] = frozenset()
) -> dict[str, set[str]]:
    """Draw `count` questions with perspectives, as evenly from the data sets as they allow; returns their ids by data set.

    No question of `without` (as `same_question` writes it) is drawn. Raises `BadInputError` for too few questions, and for two
    versions of one data set.
    """
    shuffled: dict[str, list[str]] = {}
    for name in sorted(datasets):
        dataset = split_version(name)[0]
        if dataset in shuffled:
            raise BadInputError(f"The runs are of several versions of '{dataset}'.", hint="Name runs of one version.")
        questions = [
            q for q in load_dataset(workspace, name) if q.perspectives and same_question(q.text) not in without
        ]
        ids = sorted(q.id for q in questions)
        shuffled[dataset] = Random(f"{seed} {dataset}").sample(ids, len(ids))
    available = sum(map(len, shuffled.values()))
    if available < count:
        outside = " outside of the named batches" if without else ""
        raise BadInputError(
            f"The data sets of the runs have {available} questions with perspectives{outside}, but {count} are to be drawn.",
            hint="Lower --questions, or name runs of more data sets.",
        )
    longest = max(map(len, shuffled.values()))
    turns = ((dataset, ids[turn]) for turn in range(longest) for dataset, ids in shuffled.items() if turn < len(ids))
    drawn: dict[str, set[str]] = {dataset: set() for dataset in shuffled}
    for dataset, question in islice(turns, count):
        drawn[dataset].add(question)
    return drawn


def _items(workspace: Workspace, pool: Sequence[Run], k: int, drawn: Mapping[str, set[str]]) -> list[Item]:
    """Return the pairs of the drawn questions in the top k of the runs, each once."""
    items: dict[str, Item] = {}
    for dataset in sorted({run.manifest.dataset for run in pool}):
        names = [run.manifest.name for run in pool if run.manifest.dataset == dataset]
        for key, record in pairs_of_runs(workspace, names, k).items():
            if record.question_id in drawn[record.dataset]:
                items.setdefault(key, Item(record))
    return list(items.values())


def _retrievers(workspace: Workspace, pool: Sequence[Run], k: int) -> dict[str, list[str]]:
    """Return by pair key the pipelines in whose top k it is, in the order of their names."""
    found: dict[str, dict[str, None]] = {}
    for run in sorted(pool, key=lambda one: one.manifest.pipeline):
        _, keys = run_keys(workspace, run, load_dataset(workspace, run.manifest.dataset), k)
        for key in np.unique(keys[keys != b""]).tolist():
            found.setdefault(key.decode(), {})[run.manifest.pipeline] = None
    return {key: list(pipelines) for key, pipelines in found.items()}


def _sample(items: Sequence[Item], size: int, seed: int, of: RunManifest) -> list[Item]:
    """Draw `size` of the pairs of a corpus and a retriever; raises `BadInputError` if there are fewer."""
    if len(items) < size:
        raise BadInputError(
            f"{of.corpus} {of.pipeline} has {len(items)} pairs for the drawn questions, but {size} are to be drawn.",
            hint="Lower --pairs, or raise --questions or --k.",
        )
    return stratified(items, size, (), seed)
