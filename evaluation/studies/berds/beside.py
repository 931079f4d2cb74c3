"""Our cells and the published ones side by side."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

_RETRIEVERS = ("dpr", "contriever", "tart", "nv-embed-v2")
NOTE = (
    "Figures in brackets are BERDS's own, on its test splits, its corpora and labels of its fine-tuned detector; compare them "
    "only with ours on the same."
)


def paper_name(name: str) -> str:
    """A name as the published tables write it: `berds-kialo-test` is kialo, `dense(facebook/contriever-msmarco)` is contriever.

    A pipeline of several stages or with settings of its own, and whatever the paper has no name for, stays as it is.
    """
    plain = name.removeprefix("berds-").removesuffix("-test")
    dense = re.fullmatch(r"dense\(([^,()]+)\)", plain)
    if dense is None:
        return plain
    return next((r for r in _RETRIEVERS if r in dense[1].lower()), plain)


def beside(ours: pd.DataFrame, theirs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Ours with the column `published` where `theirs` (columns `keys` and `value`) has a figure for the same keys under the
    names of the paper; below them the published cells that we have no number for."""
    found = ours.copy()
    names = [tuple(paper_name(str(row[k])) for k in keys) for row in ours.to_dict("records")]
    held = {tuple(str(row[k]) for k in keys): float(row["value"]) for row in theirs.to_dict("records")}
    found["published"] = [held.get(name, np.nan) for name in names]
    rest = [
        {**dict(zip(keys, name, strict=True)), "value": np.nan, "published": value}
        for name, value in held.items()
        if name not in set(names)
    ]
    return pd.concat([found, pd.DataFrame(rest)], ignore_index=True) if rest else found
