"""Published figures of the four papers, for comparison with measured ones. README.md in this folder lists each file and its
faults."""

from importlib.resources import files

import pandas as pd


def published(name: str) -> pd.DataFrame:
    """Return a published table by the name of its file without extension, such as `berds_base_k5`; all values are as
    published."""
    with (files("berdseye.evaluation") / "published" / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)
