"""Agreement within slices: by a property of items (data set, corpus, stance), by time, and by version of the guidelines."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.evaluation.agreement.alignment import Aligned, Ints, aligned
from berdseye.evaluation.agreement.together import Statistic, together

Period = Literal["day", "week", "month"]
PERIODS: tuple[Period, ...] = get_args(Period)
COLUMNS = ("slice", "part", "n_labels", *Statistic._fields)
NOT_GIVEN = "(not given)"
RESAMPLES = 500


def item_slices(
    labels: Aligned, about: pd.Series, name: str, positive: str | None = None, questions: Ints | None = None
) -> pd.DataFrame:
    """Return the agreement of all raters for each value of a property of items; `about` holds the property by item.

    One row per part and coefficient. Columns: slice (`name`), part, n_labels, and the fields of `Statistic`. With `questions`
    int64[n_items], the bootstrap draws whole questions.
    """
    values = about.reindex(list(labels.items)).astype(object)
    parts = values.where(values.notna() & (values.astype(str).str.strip() != ""), NOT_GIVEN).astype(str).to_numpy()
    rows = [
        _rows(
            name,
            value,
            labels.of_items(parts == value),
            positive,
            None if questions is None else questions[parts == value],
        )
        for value in sorted(set(parts.tolist()), key=lambda v: (v == NOT_GIVEN, v))
    ]
    return _table(rows)


def over_time(
    labels: Aligned, rows: pd.DataFrame, period: Period, positive: str | None = None, questions: Ints | None = None
) -> pd.DataFrame:
    """Return the agreement of all raters for each day, week or month (UTC), with the columns of `item_slices`.

    An item belongs to the period of its last label among `rows` (columns item, at).
    """
    known = rows.loc[rows["at"].notna(), ["item", "at"]]
    place, items = pd.factorize(known["item"])
    moment, moments = pd.factorize(known["at"].astype(str), sort=True)
    last = np.zeros(len(items), dtype=np.int64)
    np.maximum.at(last, place, moment)
    return item_slices(labels, pd.Series(_start_of(moments, period)[last], index=items), period, positive, questions)


def version_slices(
    rows: pd.DataFrame, values: Sequence[str] | None, column: str = "guidelines", positive: str | None = None
) -> pd.DataFrame:
    """Return the agreement of all raters for each version of the guidelines, with the columns of `item_slices`.

    For a version, only the labels given under it count.
    """
    if column not in rows.columns:
        return _table([])
    texts = rows[column].astype(object)
    versions = texts.where(texts.notna() & (texts.astype(str) != ""), NOT_GIVEN).astype(str)
    return _table(
        [
            _rows(column, version, aligned(rows[versions == version], values), positive)
            for version in sorted(versions.unique())
        ]
    )


def _start_of(moments: pd.Index, period: Period) -> npt.NDArray[np.object_]:
    days = pd.Series(moments, dtype=str).str[:10]
    if period == "month":
        days = days.str[:7]
    elif period == "week":
        dates = pd.to_datetime(days, errors="coerce")
        days = (dates - pd.to_timedelta(dates.dt.day_of_week, unit="D")).dt.strftime("%Y-%m-%d")
    return np.asarray(days.to_numpy(dtype=object))


def _rows(name: str, value: str, labels: Aligned, positive: str | None, questions: Ints | None = None) -> pd.DataFrame:
    table = pd.DataFrame(
        together(labels, positive=positive, questions=questions, resamples=RESAMPLES), columns=list(Statistic._fields)
    )
    table.insert(0, "n_labels", int(np.count_nonzero(labels.codes >= 0)))
    table.insert(0, "part", value)
    table.insert(0, "slice", name)
    return table


def _table(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))
