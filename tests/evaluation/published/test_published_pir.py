"""PIR's table 1, and which Contriever its figures are of; `recomputation.py` recomputes its printed digits."""

from berdseye.evaluation.published import published
from berdseye.evaluation.studies.pir.paper import paper_retriever


def test_totals_of_table_1() -> None:
    """7,494 queries over 10,286 passages."""
    table = published("pir_datasets")
    assert (table["queries"].sum(), table["corpus_size"].sum()) == (7494, 10286)


def test_the_contriever_of_the_paper_is_the_one_trained_on_ms_marco() -> None:
    assert paper_retriever("dense(contriever-msmarco)") == "contriever"
    for other in ("dense(contriever)", "dense(tart-dual-contriever-msmarco)"):
        assert paper_retriever(other) is None


def test_instructor_reads_the_perspective_as_its_instruction_in_the_paper() -> None:
    assert paper_retriever("dense(instructor-large,instruction=perspective)") == "instructor-large"
    assert paper_retriever("dense(hkunlp/instructor-base,instruction=perspective)") == "instructor-base"
    for other in (
        "dense(instructor-large)",
        "dense(instructor-large,instruction=perspective,pooling=cls)",
        "dense(contriever-msmarco,instruction=perspective)",
        "dense(instructor-large,instruction=perspective) >> mmr(0.5)",
        "dense(",
    ):
        assert paper_retriever(other) is None
