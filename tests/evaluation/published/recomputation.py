"""Printed digits recomputed from other printed digits, with the room that rounding leaves; and those that no counts give.

A cell's value is computed from the printed inputs as they are. Its interval is what the inputs allow before they were rounded.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from berdseye.evaluation.answer_measures.scoring import WEIGHTS, normalised_ranks, weighted_ranks
from berdseye.evaluation.partial.rank_agreement import error_rate
from berdseye.evaluation.published import published

TEST_QUESTIONS = {"arguana": 750, "kialo": 774, "opinionqa": 882}
_TINY = 1e-9


def transcribed(name: str) -> Any:
    """The published table of this name; its columns have types that pandas does not state."""
    return published(name)


class Span(NamedTuple):
    """A number, and the least and the greatest that it may be before rounding."""

    value: float
    low: float
    high: float


class Cell(NamedTuple):
    """A printed number with its decimals, and what was recomputed for it."""

    name: str
    printed: float
    decimals: int
    found: Span

    def outcome(self) -> str:
        """`equal`: the recomputed value rounds (halves up) to the printed digits; `rounding`: the inputs before they were rounded
        allow the printed digits; `fault`: nothing that rounds to the printed inputs gives them."""
        if np.isnan(self.found.value):
            return "fault"
        step = Decimal(1).scaleb(-self.decimals)
        rounded = Decimal(repr(round(float(self.found.value), 9))).quantize(step, ROUND_HALF_UP)
        if rounded == Decimal(repr(float(self.printed))).quantize(step):
            return "equal"
        half = float(step) / 2
        inside = self.found.low - half - _TINY <= self.printed <= self.found.high + half + _TINY
        return "rounding" if inside else "fault"


def span(printed: float, decimals: int) -> Span:
    half = 0.5 * 10**-decimals
    return Span(printed, printed - half, printed + half)


def exact(value: float) -> Span:
    return Span(value, value, value)


def total(parts: Iterable[Span]) -> Span:
    return Span(*(sum(values) for values in zip(*parts, strict=True)))


def less(whole: Span, part: Span) -> Span:
    return Span(whole.value - part.value, whole.low - part.high, whole.high - part.low)


def weighted(parts: Sequence[Span], weights: Sequence[float]) -> Span:
    """The mean by weights that are exact and not negative."""
    return Span(*(float(np.average(values, weights=weights)) for values in zip(*parts, strict=True)))


def mean(parts: Iterable[Span]) -> Span:
    listed = list(parts)
    return weighted(listed, [1.0] * len(listed))


def _means(table: Any, keys: Sequence[str], column: str, value: str, decimals: int) -> Iterator[Cell]:
    """A cell for each group's row `average`, from the other rows of the group."""
    for key, rows in table.groupby(list(keys), sort=False):
        parts, printed = rows[rows[column] != "average"][value], rows[rows[column] == "average"][value]
        if len(parts) and len(printed):
            name = " ".join(map(str, key)) if isinstance(key, tuple) else str(key)
            yield Cell(name, float(printed.iloc[0]), decimals, mean(span(p, decimals) for p in parts))


def berds_dataset() -> Iterator[Cell]:
    """The whole of each row from its splits; the row `all` from the data sets."""
    table = transcribed("berds_dataset").set_index("dataset")
    sets = table.drop(index="all")
    for name, row in sets.iterrows():
        yield Cell(f"{name} total", row["total"], 0, exact(row["dev"] + row["test"]))
    for column in ("total", "dev", "test"):
        yield Cell(f"all {column}", table.loc["all", column], 0, exact(float(sets[column].sum())))
    # Kialo has 2.85 to 2.95 perspectives a question, and the others, with two sides, exactly two.
    held = [span(v, 1) if name == "kialo" else exact(v) for name, v in sets["avg_perspectives"].items()]
    yield Cell("all perspectives", table.loc["all", "avg_perspectives"], 2, weighted(held, sets["total"].tolist()))
    ends = [
        np.average(
            sets["avg_words_per_perspective"], weights=sets["total"] * sets["avg_perspectives"].replace(2.9, kialo)
        )
        for kialo in (2.9, 2.85, 2.95)
    ]
    words = Span(float(ends[0]), float(min(ends)) - 0.005, float(max(ends)) + 0.005)
    yield Cell("all words", table.loc["all", "avg_words_per_perspective"], 2, words)


def _base(k: int) -> Iterator[Cell]:
    table = transcribed(f"berds_base_k{k}")
    return _means(table[table["measure"] != "Precision@1"], ("corpus", "retriever", "measure"), "dataset", "value", 2)


def berds_diversity() -> Iterator[Cell]:
    """The default rows are the averages of the base table."""
    base = (
        transcribed("berds_base_k5")
        .query("dataset == 'average'")
        .set_index(["corpus", "retriever", "measure"])["value"]
    )
    for row in transcribed("berds_diversity").query("method == 'default'").itertuples():
        name = (row.corpus, row.retriever, row.measure)
        yield Cell(" ".join(name), row.value, 2, exact(float(base[name])))


def debateqa_ranks() -> Iterator[Cell]:
    """Ranks of the mean ranks over two evaluators."""
    table = transcribed("debateqa_main")
    for what, columns, lower in (
        ("pd", ("pd_qwen2_05b", "pd_gpt2"), True),
        ("da", ("da_phi3_medium", "da_qwen2_15b"), False),
    ):
        found = normalised_ranks([table[c].to_numpy(float) for c in columns], lower_is_better=lower)
        for model, printed, rank in zip(table["model"], table[f"norm_rank_{what}"], found.tolist(), strict=True):
            yield Cell(f"{model} {what}", printed, 0, exact(rank))


def debateqa_weighted() -> Iterator[Cell]:
    """The order by k z(1/P.D.) + (1-k) z(D.A.), with P.D. of Qwen2 0.5B and D.A. of Phi-3 medium (table 2)."""
    main, printed = (
        transcribed("debateqa_main"),
        transcribed("debateqa_weighted_rank").set_index(["k", "model"])["rank"],
    )
    for k in WEIGHTS:
        found = weighted_ranks(main["pd_qwen2_05b"].to_numpy(float), main["da_phi3_medium"].to_numpy(float), k)
        for model, rank in zip(main["model"], found.tolist(), strict=True):
            yield Cell(f"{model} k={k:g}", int(printed[k, model]), 0, exact(rank))


def debateqa_sites() -> Iterator[Cell]:
    """The sites of table 6 sum to the web-sourced questions of table 7."""
    table = transcribed("debateqa_sources")
    web = table.query("source == 'web sourced'")["initial"].iloc[0]
    yield Cell("web sourced", web, 0, exact(float(table.query("level == 'website'")["initial"].sum())))


def debateqa_origins() -> Iterator[Cell]:
    rows = transcribed("debateqa_sources").query("level == 'origin'").set_index("source")
    for column in ("initial", "after_dedupe"):
        parts = rows.drop(index="total")[column]
        yield Cell(f"total {column}", rows.loc["total", column], 0, exact(float(parts.sum())))


DISPUTED, RESPONSES = 380, 500
"""Positive labels among the responses of DebateQA's table 15: 76%, which every row but one fits."""


def debateqa_da() -> Iterator[Cell]:
    """AUROC and MCC from accuracy and F1, for 500 responses of which 380 are labelled as disputed.

    500 (1 - accuracy) replies are wrong; F1 = 2 tp / (2 tp + wrong) gives tp, the hits; so all four counts are known.
    """
    for row in transcribed("debateqa_da_accuracy").itertuples():
        wrong = round(RESPONSES * (1 - row.acc))
        tables = [(tp, *_rates(tp, wrong - (DISPUTED - tp))) for tp in range(DISPUTED + 1)]
        fits = [
            (area, mcc)
            for tp, area, mcc in tables
            if abs(2 * tp / (2 * tp + wrong) - row.f1) <= 0.0005 + _TINY and not np.isnan(mcc)
        ]
        for n, (what, printed) in enumerate((("auroc", row.auroc), ("mcc", row.mcc))):
            values = [fit[n] for fit in fits]
            found = Span(values[len(values) // 2], min(values), max(values)) if values else exact(np.nan)
            yield Cell(f"{row.metric} {row.backbone} {what}", printed, 3, found)


def _rates(tp: int, fp: int) -> tuple[float, float]:
    """AUROC and MCC of a 2x2 table with these hits and false alarms; NaN where there is no such table."""
    tn, fn = RESPONSES - DISPUTED - fp, DISPUTED - tp
    root = math.sqrt(abs((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    if min(fp, tn, fn) < 0 or not root:
        return math.nan, math.nan
    return (tp / DISPUTED + tn / (RESPONSES - DISPUTED)) / 2, (tp * tn - fp * fn) / root


def pir_recall() -> Iterator[Cell]:
    return _means(transcribed("pir_precall5"), ("retriever",), "task", "value", 1)


def pir_shares() -> Iterator[Cell]:
    """The last printed share of each retriever and task, from the others and a sum of 100."""
    for (retriever, task), rows in transcribed("pir_bias").groupby(["retriever", "task"], sort=False):
        if len(rows) == {"perspectrum": 2, "allsides": 3}[task]:
            *others, last = rows["share"]
            yield Cell(f"{retriever} {task}", last, 1, less(exact(100), total(span(share, 1) for share in others)))


def pir_methods() -> Iterator[Cell]:
    """Table 4 is the averages of table 8."""
    by_task = transcribed("pir_methods_by_task").query("task == 'average'").set_index("method")["value"]
    for row in transcribed("pir_methods").itertuples():
        yield Cell(row.method, row.average, 1, exact(float(by_task[row.method])))


def pir_methods_by_task() -> Iterator[Cell]:
    """The averages of the tasks; and the baseline, which is SimCSE-sup of table 2."""
    table = transcribed("pir_methods_by_task")
    yield from _means(table, ("method",), "task", "value", 1)
    base = transcribed("pir_precall5").query("retriever == 'simcse-sup'").set_index("task")["value"]
    for row in table.query("method == 'baseline' and task != 'average'").itertuples():
        yield Cell(f"baseline {row.task}", row.value, 1, exact(float(base[row.task])))


def pir_backbones() -> Iterator[Cell]:
    """Averages of SimCSE-base-sup from table 4; improvements over the plain backbone of table 2, or, for the large ones, whose
    plain values are not printed, PAP+'s from PAP's."""
    table = transcribed("pir_backbones").set_index(["method", "backbone"])
    printed = transcribed("pir_methods").set_index("method")["average"]
    plain = transcribed("pir_precall5").query("task == 'average'").set_index("retriever")["value"]
    for method, (backbone, name) in product(
        ("pap", "pap+"), (("simcse-base-sup", "simcse-sup"), ("simcse-base-unsup", "simcse-unsup"))
    ):
        row = table.loc[(method, backbone)]
        if backbone == "simcse-base-sup":
            yield Cell(f"{method} {backbone} average", row["average"], 1, exact(float(printed[method])))
        gain = less(span(row["average"], 1), span(float(plain[name]), 1))
        yield Cell(f"{method} {backbone} improvement", row["improvement"], 1, gain)
    for backbone in ("simcse-large-sup", "simcse-large-unsup"):
        one, other = table.loc[("pap", backbone)], table.loc[("pap+", backbone)]
        base = less(span(one["average"], 1), span(one["improvement"], 1))
        yield Cell(f"pap+ {backbone} improvement", other["improvement"], 1, less(span(other["average"], 1), base))


def _errors(table: str, tau: str, keys: Sequence[str]) -> Iterator[Cell]:
    for row in transcribed(table).to_dict("records"):
        printed = span(row[tau], 3)
        found = Span(*(float(error_rate(t)) for t in (printed.value, printed.high, printed.low)))
        yield Cell(" ".join(str(row[key]) for key in keys), row["error_rate"], 2, found)


def dmerit_distribution() -> Iterator[Cell]:
    """The queries of all buckets, and their mean evidence."""
    rows = transcribed("dmerit_distribution").set_index("members")
    parts = rows.drop(index="all")
    yield Cell("all queries", rows.loc["all", "queries"], 0, exact(float(parts["queries"].sum())))
    found = weighted([span(v, 1) for v in parts["avg_evidence"]], parts["queries"].tolist())
    yield Cell("all evidence", rows.loc["all", "avg_evidence"], 2, found)


def dmerit_facts() -> Iterator[Cell]:
    """The arithmetic of the audit (section 2.4 and appendix E), and the mean of section 2.6."""
    facts = transcribed("dmerit_coverage")
    deep = facts["pool_depth"] == 100
    shallow, extrapolated = (
        rows.drop_duplicates("fact").set_index("fact")["value"] for rows in (facts[~deep], facts[deep])
    )
    pooled, known = shallow["unique pooled passages"], shallow["pooled passages already annotated"]
    of_audit = shallow["evidence of the dataset in the audit queries"]
    wrong = shallow["disagreements on relevant"] + shallow["disagreements on not relevant"]
    pairs = shallow["gpt-4 pairs checked by a rater"]
    new = extrapolated["new evidence"]
    for source, name, decimals, value in (
        (shallow, "pooled passages sent to raters", 0, pooled - known),
        (shallow, "pooled evidence", 0, known + shallow["new evidence"]),
        (shallow, "positives in the pool", 1, 100 * shallow["pooled evidence"] / pooled),
        (
            shallow, "positives among those annotations", 0,
            100 * of_audit / shallow["annotations of the dataset in the audit queries"],
        ),
        (shallow, "new evidence relative to the dataset", 1, 100 * shallow["new evidence"] / of_audit),
        (shallow, "rater agrees with gpt-4", 1, 100 * (pairs - wrong) / pairs),
        (shallow, "evidence per query mean", 2, shallow["evidence"] / shallow["queries"]),
        (extrapolated, "pooled evidence already in the dataset", 0, extrapolated["pooled evidence"] - new),
        (extrapolated, "dataset coverage of identified evidence", 1, 100 * of_audit / (of_audit + new)),
        (extrapolated, "pool coverage of identified evidence", 1, 100 * extrapolated["pooled evidence"] / (of_audit + new)),
    ):  # fmt: skip
        yield Cell(name, float(source[name]), decimals, exact(float(value)))


RECOMPUTED: Mapping[str, Callable[[], Iterator[Cell]]] = {
    "BERDS table 1": berds_dataset,
    "BERDS table 3": lambda: _base(5),
    "BERDS table 4": berds_diversity,
    "BERDS table 6": lambda: _means(transcribed("berds_union"), ("corpus",), "dataset", "mrecall", 2),
    "BERDS table 17": lambda: _base(10),
    "DebateQA table 2": debateqa_ranks,
    "DebateQA table 6": debateqa_sites,
    "DebateQA table 7": debateqa_origins,
    "DebateQA table 15": debateqa_da,
    "DebateQA figure 3": debateqa_weighted,
    "PIR table 2": pir_recall,
    "PIR tables 3 and 10": pir_shares,
    "PIR table 4": pir_methods,
    "PIR table 8": pir_methods_by_task,
    "PIR table 9": pir_backbones,
    "D-MERIT table 2": dmerit_distribution,
    "D-MERIT table 8": lambda: _errors("dmerit_partial_tau", "partial_tau", ("k", "p_min")),
    "D-MERIT table 9": lambda: _errors("dmerit_single_relevant", "tau", ("k", "selection")),
    "D-MERIT sections 2.3 to 2.6": dmerit_facts,
}
"""What other printed digits determine, by the name of the table."""


def no_fraction(printed: float, of: int, decimals: int = 2) -> bool:
    """Whether no count of `of` is this percentage, rounded to these decimals."""
    count = round(printed * of / 100)
    return all(abs(100 * n / of - printed) > 0.5 * 10**-decimals + _TINY for n in (count - 1, count, count + 1))


def _no_fractions(name: str, measure: str, of: int) -> Iterator[str]:
    for row in transcribed(name).query("dataset != 'average' and measure == @measure").itertuples():
        if no_fraction(row.value, TEST_QUESTIONS[row.dataset] * of):
            yield f"{row.corpus} {row.retriever} {row.dataset} {measure}"


def no_counts(pairs: int, positives: int | None, shown: Mapping[str, float]) -> bool:
    """Whether no 2x2 table of `pairs` has this accuracy, F1 and percentage positive, each printed with one decimal.

    The percentage is of the labels if `positives` is None, otherwise of the predictions.
    """
    share = round(shown["pct_positive"] * pairs / 100)
    for near in range(share - 2, share + 3):
        if abs(100 * near / pairs - shown["pct_positive"]) > 0.05 + _TINY:
            continue
        labelled, predicted = (near, np.arange(pairs + 1)) if positives is None else (positives, np.array([near]))
        hits = np.arange(labelled + 1)[:, None]
        wrong = labelled + predicted - 2 * hits
        possible = (hits <= predicted) & (predicted - hits <= pairs - labelled) & (labelled + predicted > 0)
        f1 = 200 * hits / np.maximum(labelled + predicted, 1)
        accuracy = 100 * (pairs - wrong) / pairs
        near_enough = (abs(f1 - shown["f1"]) <= 0.05 + _TINY) & (abs(accuracy - shown["accuracy"]) <= 0.05 + _TINY)
        if (possible & near_enough).any():
            return False
    return True


def impossible_detectors() -> Iterator[str]:
    """Rows that no pooled table of 542 pairs with 91 positive ones has; two people shared 176 pairs, so that row is left out."""
    for row in transcribed("berds_detectors").dropna().to_dict("records"):
        if row["setting"] not in ("human", "label distribution") and no_counts(542, 91, row):
            yield f"{row['model']} {row['setting']}"


def impossible_domains() -> Iterator[str]:
    """Rows that no pooled table of 240 to 300 pairs has (92.1% is no fraction of 300, so some pairs were left out)."""
    for row in transcribed("berds_detector_ood").to_dict("records"):
        if all(no_counts(pairs, None, row) for pairs in range(240, 301)):
            yield f"{row['corpus']} {row['retriever']}"


def impossible_extractions() -> Iterator[str]:
    """Recall over 50 queries is even in percent."""
    for row in transcribed("pir_extraction").itertuples():
        for kind in ("annotated", "generated"):
            if no_fraction(getattr(row, f"recall5_{kind}"), 50, 0):
                yield f"{row.task} {row.retriever} {kind}"


def impossible_downstream() -> Iterator[str]:
    """Accuracy over 120 questions."""
    for row in transcribed("pir_downstream").query("measure == 'accuracy'").itertuples():
        if no_fraction(row.value, 120, 1):
            yield row.retriever


IMPOSSIBLE: Mapping[str, Callable[[], Iterator[str]]] = {
    "BERDS table 3": lambda: _no_fractions("berds_base_k5", "MRecall@5", 1),
    "BERDS table 17": lambda: _no_fractions("berds_base_k10", "MRecall@10", 1),
    "BERDS table 7": impossible_detectors,
    "BERDS second version table 18": impossible_domains,
    "PIR table 5": impossible_downstream,
    "PIR table 6": impossible_extractions,
}
"""Printed cells or rows that no counts give, by the name of the table."""
