"""Whether a language model's reading of a query can stand in for the stated perspective (PIR, table 6)."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.evaluation.intervals import mean_with_interval
from berdseye.evaluation.pir.extraction import Extractions, extractions, with_perspectives
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.pir.paper import comparison_notes, figure, paper_retriever, paper_task
from berdseye.evaluation.studies.pir.recall_cells import cell
from berdseye.evaluation.studies.pir.setting import Part, Setting
from berdseye.evaluation.studies.result import Table

_PAPERS_MODEL = "gpt-3.5-turbo"


def extraction(setting: Setting) -> Part:
    """QA-F1 of named perspectives, and Recall@k with the stated and with the named ones, over a sample of queries a task.

    Both are asked as perspective and root query together. A query in which the model names nothing counts as not found.
    """
    assert setting.model is not None
    assert setting.cache is not None
    cells, notes = list[dict[str, Any]](), list[str]()
    same = _PAPERS_MODEL in setting.model.name and setting.k == 5
    for search in setting.searches:
        named = extractions(
            search.task, setting.model, setting.cache, setting.sample, seed=setting.seed, progress=setting.progress
        )
        silent = sum(not text for text in named.named)
        if silent:
            notes.append(f"{search.task.name}: {setting.model.name} named nothing in {silent} of {len(named.named)}.")
        for name in setting.pipelines:
            retriever = paper_retriever(name)
            place = {"task": paper_task(search), "retriever": "simcse" if retriever == "simcse-sup" else retriever}
            stated = [search.task.queries[i].perspective for i in named.places]
            figures = (
                ("QA-F1", "qa_f1", named.overlap),
                (f"Recall@{setting.k} stated", "recall5_annotated", _hits(setting, search, name, named, stated)),
                (f"Recall@{setting.k} named", "recall5_generated", _hits(setting, search, name, named, named.named)),
            )
            for shown, column, values in figures:
                paper = figure("pir_extraction", column, **place) if same else None
                estimate = mean_with_interval(values)
                cells.append(cell(estimate, paper, task=search.task.name, pipeline=name, figure=shown))
    frame = pd.DataFrame(cells)
    told = comparison_notes(list(setting.searches), frame)
    caption = f"Perspectives named by {setting.model.name}, {setting.sample} queries a task at most (PIR, table 6)"
    table = Table("pir_extraction", caption, frame, ("task", "pipeline"), ("figure",), notes=told)
    drawn = frame.assign(row=frame["pipeline"] + ", " + frame["task"])
    return Part((table,), {"pir_extraction": dots(drawn, "percent", row="row", colour="figure")}, tuple(notes))


def _hits(
    setting: Setting, search: TaskSearch, name: str, named: Extractions, perspectives: list[str]
) -> npt.NDArray[np.float64]:
    """Success of each sampled query, float64[n_sampled], 0 where it has no perspective."""
    values = np.zeros(len(named.places))
    known = [row for row, text in enumerate(perspectives) if text]
    queries = [search.task.queries[named.places[row]] for row in known]
    if queries:
        asked = with_perspectives(queries, [perspectives[row] for row in known])
        ids = search.ranked(setting.parse(name), asked, setting.k, setting.progress)
        values[known] = [bool(q.relevant & set(row)) for q, row in zip(queries, ids.tolist(), strict=True)]
    return values
