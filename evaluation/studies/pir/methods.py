"""What projections and the other ways of using a perspective's vector bring (PIR, tables 4 and 8)."""

import pandas as pd

from berdseye.data.pir_catalogue import known_task
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.pir.paper import comparison_notes, figure, paper_column, paper_retriever
from berdseye.evaluation.studies.pir.recall_cells import cell, p_recall_estimate, with_average
from berdseye.evaluation.studies.pir.setting import AVERAGE, Part, Setting
from berdseye.evaluation.studies.result import Table
from berdseye.retrieval.projection.forms import FORMS

BASELINE = "baseline"
_BY_DIFFERENCE = ("pap", "pap+", "cast", "cast+")
_DIFFERENCE_NOTE = (
    "AmbigQA: pap, pap+, cast and cast+ take q - r as the perspective's vector, as the released notebook does."
)


def methods(setting: Setting) -> Part:
    """p-Recall@k of every method on the first encoder, by task and on average."""
    encoder, searches, cells = setting.encoders[0], list(setting.searches), []
    simcse = paper_retriever(encoder) == "simcse-sup" and setting.k == 5
    for method in _in_order():
        held = with_average(
            {s.task.name: p_recall_estimate(setting, s, method_pipeline(encoder, method, s)) for s in searches}
        )
        for task, estimate in held.items():
            paper = figure("pir_methods_by_task", "value", method=method, task=paper_column(searches, task))
            cells.append(cell(estimate, paper if simcse else None, method=method, task=task))
    frame = pd.DataFrame(cells)
    notes = comparison_notes(searches, frame)
    caption = f"p-Recall@{setting.k} of methods on {encoder}"
    tables = [Table("pir_methods_by_task", f"{caption} (PIR, table 8)", frame, ("method",), ("task",), notes=notes)]
    if len(searches) > 1:
        mean = frame[frame["task"] == AVERAGE]
        tables.insert(
            0, Table("pir_methods", f"{caption}, mean over tasks (PIR, table 4)", mean, ("method",), ("task",))
        )
    told = (_DIFFERENCE_NOTE,) if any(_is_ambigqa(s) for s in searches) else ()
    shown = tables[0].cells  # the mean, where there are several tasks
    chart = dots(shown, f"p-Recall@{setting.k}, percent ({shown['task'].iloc[0]})", row="method")
    return Part(tuple(tables), {"pir_methods": chart}, told)


def _in_order() -> list[str]:
    """The methods as Table 8 lists them, and then any that it does not know."""
    listed = [m for m in published("pir_methods_by_task")["method"].unique() if m == BASELINE or m in FORMS]
    return list(dict.fromkeys([*listed, *FORMS]))


def method_pipeline(encoder: str, method: str, search: TaskSearch) -> str:
    """The pipeline of a method for a task."""
    if method == BASELINE:
        return encoder
    difference = "(perspective=difference)" if _is_ambigqa(search) and method in _BY_DIFFERENCE else ""
    return f"{encoder} >> {method}{difference}"


def _is_ambigqa(search: TaskSearch) -> bool:
    facts = known_task(search.task.name)
    return facts is not None and facts.name == "ambigqa"
