"""PIR's printed tables recomputed from their rows; what does not match is what evaluation/published/README.md lists."""

from decimal import ROUND_HALF_UP, Decimal

import pandas as pd
import pytest

from berdseye.evaluation.published import published
from berdseye.evaluation.studies.pir.paper import paper_retriever


def off(printed: pd.Series, recomputed: pd.Series, half: float = 0.05) -> dict[str, tuple[float, float]]:
    """Where a printed figure is further from the recomputed one than rounding to a decimal allows."""
    both = pd.DataFrame({"printed": printed, "recomputed": recomputed}).dropna()
    far = both[(both["printed"] - both["recomputed"]).abs() > half + 1e-9]
    return {str(name): (float(row["printed"]), round(float(row["recomputed"]), 2)) for name, row in far.iterrows()}


@pytest.mark.parametrize(
    ("table", "name", "faults"),
    [("pir_precall5", "retriever", {}), ("pir_methods_by_task", "method", {"pap+": "46.5"})],
)
def test_macro_averages_follow_from_the_tasks(table: str, name: str, faults: dict[str, str]) -> None:
    """Tables 2 and 8, halves rounded up (add is 45.75, printed 45.8): pap+ is 46.45, yet printed 46.4."""
    cells = published(table).pivot(index=name, columns="task", values="value")
    assert off(cells["average"], cells.drop(columns="average").mean(axis=1)) == {}
    found = {}
    for row, printed in cells["average"].items():
        tasks = [Decimal(str(value)) for value in cells.drop(columns="average").loc[row]]
        rounded = (sum(tasks) / len(tasks)).quantize(Decimal("0.1"), ROUND_HALF_UP)
        if rounded != Decimal(str(printed)):
            found[row] = str(rounded)
    assert found == faults


def test_table_4_is_the_averages_of_table_8() -> None:
    by_task = published("pir_methods_by_task").query("task == 'average'").set_index("method")["value"]
    assert off(published("pir_methods").set_index("method")["average"], by_task, half=0.0) == {}


def test_table_9_agrees_with_table_4_and_with_its_own_improvements() -> None:
    """Average less improvement is the plain backbone, the same for PAP and PAP+, and 44.3 for SimCSE-sup (table 2)."""
    table = published("pir_backbones")
    plain = (table["average"] - table["improvement"]).groupby(table["backbone"]).agg(["min", "max"])
    assert ((plain["max"] - plain["min"]) <= 0.1 + 1e-9).all()
    assert plain.loc["simcse-base-sup"].tolist() == pytest.approx([44.3, 44.3])


def test_shares_sum_to_a_hundred() -> None:
    """Tables 3 and 10: but for TART on Perspectrum (107.5), and for Instructor-large, which lost its third number."""
    sums = published("pir_bias").groupby(["retriever", "task"])["share"].sum()
    wrong = {key: round(float(total), 1) for key, total in sums.items() if abs(total - 100) > 0.15}
    assert wrong == {("tart", "perspectrum"): 107.5, ("instructor-large", "allsides"): 67.0}


def test_recalls_over_fifty_queries_are_even() -> None:
    """Table 6: percentages of 50 are even, but 21 (BM25 on AmbigQA) is printed."""
    table = published("pir_extraction")
    cells = table.melt(["task", "retriever"], ["recall5_annotated", "recall5_generated"])
    assert [(r.task, r.retriever, r.value) for r in cells.itertuples() if r.value % 2] == [("ambigqa", "bm25", 21)]


def test_totals_of_table_1() -> None:
    """7,494 queries over 10,286 passages."""
    table = published("pir_datasets")
    assert (table["queries"].sum(), table["corpus_size"].sum()) == (7494, 10286)


def test_the_contriever_of_the_paper_is_the_one_trained_on_ms_marco() -> None:
    assert paper_retriever("dense(contriever-msmarco)") == "contriever"
    for other in ("dense(contriever)", "dense(tart-dual-contriever-msmarco)"):
        assert paper_retriever(other) is None
