"""Which systems, data sets and corpora are those of BERDS: the same checkpoints, splits and sizes."""

import pytest

from berdseye.evaluation.published.berds import paper_corpora, paper_dataset, paper_datasets, paper_retriever


@pytest.mark.parametrize(
    ("pipeline", "paper"),
    [
        ("bm25", "bm25"),
        ("bm25(tokenizer=porter)", "bm25"),
        ("lucene(wikipedia-dpr-100w)", "bm25"),
        ("dense(contriever-msmarco)", "contriever"),
        ("dense(facebook/contriever-msmarco)", "contriever"),
        ('dense("/models/contriever-msmarco",index=flat)', "contriever"),
        ("dense(facebook/dpr-question_encoder-single-nq-base)", "dpr"),
        ("dense(NV-Embed-v2)", "nv-embed-v2"),
        ("dense(contriever-msmarco) >> crossencoder(tart-full-flan-t5-xl)", "tart"),
        ("dense(contriever-msmarco)%100 >> crossencoder(facebook/tart-full-flan-t5-xl)", "tart"),
    ],
)
def test_systems_of_the_paper(pipeline: str, paper: str) -> None:
    assert paper_retriever(pipeline) == paper


@pytest.mark.parametrize(
    "pipeline",
    [
        "dense(contriever)",  # without training on MS MARCO
        "dense(tart-dual-contriever-msmarco)",
        "dense(orionweller/tart-dual-contriever-msmarco)",
        "dense(facebook/dpr-question_encoder-multiset-base)",
        "dense(my-contriever)",
        "dense(contriever-msmarco,index=ivf)",  # searches a part of the index
        "dense(contriever-msmarco,index=fp16)",
        "dense(contriever-msmarco,similarity=cosine)",
        "dense(contriever-msmarco) >> mmr(0.9)",
        "dense(contriever-msmarco)%50 >> crossencoder(tart-full-flan-t5-xl)",
        "dense(contriever) >> crossencoder(tart-full-flan-t5-xl)",
        "dense(contriever-msmarco) >> crossencoder(ms-marco-MiniLM-L6-v2)",
        "bm25 >> crossencoder(tart-full-flan-t5-xl)",
        "bm25(k1=1.2,b=0.75)",
        "bm25(okapi-notebook)",
        "bm25(tokenizer=words)",
        "dense(static)",
        "contriever",
        "imported(contriever)",
        "expand(llm) >> bm25",
        "(",
    ],
)
def test_other_systems(pipeline: str) -> None:
    assert paper_retriever(pipeline) is None


def test_a_data_set_is_a_split_by_its_name_and_its_number_of_questions() -> None:
    for name in ("kialo", "berds-kialo", "kialo-test", "berds-kialo-test"):
        assert paper_dataset(name, 774) == "kialo"
        assert paper_dataset(name, 258) is None
    for name in ("kialo", "berds-kialo-dev"):
        assert paper_dataset(name, 258, "dev") == "kialo"
        assert paper_dataset(name, 774, "dev") is None
    assert paper_dataset("berds-kialo-dev", 774) is None
    assert paper_dataset("berds-kialo-test@2", 774) is None
    assert paper_dataset("debate", 774) is None


def test_an_average_is_over_the_three_data_sets_and_no_other() -> None:
    three = {"arguana": 250, "kialo": 258, "opinionqa": 294}
    assert paper_datasets(three, "dev")["average"] == "average"
    assert "average" not in paper_datasets({**three, "kialo": 774}, "dev")
    assert "average" not in paper_datasets({**three, "mine": 3}, "dev")
    twice = {"arguana": 250, "berds-arguana-dev": 250, "kialo": 258}
    assert paper_datasets(twice, "dev") == {"arguana": "arguana", "berds-arguana-dev": "arguana", "kialo": "kialo"}


def test_corpora_have_the_size_that_the_paper_rounds() -> None:
    assert paper_corpora({"wikipedia": 21_015_324, "sphere": 906_000_000, "google": None}) == {
        "wikipedia": "wikipedia", "sphere": "sphere", "google": "google"
    }  # fmt: skip
    assert paper_corpora({"wikipedia": 8, "sphere": 899, "google": 4462, "web": None}) == {}
