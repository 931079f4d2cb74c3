"""Labelled lists: the top k of several systems over one set of labels, each with the probability that it is 1; the basis of all
reliability figures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import GOLD, load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids, Pair, Question
from berdseye.data.runs.pairs import run_pairs
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.labels.sources import HUMAN, LabelSource, labels_of
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.counted import counted_questions, counting
from berdseye.evaluation.scores.unjudged import Unjudged

Doubles = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_FEWEST, _FEWEST_OF_A_KIND = 50, 10
_EDGE = 1e-6


@dataclass(frozen=True)
class LabelledLists:
    """The top k of several systems over one set of labels.

    `ids` int64[n_systems, n_questions, k]: passages, padded with -1; `places` int64[n_systems, n_questions, k, m_max]: the label
    of each passage with each perspective (-1: none); `counts` int64[n_questions]: perspectives per question.

    Of each label: `labels` float64[n_labels]: 1, 0 or NaN (no label); `chance` float64[n_labels]: the probability that it is 1;
    `settled` bool[n_labels]: whether people or gold labels give it, so that `chance` is 1 or 0. `counted` bool[n_questions]:
    which questions count (`berdseye.evaluation.scores.counted`); None: those with a label in one of the lists. `unjudged`: the
    rule for questions without a label in a system's list.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    ids: Ids
    places: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    labels: Doubles
    chance: Doubles
    settled: Bools
    counted: Bools | None = None
    unjudged: Unjudged = Unjudged.ZERO

    def values(self, measure: Measure, labels: Bools) -> Doubles:
        """Compute the measure of each system and question under labels bool[n_labels]: float64[n_systems, n_questions]."""
        known = np.append(labels, False)[self.places]
        judged = self.places >= 0
        return np.stack(
            [
                measure.values(Support(known[s], self.counts, (self.ids[s] >= 0).sum(axis=1), judged[s]))
                for s in range(len(self.systems))
            ]
        )

    def values_now(self, measure: Measure) -> Doubles:
        """Compute the measure of each system and question under the current labels, as `score_run` does; NaN for a question that
        does not count."""
        known = (~np.isnan(np.append(self.labels, np.nan)))[self.places].any(axis=(2, 3))
        counted = counting(self.counts, known.any(axis=0)) if self.counted is None else self.counted
        if self.unjudged is Unjudged.LEFT_OUT:
            counted = counted & known
        return np.asarray(np.where(counted, self.values(measure, self.labels == 1), np.nan))

    def judged(self, values: Doubles) -> list[float]:
        """Return the share of the pairs of each system that have a label, over the questions with a value of the system by
        `values` float64[n_systems, n_questions]."""
        known = ~np.isnan(np.append(self.labels, np.nan))[self.places]
        real = (self.places >= 0) & ~np.isnan(values)[:, :, None, None]
        return [float((known[s] & real[s]).sum() / max(int(real[s].sum()), 1)) for s in range(len(self.systems))]

    def drawn(self, measure: Measure, draws: int, seed: int = 0) -> Doubles:
        """Compute the measure under labels drawn by their probabilities, jointly for all systems: float64[draws, n_systems,
        n_questions]."""
        random = np.random.default_rng(seed)
        values = [self.values(measure, random.random(len(self.chance)) < self.chance) for _ in range(draws)]
        return np.stack(values)


@dataclass(frozen=True)
class Described:
    """Labelled lists with their texts: `pairs` holds the pair of each label, `asked_of` int64[n_labels] the number of its
    question, and `gold` float64[n_labels] its gold label (NaN: none)."""

    lists: LabelledLists
    questions: list[Question]
    pairs: list[Pair]
    asked_of: npt.NDArray[np.int64]
    gold: Doubles
    notes: tuple[str, ...]


def check_drawable(measure: Measure) -> None:
    """Raise `BadInputError` for a measure that cannot be computed from single drawn labels."""
    if measure.definition.library or measure.pooled:
        raise BadInputError(
            f"{measure} cannot be computed from drawn labels.", hint="Choose MRecall, Precision or Coverage."
        )


def labelled_lists(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[Run],
    source: LabelSource,
    detector: Detector,
    k: int,
    *,
    progress: Progress = silent,
) -> Described:
    """Return the labelled top k of stored runs on one data set and one corpus.

    Labels of people or gold labels, by `source`, are settled. Every other label has the probability of `detector`, calibrated by
    a logistic regression on the settled labels (Platt, 1999) if there are at least 50, with 10 of each value. Raises
    `BadInputError` for runs of different data sets or corpora, fewer than two runs, or a k larger than the depth of a run.
    """
    if len({(r.manifest.dataset, r.manifest.corpus) for r in runs}) > 1 or len(runs) < 2:
        raise BadInputError(
            "A comparison needs at least two runs on one data set and one corpus.",
            hint="Name such runs, or create them with `berdseye run`.",
        )
    questions = load_dataset(workspace, runs[0].manifest.dataset)
    deepest = min(r.manifest.k for r in runs)
    if k > deepest:
        raise BadInputError(
            f"k is {k}, but a run has only {deepest} passages.",
            hint=f"Choose k up to {deepest}, or create deeper runs.",
        )
    width = max((len(q.perspectives) for q in questions), default=0)
    ids = np.stack([r.ids[:, :k] for r in runs])
    places = np.full((*ids.shape, width), -1, dtype=np.int64)
    numbers: dict[tuple[int, str], int] = {}
    pairs: list[Pair] = []
    asked_of: list[int] = []
    for system, run in enumerate(runs):
        of_run = run_pairs(workspace, run, questions, k)
        for (question, rank, perspective), pair in zip(of_run.places.tolist(), of_run.pairs, strict=True):
            number = numbers.setdefault((question, pair.key), len(pairs))
            if number == len(pairs):
                pairs.append(pair)
                asked_of.append(question)
            places[system, question, rank, perspective] = number
    said = labels_of(workspace, judgments, source, pairs, progress=progress)
    by_people = LabelSource(
        tuple(p for p in source.parts if p in (HUMAN, GOLD) or (source.consensus and p == source.parts[0]))
    )
    trusted = labels_of(workspace, judgments, by_people, pairs) if by_people.parts else np.full(len(pairs), np.nan)
    store = LabelStore(workspace)
    scores = label(store, detector, pairs, progress=progress).astype(np.float64)
    settled = ~np.isnan(trusted)
    chance, how = calibrated_chance(scores, trusted)
    lists = LabelledLists(
        tuple(r.manifest.pipeline for r in runs),
        tuple(q.id for q in questions),
        ids,
        places,
        np.array([len(q.perspectives) for q in questions], dtype=np.int64),
        said,
        np.where(settled, trusted, chance),
        settled,
        counted_questions(workspace, judgments, runs[0].manifest.dataset, runs[0].manifest.corpus, source, run=runs[0]),
    )
    gold = store.get(GOLD, [p.key for p in pairs]).astype(np.float64)
    return Described(lists, questions, pairs, np.array(asked_of, dtype=np.int64), gold, (f"{detector.name}: {how}",))


def calibrated_chance(scores: Doubles, trusted: Doubles) -> tuple[Doubles, str]:
    """Return P(supports) from a detector's scores, calibrated on those with a trusted label (1, 0, otherwise NaN), and a note."""
    known = ~np.isnan(trusted)
    truth = trusted[known] == 1
    if known.sum() < _FEWEST or min(int(truth.sum()), int((~truth).sum())) < _FEWEST_OF_A_KIND:
        return scores, (
            f"its probabilities are not calibrated, because there are fewer than {_FEWEST} judged pairs (or fewer than "
            f"{_FEWEST_OF_A_KIND} of either label)."
        )
    logits = logit(np.clip(scores, _EDGE, 1 - _EDGE)).reshape(-1, 1)
    fitted = LogisticRegression(C=1e3).fit(logits[known], truth)
    return np.asarray(
        fitted.predict_proba(logits)[:, 1]
    ), f"its probabilities are calibrated on {int(known.sum())} judged pairs."
