"""Figures that the four papers print, as facts to stand beside ours. README.md in this folder lists each file and its faults."""

from importlib.resources import files

import pandas as pd


def published(name: str) -> pd.DataFrame:
    """A published table by its file's name without ending, such as `berds_base_k5`; every value is as printed."""
    with (files("berdseye.evaluation") / "published" / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def published_names() -> list[str]:
    """The names of all published tables."""
    return sorted(
        f.name.removesuffix(".csv")
        for f in (files("berdseye.evaluation") / "published").iterdir()
        if f.name.endswith(".csv")
    )
