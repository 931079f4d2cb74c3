"""What studies found of bias, from their stored results."""

import re

import pandas as pd

from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.result import Table
from berdseye.evaluation.studies.store import Stored, list_results, load_result

SYCOPHANCY, PIR = "berds-sycophancy", "pir"


def results_of(workspace: Workspace, study: str, table: str) -> list[Stored]:
    """The stored results of a study that hold a table, the newest first; what cannot be read is left out."""
    found = []
    for name in list_results(workspace):
        if re.fullmatch(rf"{re.escape(study)}-[0-9a-f]{{8}}", name):
            try:
                held = load_result(workspace, name)
            except BerdseyeError:  # the Studies page says what is wrong with it
                continue
            if any(t.name == table for t in held.tables):
                found.append(held)
    return found


def table_of(result: Stored, name: str) -> Table:
    """A table of a result by its name."""
    return next(table for table in result.tables if table.name == name)


def by_people(results: list[Stored], result: Stored) -> Stored | None:
    """Of some results the one that has the same settings but people's labels; None where there is none, or it is that one."""
    asked = {**result.settings, "labels": "human"}
    return next((r for r in results if r.settings == asked and r.name != result.name), None)


def location_matrices(cells: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """The cells of the table `pir_places` as matrices by task and pipeline, in the form of `evaluation.pir.locations`: those that
    hold nothing, which the table leaves out, are 0."""
    found = {}
    for (task, pipeline), part in cells.groupby(["task", "pipeline"], sort=False):
        wide = part.pivot(index="asked", columns="retrieved", values="value").fillna(0)
        places = sorted(set(wide.columns) | set(wide.index), key=lambda place: (place not in wide.index, place))
        filled = wide.reindex(columns=places, fill_value=0).reset_index()
        long = filled.melt(id_vars="asked", value_vars=places, var_name="retrieved", value_name="share")
        long["share"] /= 100
        found[str(task), str(pipeline)] = long.merge(
            part[["asked", "n"]].drop_duplicates().rename(columns={"n": "queries"}), on="asked"
        )
    return found
