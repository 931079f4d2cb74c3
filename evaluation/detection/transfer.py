"""How a detector does on data like retrieved pairs that it was not trained on, at a threshold chosen on other data again.

Three sources (`berdseye.detectors.stance.held_out`): windows of articles, arguments with key points, and debates. A source's
threshold is the mean of the best thresholds on the dev parts of the other two, of judged passages and of extracts; all figures
are on test parts, at a base rate of 16.8%, with 95% intervals over topics. More tests concern sides alone: a claim or its
denial, hand-made negations, minimal edits, and generated answers with two contrary perspectives. One concerns claims with a
reason. More are on the test parts of the texts that were written or judged for this project
(`berdseye.detectors.stance.written`).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.detectors.base_rates import estimated_base_rate, move_from_labels, moved_threshold, threshold_of_share
from berdseye.detectors.baselines import BASE_RATE
from berdseye.detectors.protocol import Detector, count_truncated
from berdseye.detectors.quality import (
    Doubles,
    Truth,
    auroc,
    best_threshold,
    intervals,
    precision_recall_f1,
    rate_weights,
)
from berdseye.detectors.stance.held_out import (
    HeldOut,
    Scored,
    claims_and_denials,
    claims_with_reasons,
    for_thresholds,
    generated_answers,
    held_out,
    minimal_edits,
    negations,
    off_topic,
    scored,
    threshold_from_others,
    written_pairs,
    written_twins,
)
from berdseye.detectors.stance.written import WITH_CONTRARIES, WRITTEN, WRITTEN_FILES, written_texts
from berdseye.evaluation.statistics.intervals import mean_with_interval

_RESAMPLES = 500
_JUDGED = 30
_DRAWS = 100
_BINS = 10


def transfer(
    detector: Detector, folder: Path, *, sample: int | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """Measure a detector on the held-out data of a folder (`stance/`, `perspectrum/`).

    With `sample`, so many pairs of each part and source are read, the same ones for every detector (`few`). Returns `thresholds`
    by source, the `figures` of each, the shares of `sides`, those of written passages by kind (`written`), how thresholds carry
    over (`carried`; not from a sample, which is too small for it), `pairs_per_second`, and `truncated`, the number of distinct
    pairs with a text that the detector cut (None: it does not report this).
    """
    seconds: list[float] = []
    read: list[Pair] = []

    def score(pairs: Sequence[HeldOut]) -> Scored:
        began = perf_counter()
        found = scored(detector, pairs, progress=progress)
        seconds.append(perf_counter() - began)
        read.extend(pair.pair for pair in pairs)
        return found

    dev = {name: score(few(pairs, sample)) for name, pairs in for_thresholds(folder).items()}
    thresholds = {name: one.threshold() for name, one in dev.items()}
    shares = {name: called_supporting(one, thresholds[name]) for name, one in dev.items()}
    held = held_out(folder, "test")
    tests = {name: score(few(pairs, sample)) for name, pairs in held.items()}
    elsewhere = {name: threshold_from_others(thresholds, name) for name in thresholds}
    others = score(few(off_topic(folder), sample))
    own = {source: score(few(written_pairs(written_texts(source, "test")), sample)) for source in WRITTEN_FILES}
    twins = {source: _some(written_twins(written_texts(source, "test")), sample) for source in WITH_CONTRARIES}
    led = {source: _leads(score, found) for source, found in twins.items()}
    reasoned = score(few(claims_with_reasons(folder, "test"), sample))
    return {
        "detector": detector.name,
        "version": detector.version,
        "thresholds": thresholds,
        "figures": {name: figures(one, elsewhere[name]) for name, one in tests.items()},
        "sides": _sides(score, held["debates"], folder, sample)
        | {
            "claims_auroc": claims_auroc(tests["debates"]),
            "reasons_auroc": _auroc(reasoned),
            "off_topic_auroc": _rounded(_auroc_against(tests["debates"], others)),
            **{f"{source}_auroc": _auroc(found) for source, found in own.items()},
            **{f"{source}_sides": _rounded(float(np.mean(found))) for source, found in led.items()},
        },
        "written": {
            kind: [*map(_rounded, (estimate.value, estimate.low, estimate.high)), estimate.n]
            for kind in sorted({right.kind for right, _ in twins[WRITTEN]})
            for estimate in [mean_with_interval(_by_topic(led[WRITTEN], twins[WRITTEN], kind))]
        },
        "carried": {
            name: carried(one, detector.threshold, elsewhere[name], threshold_from_others(shares, name))
            for name, one in tests.items()
        }
        if sample is None
        else {},
        "pairs_per_second": round(len(read) / max(sum(seconds), 1e-9), 2),
        "truncated": count_truncated(detector, read),
    }


def few(pairs: Sequence[HeldOut], sample: int | None, *, seed: int = 0) -> list[HeldOut]:
    """Return `sample` pairs drawn at random, half of them supporting as far as there are so many, in their order; all without a
    number.

    Figures at a base rate weigh both halves, so that their expectation does not change.
    """
    if sample is None or sample >= len(pairs):
        return list(pairs)
    chance = Random(seed)
    yes, no = ([at for at, pair in enumerate(pairs) if pair.supports == side] for side in (True, False))
    from_yes = max(min(len(yes), sample // 2), sample - len(no))
    drawn = chance.sample(yes, from_yes) + chance.sample(no, sample - from_yes)
    return [pairs[at] for at in sorted(drawn)]


def figures(one: Scored, threshold: float, *, seed: int = 0) -> dict[str, Any]:
    """Return the measures of held-out pairs at a threshold from other sources, with 95% intervals over topics.

    `against` has the AUROC of all positives against the negatives of each kind. Shares, F1 and the calibration error are at the
    base rate of 16.8%.
    """
    truth, p = one.truth, one.probabilities.astype(np.float64)
    _, groups = np.unique([pair.group for pair in one.pairs], return_inverse=True)
    best = one.threshold()

    def f1(weights: Doubles, at: float) -> float:
        return precision_recall_f1(truth, p >= at, weights * rate_weights(truth, weights))[2]

    statistics: Mapping[str, Callable[[Doubles], float]] = {
        "auroc": lambda w: auroc(truth, p, w),
        "f1": lambda w: f1(w, threshold),
        "best_f1": lambda w: f1(w, best),
    }
    bounds = intervals(statistics, groups, resamples=_RESAMPLES, seed=seed)
    everyone, at_rate = np.ones(len(truth)), rate_weights(truth)
    kinds = np.array([pair.kind for pair in one.pairs])
    bins = np.minimum((p * _BINS).astype(np.int64), _BINS - 1)
    return {
        "pairs": len(truth),
        "positives": int(truth.sum()),
        "topics": int(groups.max()) + 1,
        **{name: [_rounded(of(everyone)), *map(_rounded, bounds[name])] for name, of in statistics.items()},
        "threshold": _rounded(threshold),
        "best_threshold": _rounded(best),
        "called_supporting": _rounded(called_supporting(one, threshold)),
        "calibration_error": _rounded(
            float(np.abs(np.bincount(bins, at_rate * (p - truth), _BINS)).sum() / at_rate.sum())
        ),
        "against": {
            str(kind): _rounded(auroc(truth[truth | (kinds == kind)], p[truth | (kinds == kind)]))
            for kind in sorted(set(kinds[~truth]))
        },
    }


def called_supporting(one: Scored, threshold: float) -> float:
    """Return the share of the pairs called supporting at a threshold, at the base rate of 16.8%."""
    return float(np.average(one.probabilities >= threshold, weights=rate_weights(one.truth)))


def claims_auroc(one: Scored) -> float:
    """Return the AUROC among the claims and denials of debates alone; nan without them.

    The AUROC of all pairs also depends on whether claims, which any passage of their debate is about, score higher than titles,
    so that a detector can gain there while it tells sides less well.
    """
    claims = np.array([pair.kind == "claim" for pair in one.pairs], dtype=np.bool_)
    return _rounded(auroc(one.truth[claims], one.probabilities[claims].astype(np.float64)))


def carried(one: Scored, own: float, threshold: float, share: float, *, seed: int = 0) -> dict[str, dict[str, float]]:
    """Return F1 and the share called supporting at each of several thresholds.

    They are the detector's `own`, which pairs of this source may have helped to choose; one from elsewhere as it is (`before`);
    one that calls as large a `share` of the pairs supporting as is best elsewhere (`share`); the one from elsewhere moved to the
    base rate that the probabilities suggest (`unlabelled`), and moved by 30 judged pairs (`judged`, a mean over 100 draws); and
    the best one. The pairs are drawn at the base rate of 16.8%.
    """
    generator = np.random.default_rng(seed)
    truth, p = _at_base_rate(one, generator)
    by = _log_odds(estimated_base_rate(p, BASE_RATE)) - _log_odds(BASE_RATE)
    judged = []
    for _ in range(_DRAWS):
        drawn = generator.choice(len(p), min(_JUDGED, len(p)), replace=False)
        judged.append(_at(truth, p, moved_threshold(threshold, move_from_labels(p[drawn], truth[drawn], by))))
    return {
        "own": _at(truth, p, own),
        "before": _at(truth, p, threshold),
        "share": _at(truth, p, threshold_of_share(p, share)),
        "unlabelled": _at(truth, p, moved_threshold(threshold, by)),
        "judged": {
            name: _rounded(float(np.mean([row[name] for row in judged]))) for name in ("f1", "called_supporting")
        },
        "best": _at(truth, p, best_threshold(truth, p.astype(np.float32))),
    }


def transfer_table(results: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row for each detector and source: AUROC, F1 at the threshold from elsewhere and the best F1, in percent with
    FIGURE_low and FIGURE_high, the share called supporting beside the true one, and the expected calibration error (ece)."""
    rows = []
    for result in results:
        for source, found in result["figures"].items():
            row: dict[str, Any] = {"source": source, "detector": result["detector"], "pairs": found["pairs"]}
            for name in ("auroc", "f1", "best_f1"):
                row |= {f"{name}{end}": 100 * x for end, x in zip(("", "_low", "_high"), found[name], strict=True)}
            row |= {"pct_positive": 100 * found["called_supporting"], "true_pct": 100 * BASE_RATE}
            rows.append(row | {"ece": 100 * found["calibration_error"]})
    return pd.DataFrame(rows).sort_values("source", kind="stable", ignore_index=True)


def kinds_table(results: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row for each detector, source and kind of negative: the AUROC of all positives against them, in percent."""
    rows = [
        {"source": source, "against": kind, "detector": result["detector"], "auroc": 100 * value}
        for result in results
        for source, found in result["figures"].items()
        for kind, value in found["against"].items()
    ]
    return pd.DataFrame(rows).sort_values(["source", "against"], kind="stable", ignore_index=True)


def sides_table(results: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row for each detector: the figures about sides, in percent, its speed in pairs per second, and the number of
    distinct pairs with a text that it cut.

    `memory_mib` is there if a result has it.
    """
    return pd.DataFrame([
        {"detector": result["detector"], **{name: 100 * value for name, value in result["sides"].items()}}
        | {name: result[name] for name in ("pairs_per_second", "truncated", "memory_mib") if name in result}
        for result in results
    ])  # fmt: skip


def written_table(results: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row for each detector and kind of written passages: how often the perspective that a passage supports leads its
    contrary (`right`), in percent with right_low and right_high, a mean over so many `topics`."""
    rows = [
        {"written": kind, "detector": result["detector"], "topics": n}
        | {f"right{end}": 100 * x for end, x in zip(("", "_low", "_high"), right, strict=True)}
        for result in results
        for kind, (*right, n) in result["written"].items()
    ]
    return pd.DataFrame(rows).sort_values("written", kind="stable", ignore_index=True)


def carried_table(results: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row for each detector, source and way to move a threshold: F1 and the share called supporting, in percent."""
    rows = [
        {"source": source, "detector": result["detector"], "threshold": way, "f1": 100 * row["f1"],
         "pct_positive": 100 * row["called_supporting"]}
        for result in results
        for source, ways in result["carried"].items()
        for way, row in ways.items()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["source", "detector", "threshold", "f1", "pct_positive"]).sort_values(
        "source", kind="stable", ignore_index=True
    )


def _sides(
    score: Callable[[Sequence[HeldOut]], Scored], debates: Sequence[HeldOut], folder: Path, sample: int | None
) -> dict[str, float]:
    def chosen(twins: Sequence[tuple[HeldOut, HeldOut]]) -> float:
        """The share of passages whose right perspective has the higher probability; nan without passages."""
        return float(np.mean(_leads(score, _some(twins, sample)))) if twins else np.nan

    answers = generated_answers(folder)
    edited, negated = (score(few(pairs, sample)) for pairs in (minimal_edits(folder), negations(folder)))
    threshold = _best_balanced_threshold(edited)
    return {
        "claim_or_denial": _rounded(chosen(claims_and_denials(debates))),
        "answers": _rounded(chosen(answers)),
        "answers_yes": _rounded(float(np.mean([right.kind == "yes" for right, _ in answers])) if answers else np.nan),
        "minimal_edits_auroc": _auroc(edited),
        "negations_auroc": _auroc(negated),
        "negations_balanced_accuracy": _rounded(_balanced_accuracy(negated, threshold)),
    }


def _some(twins: Sequence[tuple[HeldOut, HeldOut]], sample: int | None) -> Sequence[tuple[HeldOut, HeldOut]]:
    """Return half as many twins as `sample` says, drawn at random; all without a number."""
    return twins if sample is None else Random(0).sample(twins, min(len(twins), sample // 2))


def _leads(
    score: Callable[[Sequence[HeldOut]], Scored], twins: Sequence[tuple[HeldOut, HeldOut]]
) -> npt.NDArray[np.float64]:
    """Return 1 for each passage whose right perspective has the higher probability, and 0 for the others."""
    both = score([pair for twin in twins for pair in twin]).probabilities.reshape(-1, 2)
    return (both[:, 0] > both[:, 1]).astype(np.float64)


def _by_topic(
    led: npt.NDArray[np.float64], twins: Sequence[tuple[HeldOut, HeldOut]], kind: str
) -> npt.NDArray[np.float64]:
    """Return the mean of the pairs of a kind for each topic."""
    of_kind = np.array([right.kind == kind for right, _ in twins])
    _, topics = np.unique([right.group for right, _ in twins if right.kind == kind], return_inverse=True)
    return np.bincount(topics, led[of_kind]) / np.bincount(topics)


def _auroc(one: Scored) -> float:
    return _rounded(auroc(one.truth, one.probabilities.astype(np.float64)))


def _auroc_against(one: Scored, others: Scored) -> float:
    """The AUROC of what is supported in `one` against all pairs of `others`."""
    p = np.concatenate([one.probabilities[one.truth], others.probabilities]).astype(np.float64)
    return auroc(np.arange(len(p)) < one.truth.sum(), p)


def _best_balanced_threshold(one: Scored) -> float:
    candidates = np.unique(np.quantile(one.probabilities, np.linspace(0, 1, 201)))
    return float(max(candidates, key=lambda at: _balanced_accuracy(one, float(at))))


def _balanced_accuracy(one: Scored, threshold: float) -> float:
    truth, called = one.truth, one.probabilities >= threshold
    return float((called[truth].mean() + (~called[~truth]).mean()) / 2)


def _at_base_rate(one: Scored, generator: np.random.Generator) -> tuple[Truth, Doubles]:
    """Leave out positives or negatives at random, until the base rate is 16.8%."""
    truth = one.truth
    yes, no = np.flatnonzero(truth), np.flatnonzero(~truth)
    kept_yes = min(len(yes), round(len(no) * BASE_RATE / (1 - BASE_RATE)))
    kept_no = min(len(no), round(kept_yes * (1 - BASE_RATE) / BASE_RATE))
    kept = np.concatenate([
        generator.choice(yes, kept_yes, replace=False), generator.choice(no, kept_no, replace=False)
    ])  # fmt: skip
    return truth[kept], one.probabilities[kept].astype(np.float64)


def _at(truth: Truth, p: npt.NDArray[np.floating], threshold: float) -> dict[str, float]:
    chosen = p >= threshold
    return {
        "f1": _rounded(precision_recall_f1(truth, chosen, np.ones(len(truth)))[2]),
        "called_supporting": _rounded(float(chosen.mean())),
    }


def _log_odds(share: float) -> float:
    return float(np.log(share / (1 - share)))


def _rounded(value: float) -> float:
    return round(float(value), 4)
