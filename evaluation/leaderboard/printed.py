"""What papers print for the data sets of a workspace: figures to stand beside measured ones, in grey, and never among them."""

from collections.abc import Mapping

import pandas as pd

from berdseye.data.dataset_names import split_version
from berdseye.data.pir_catalogue import known_task
from berdseye.data.pir_tasks import PirTask
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.berds.beside import paper_name

_TABLES = {"berds_base_k5": "BERDS, table 3", "berds_base_k10": "BERDS, table 17"}
_COLUMNS = ["dataset", "corpus", "pipeline", "value", "source"]
_FAULTY = pd.DataFrame(
    [("sphere", "dpr", d, f"{m}@10") for d in ("arguana", "average") for m in ("MRecall", "Precision")],
    columns=["corpus", "retriever", "dataset", "measure"],
)
"""A copy error of the paper, and what was averaged over it (evaluation/published/README.md)."""


def printed_rows(measure: str, questions: Mapping[str, int]) -> pd.DataFrame:
    """What BERDS prints by this measure for those of the data sets that are its test splits, `questions` by data set: columns
    dataset (as it is called here), corpus, pipeline (as the paper calls its retrievers), value (percent) and source.

    A data set is the published one by its name and its number of questions; versions with edited perspectives are not. The
    paper's average stands under 'average' where exactly its three data sets are asked for.
    """
    ours = {paper: name for name, count in questions.items() if (paper := _berds_test(name, count)) is not None}
    if len(ours) == len(questions) == len(_test_sizes()):
        ours["average"] = "average"
    found = []
    for table, source in _TABLES.items():
        rows = published(table)
        rows = rows[(rows["measure"] == measure) & rows["dataset"].isin(ours)]
        rows = rows.merge(_FAULTY, how="left", indicator=True).query("_merge == 'left_only'")
        found.append(rows.assign(dataset=rows["dataset"].map(ours), pipeline=rows["retriever"], source=source))
    return pd.concat(found).drop_duplicates(_COLUMNS[:3])[_COLUMNS].reset_index(drop=True)


def printed_p_recall(tasks: Mapping[str, PirTask]) -> pd.DataFrame:
    """PIR's p-Recall@5 (table 2) for those of the tasks, by the data sets made of them, that have the size it prints; columns as
    in `printed_rows`."""
    ours = {
        facts.paper: name
        for name, task in tasks.items()
        if (facts := known_task(task.name))
        and (len(task.queries), len(task.passages)) == (facts.queries, facts.passages)
    }
    rows = published("pir_precall5")
    rows = rows[rows["task"].isin(ours)]
    return rows.assign(
        dataset=rows["task"].map(ours),
        corpus="the task's own passages",
        pipeline=rows["retriever"],
        source="PIR, table 2",
    )[_COLUMNS].reset_index(drop=True)


def _berds_test(name: str, questions: int) -> str | None:
    paper = paper_name(name)
    return paper if split_version(name)[0] == name and _test_sizes().get(paper) == questions else None


def _test_sizes() -> dict[str, int]:
    rows = published("berds_dataset")
    return {str(r["dataset"]): int(r["test"]) for r in rows.to_dict("records") if r["dataset"] != "all"}
