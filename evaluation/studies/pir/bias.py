"""Which perspectives retrievers bring up by themselves (PIR, tables 3 and 10)."""

import altair as alt
import pandas as pd

from berdseye.data.pir_catalogue import known_task
from berdseye.evaluation.pir.shares import labels_with_sides, perspective_shares
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.studies.pir.paper import comparison_notes, figure, paper_retriever, paper_task
from berdseye.evaluation.studies.pir.recall_cells import cell
from berdseye.evaluation.studies.pir.setting import Part, Setting
from berdseye.evaluation.studies.result import Table
from berdseye.retrieval.queries import Query

_NO_SIDES = ("agnews", "story")
IN_CORPUS = "in the corpus"


def bias(setting: Setting) -> Part:
    """Shares of labels among the relevant passages in the top k of root queries, beside those in the corpus.

    Tasks whose labels are no sides (topic and location, kinds of similarity) or that have one label are left out.
    """
    sided = [s for s in setting.searches if _has_sides(s)]
    left = [s.task.name for s in setting.searches if s not in sided]
    notes = (f"Perspective shares leave out {', '.join(left)}: the labels there are no sides.",) if left else ()
    if not sided:
        return Part(notes=notes)
    cells = []
    for search in sided:
        roots = list(dict.fromkeys(q.root for q in search.task.queries))
        queries = [Query(root, root) for root in roots]
        for name in setting.pipelines:
            ids = search.ranked(setting.parse(name), queries, setting.k, setting.progress)
            for share in perspective_shares(search.task, roots, ids):
                place = {"retriever": paper_retriever(name), "task": paper_task(search), "perspective": share.label}
                paper = figure("pir_bias", "share", **place) if setting.k == 5 else None
                cells.append(cell(share.found, paper, task=search.task.name, pipeline=name, perspective=share.label))
        for share in perspective_shares(search.task, roots, ids):
            whole = share.found._replace(value=share.corpus, low=float("nan"), high=float("nan"), n=len(roots))
            cells.append(cell(whole, task=search.task.name, pipeline=IN_CORPUS, perspective=share.label))
    frame = pd.DataFrame(cells)
    told = comparison_notes(sided, frame)
    caption = f"Perspective of the relevant passages in the top {setting.k} of root queries, % (PIR, tables 3 and 10)"
    table = Table("pir_bias", caption, frame, ("task", "pipeline"), ("perspective",), notes=told)
    chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("value:Q", stack="normalize", title="share"),
            y=alt.Y("pipeline:N", title=None, sort=None),
            color=alt.Color("perspective:N", title=None),
            row=alt.Row("task:N", title=None),
        )
        .resolve_scale(color="independent")
    )
    return Part((table,), {"pir_bias": chart}, notes)


def _has_sides(search: TaskSearch) -> bool:
    facts = known_task(search.task.name)
    return len(labels_with_sides(search.task)) > 1 and (facts is None or facts.name not in _NO_SIDES)
