"""Tables of detectors: the detection table in the layout of BERDS with its published figures, the figures by slice and by domain,
and the agreement of detectors with each other and with the labels. All figures are in percent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.detectors.protocol import Detector
from berdseye.detectors.quality import Quality
from berdseye.evaluation.agreement.together import agreement
from berdseye.evaluation.detection.pairs import GROUPINGS, read_judged_pairs, rows_to_test_on, rows_to_tune_on
from berdseye.evaluation.detection.scoring import FIGURES, Scored, quality_of, rescored, score, timed_predictions
from berdseye.evaluation.detection.thresholds import best_f1
from berdseye.evaluation.published import published

DETECTORS_SOURCE = "BERDS, 542 pairs"
"""BERDS (version 2), table 4; the second annotator labelled 176 of the pairs."""
DOMAINS_SOURCE = "BERDS, 300 pairs, labels of GPT-4"
"""BERDS (version 2), table 18: the fine-tuned Mistral-7B outside its training corpus."""
DOMAINS_DETECTOR = "mistral-7b (fine-tuned)"
PAIRS_PER_SECOND = 8.0
"""The speed that 15 minutes per data set on an A40 with vLLM imply, as BERDS reports for its fine-tuned Mistral-7B."""
SECONDS_PER_DATASET = 15 * 60.0
LABELS = "labels"
"""The name of the labels of the file among the raters."""
OURS = "these files"
_IN_BERDS = ("pct_positive", "accuracy", "f1")
_LATER = ("precision", "recall", "auroc", "average_precision", "ece")
_IN_SLICES = ("accuracy", "f1", "auroc")
_SLICE_RESAMPLES = 200
_LENGTHS = 3
Slice = tuple[str, str, list[int]]
"""The property of a slice, its value, and the places of its rows."""


def published_detectors() -> pd.DataFrame:
    """Return BERDS's detection table: columns detector, source, pct_positive, accuracy, f1, in percent; NaN if not published."""
    table = published("berds_detectors")
    return pd.DataFrame(
        {
            "detector": [
                f"{model} ({setting})" for model, setting in zip(table["model"], table["setting"], strict=True)
            ],
            "source": DETECTORS_SOURCE,
            "pct_positive": table["pct_positive"],
            "accuracy": table["accuracy"],
            "f1": table["f1"],
        }
    )


def published_domains() -> pd.DataFrame:
    """Return BERDS's table of other domains: columns domain, detector, source, pct_positive, accuracy, f1, in percent."""
    table = published("berds_detector_ood")
    return pd.DataFrame(
        {
            "domain": table["corpus"] + " " + table["retriever"],
            "detector": DOMAINS_DETECTOR,
            "source": DOMAINS_SOURCE,
            "pct_positive": table["pct_positive"],
            "accuracy": table["accuracy"],
            "f1": table["f1"],
        }
    )


def agreement_table(rows: Sequence[LabelledPair], scored: Sequence[Scored]) -> pd.DataFrame:
    """Return Cohen's kappa with its 95% interval and the share of equal verdicts (percent) of every pair of detectors, and of
    each detector with the labels, over distinct pairs without contradictory labels.

    Columns: a, b, kappa, kappa_low, kappa_high, percent, n.
    """
    first = {row.pair: place for place, row in reversed(list(enumerate(rows)))}
    disputed = {row.pair for row in rows if row.supports != rows[first[row.pair]].supports}
    places = [place for pair, place in first.items() if pair not in disputed]
    by_rater = {LABELS: np.array([row.supports for row in rows], dtype=bool)} | {s.detector: s.verdicts for s in scored}
    long = pd.DataFrame(
        [(place, name, "yes" if verdicts[place] else "no") for name, verdicts in by_rater.items() for place in places],
        columns=["item", "annotator", "label"],
    )
    if not places:
        return pd.DataFrame(columns=["a", "b", "kappa", "kappa_low", "kappa_high", "percent", "n"])
    return pd.DataFrame(
        {
            "a": p.a,
            "b": p.b,
            "kappa": p.cohen_kappa,
            "kappa_low": p.low,
            "kappa_high": p.high,
            "percent": 100 * p.raw,
            "n": p.n,
        }
        for p in agreement(long).pairs
    )


@dataclass(frozen=True)
class DetectionReport:
    """Tables of several detectors on the same rows; `rows` describes the rows, and `truncated` counts, by detector, the distinct
    pairs with a text that it cut (None: it does not report this)."""

    rows: str
    detection: pd.DataFrame
    slices: pd.DataFrame
    domains: pd.DataFrame
    agreement: pd.DataFrame
    truncated: dict[str, int | None]

    @property
    def parts(self) -> dict[str, pd.DataFrame]:
        """The tables by name."""
        return {name: getattr(self, name) for name in ("detection", "slices", "domains", "agreement")}


def detection_report(
    detectors: Sequence[Detector], paths: Sequence[Path], *, tuned: bool = False, progress: Progress = silent
) -> DetectionReport:
    """Create all tables on the rows of the split test, or on all rows of files without splits.

    With `tuned`, each threshold is the one with the best F1 on the rows of the split dev; otherwise it is the detector's own.
    Raises `BadInputError` if a required split has no rows.
    """
    all_rows = read_judged_pairs(paths)
    rows, dev = rows_to_test_on(all_rows), rows_to_tune_on(all_rows)
    if not rows:
        raise BadInputError(
            "The files have splits, but no row of the split 'test'.",
            hint="Set the column split of some rows to 'test'.",
        )
    if tuned and (not dev or not any(row.split for row in all_rows)):
        raise BadInputError(
            "The files have no row of the split 'dev'.",
            hint="Omit --tuned, or set the column split of some rows to 'dev'.",
        )
    scored = [score(detector, rows, progress=progress) for detector in detectors]
    if tuned:
        scored = [_tuned(d, s, rows, dev, progress) for d, s in zip(detectors, scored, strict=True)]
    described = f"all {len(rows):,} rows"
    if len(rows) < len(all_rows):
        described = f"{len(rows):,} of {len(all_rows):,} rows (split test)"
    return DetectionReport(
        described, detection_table(rows, scored), slice_table(rows, scored), domain_table(rows, scored),
        agreement_table(rows, scored), {s.detector: s.truncated for s in scored},
    )  # fmt: skip


def detection_table(rows: Sequence[LabelledPair], scored: Sequence[Scored]) -> pd.DataFrame:
    """Return one row for the labels, one per detector, and the published rows; NaN if a figure is unknown.

    Columns: detector, source, pct_positive, accuracy, f1 as in BERDS; precision, recall, auroc, average_precision and ece;
    FIGURE_low and FIGURE_high, the ends of 95% intervals; threshold, threshold_source, version, n and pairs_per_second;
    truncated, the number of distinct pairs with a text that the detector cut (None: unknown).
    """
    positive = 100 * float(np.mean([row.supports for row in rows]))
    reference = {"detector": LABELS, "source": OURS, "pct_positive": positive, "n": len(rows)}
    ours = [
        {"detector": s.detector, "source": OURS, **_percent(s.quality, (*_IN_BERDS, *_LATER))}
        | {"threshold": s.quality.threshold, "threshold_source": s.threshold_source, "version": s.version}
        | {"n": s.quality.n, "pairs_per_second": s.pairs_per_second}
        for s in scored
    ]
    published = published_detectors().to_dict("records")
    columns = ["detector", "source", *_IN_BERDS, *_LATER]
    columns += [f"{figure}_{end}" for figure in FIGURES for end in ("low", "high")]
    columns += ["threshold", "threshold_source", "version", "n", "pairs_per_second"]
    table = pd.DataFrame([reference, *ours, *published], columns=columns)
    counts = [None, *(s.truncated for s in scored), *(None for _ in published)]
    return table.assign(truncated=pd.Series(counts, dtype=object))  # whole numbers, which floats with NaN would not be


def slice_table(rows: Sequence[LabelledPair], scored: Sequence[Scored]) -> pd.DataFrame:
    """Return the figures of each detector by data set, corpus, stance and length of the passage, if there are at least two
    values.

    Columns: slice, value, n, positives, detector, pct_positive, and accuracy, f1 and auroc with intervals.
    """
    columns = ["slice", "value", "n", "positives", "detector", "pct_positive", *_IN_SLICES]
    columns += [f"{figure}_{end}" for figure in _IN_SLICES for end in ("low", "high")]
    by_slice = [
        {"slice": kind, "value": value, "detector": s.detector, "n": q.n, "positives": q.positives}
        | _percent(q, ("pct_positive", *_IN_SLICES))
        for kind, value, places in _slices(rows)
        for s in scored
        for q in [_part(rows, s, places)]
    ]
    return pd.DataFrame(by_slice, columns=columns)


def domain_table(rows: Sequence[LabelledPair], scored: Sequence[Scored]) -> pd.DataFrame:
    """Return one row per domain and detector in the layout of BERDS's table of other domains, and the published rows.

    A domain is a corpus with the retriever, if rows name one ("wikipedia bm25"). If no row names a corpus or a retriever, the
    domains are the files. `pct_positive` is that of the labels, as in BERDS.
    """
    named = any(row.corpus or row.retriever for row in rows)
    domains: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        domain = " ".join(name for name in (row.corpus, row.retriever) if name) if named else row.file
        domains.setdefault(domain, []).append(place)
    ours = [
        {"domain": domain, "detector": s.detector, "source": OURS, **_percent(q, ("accuracy", "f1"))}
        | {"pct_positive": 100 * q.positives / q.n, "n": q.n}
        for domain, places in domains.items()
        for s in scored
        for q in [_part(rows, s, places)]
    ]
    columns = ["domain", "detector", "source", "accuracy", "f1", "pct_positive"]
    columns += [f"{figure}_{end}" for figure in ("accuracy", "f1") for end in ("low", "high")]
    return pd.DataFrame([*ours, *published_domains().to_dict("records")], columns=[*columns, "n"])


def _percent(quality: Quality, figures: Sequence[str]) -> dict[str, float]:
    """Return figures and their intervals in percent; `pct_positive` is already in percent."""
    values = {name: getattr(quality, name) * (1 if name == "pct_positive" else 100) for name in figures}
    for name in figures:
        if name in quality.intervals:
            values[f"{name}_low"], values[f"{name}_high"] = (100 * end for end in quality.intervals[name])
    return values


def _part(rows: Sequence[LabelledPair], scored: Scored, places: Sequence[int]) -> Quality:
    kept = [rows[place] for place in places]
    probabilities = scored.probabilities[list(places)]
    return quality_of(kept, probabilities, scored.quality.threshold, resamples=_SLICE_RESAMPLES)


def _tuned(
    detector: Detector, scored: Scored, rows: Sequence[LabelledPair], dev: Sequence[LabelledPair], progress: Progress
) -> Scored:
    probabilities, _ = timed_predictions(detector, [row.pair for row in dev], progress=progress)
    threshold, f1 = best_f1(dev, probabilities)
    return rescored(scored, rows, threshold, f"best F1 ({f1:.3f}) on {len(dev):,} rows of split dev")


def _slices(rows: Sequence[LabelledPair]) -> Iterator[Slice]:
    for column in GROUPINGS:
        yield from _by_value(column, [str(getattr(row, column)) for row in rows])
    words = np.array([len(row.pair.passage.split()) for row in rows])
    edges = np.unique(np.quantile(words, np.arange(1, _LENGTHS) / _LENGTHS).astype(np.int64))
    bounds = [f"up to {edges[0]} words", *(f"up to {edge} words" for edge in edges[1:]), f"over {edges[-1]} words"]
    yield from _by_value("length", [bounds[i] for i in np.searchsorted(edges, words)], order=bounds)


def _by_value(kind: str, values: Sequence[str], order: Sequence[str] | None = None) -> Iterator[Slice]:
    places: dict[str, list[int]] = {value: [] for value in (order or sorted(set(values)))}
    for place, value in enumerate(values):
        places[value].append(place)
    filled = {value: rows for value, rows in places.items() if rows}
    if len(filled) > 1:
        yield from ((kind, value or "(not given)", rows) for value, rows in filled.items())
