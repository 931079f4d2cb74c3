"""Published figures of the four papers, for comparison with measured ones. README.md in this folder lists each file and its
faults."""

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def published(name: str) -> "pd.DataFrame":
    """Return a published table by the name of its file without extension, such as `berds_base_k5`; all values are as
    published."""
    import pandas as pd

    with (files("berdseye.evaluation") / "published" / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)
