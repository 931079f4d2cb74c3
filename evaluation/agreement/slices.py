"""Agreement within slices: of items (data set, corpus, stance), of time, and of versions of the guidelines."""

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
    """Everyone's agreement for each value of a property of items; `about` holds it by item.

    A row a part and coefficient: slice (`name`), part, n_labels, and the fields of `Statistic`. With `questions` int64[n_items]
    intervals are over whole questions.
    """
    values = about.reindex(list(labels.items)).astype(object)
    given = values.where(values.notna() & (values.astype(str).str.strip() != ""), NOT_GIVEN).astype(str).to_numpy()
    rows = [
        _rows(
            name,
            value,
            labels.of_items(given == value),
            positive,
            None if questions is None else questions[given == value],
        )
        for value in sorted(set(given.tolist()), key=lambda v: (v == NOT_GIVEN, v))
    ]
    return _table(rows)


def over_time(
    labels: Aligned, rows: pd.DataFrame, period: Period, positive: str | None = None, questions: Ints | None = None
) -> pd.DataFrame:
    """The same for each day, week or month (UTC). An item belongs to the time of its last label among `rows` (item, at)."""
    known = rows.loc[rows["at"].notna(), ["item", "at"]]
    place, items = pd.factorize(known["item"])
    moment, moments = pd.factorize(known["at"].astype(str), sort=True)
    last = np.zeros(len(items), dtype=np.int64)
    np.maximum.at(last, place, moment)
    return item_slices(labels, pd.Series(_start_of(moments, period)[last], index=items), period, positive, questions)


def version_slices(
    rows: pd.DataFrame, values: Sequence[str] | None, column: str = "guidelines", positive: str | None = None
) -> pd.DataFrame:
    """The same for each version of the guidelines: labels given under another version count as not given."""
    if column not in rows.columns:
        return _table([])
    texts = rows[column].astype(object)
    given = texts.where(texts.notna() & (texts.astype(str) != ""), NOT_GIVEN).astype(str)
    return _table(
        [
            _rows(column, version, aligned(rows[given == version], values), positive)
            for version in sorted(given.unique())
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
    found = pd.DataFrame(
        together(labels, positive=positive, questions=questions, resamples=RESAMPLES), columns=list(Statistic._fields)
    )
    found.insert(0, "n_labels", int(np.count_nonzero(labels.codes >= 0)))
    found.insert(0, "part", value)
    found.insert(0, "slice", name)
    return found


def _table(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))
