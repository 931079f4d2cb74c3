"""A teacher's labels as a file: what is in its rows, people's labels as split dev, and resuming."""

from pathlib import Path

import pytest
from made_detectors import Cutting, Made

from berdseye.annotation.batches.stored import BatchPlan, batch_pairs, create_batch, load_batch
from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.labelled_pairs import labelled_pairs_writer, read_labelled_pairs
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.detectors.training.training_set import training_set
from berdseye.evaluation.detection.teaching import COLUMNS, labels_of_batch, teach
from berdseye.evaluation.selection.batches import berds_test_set
from berdseye.evaluation.selection.teaching import teaching_pairs
from tests.evaluation.selection.two_retriever_runs import RUNS, made_two_retrievers


@pytest.fixture
def held(tmp_path: Path) -> Workspace:
    return made_two_retrievers(tmp_path)


def by_side(perspective: str) -> float:
    """P is above the threshold for the first perspective of each question."""
    return 0.7 if perspective.endswith(" 0.") else 0.6


def test_rows_are_read_back_with_the_teachers_hard_labels(held: Workspace, tmp_path: Path) -> None:
    selected = teaching_pairs(held, RUNS, questions=6, k=3)
    teacher = Cutting(lambda pair: by_side(pair.perspective), threshold=0.65)
    taught = teach(held, teacher, selected)
    assert tuple(taught.table.columns) == COLUMNS
    path = tmp_path / "taught.tsv"
    path.write_bytes(labelled_pairs_writer(path)(taught.table))
    rows = read_labelled_pairs(path)
    assert [(r.pair.passage, r.pair.perspective) for r in rows] == [
        (f.record.passage, f.record.perspective) for f in selected.pairs
    ]
    assert [r.supports for r in rows] == [f.record.perspective.endswith(" 0.") for f in selected.pairs]
    first, found = rows[0], selected.pairs[0]
    assert (first.dataset, first.corpus, first.retriever) == (found.record.dataset, "web", found.retriever)
    assert (first.question, first.id, first.split) == (found.record.question, found.record.question_id, "")
    assert {r.retriever for r in rows} == {"bm25", "dense", "bm25 + dense"}
    row = taught.as_row()
    supporting = sum(r.supports for r in rows)
    assert (row["pairs"], row["supporting"], row["share_supporting"]) == (len(rows), supporting, supporting / len(rows))
    assert (row["truncated"], row["dev_pairs"], row["questions"]) == (len(rows), 0, 6), "passages have 40 words"
    assert sum(domain["pairs"] for domain in row["by_corpus_and_retriever"]) == len(rows)


def test_labels_are_stored_as_they_come_and_asked_for_once(held: Workspace) -> None:
    selected = teaching_pairs(held, RUNS, questions=6, k=3)

    class StoppedError(Exception):
        pass

    def says(_: object) -> float:
        if len(teacher.asked) > 3:
            raise StoppedError
        return 0.9

    teacher = Made(says, pairs_at_once=4)
    with pytest.raises(StoppedError):
        teach(held, teacher, selected)
    again = Made(lambda _: 0.9, pairs_at_once=4)
    taught = teach(held, again, selected)
    assert sum(map(len, again.asked)) == len(selected.pairs) - 12
    assert taught.as_row()["truncated"] is None


def test_a_judged_batch_gives_the_rows_of_dev(held: Workspace, tmp_path: Path) -> None:
    """Adjudicated labels come first, then the majority; pairs without a label are counted by reason."""
    judgments = Judgments.open(held.judgments_url)
    create_batch(judgments, BatchPlan("dev"), berds_test_set(held, RUNS, questions=1, k=3))
    create_batch(judgments, BatchPlan("other"), berds_test_set(held, RUNS[:2], questions=4, k=3))
    with pytest.raises(BadInputError, match="No pair of the batch 'dev' has a label by people"):
        labels_of_batch(judgments, "dev")
    ana, bo, judge = (judgments.sign_in(name) for name in ("Ana", "Bo", "Judge"))
    keys = batch_pairs(judgments, load_batch(judgments, "dev"))
    yes, no, tied, settled = keys[:4]
    for person, key, verdict in (
        (ana, yes, "supports"), (bo, yes, "supports"), (ana, no, "does not support"), (ana, tied, "supports"),
        (bo, tied, "does not support"), (ana, settled, "supports"),
    ):  # fmt: skip
        judgments.judge(person, key, verdict, source="annotate")  # type: ignore[arg-type]
    adjudicate(judgments, judge, settled, "does not support")
    elsewhere = next(k for k in batch_pairs(judgments, load_batch(judgments, "other")) if k not in keys)
    judgments.judge(ana, elsewhere, "supports", source="annotate")
    dev = labels_of_batch(judgments, "dev")
    assert dict(zip(dev.table["pair"], dev.table["label"], strict=True)) == {yes: 1, no: 0, settled: 0}
    assert dev.left_out == {"a tie": 1, "not judged": len(keys) - 4}
    asked = frozenset(dev.table["question"].str.casefold())
    teacher = Made(lambda pair: by_side(pair.perspective), threshold=0.65)
    taught = teach(held, teacher, teaching_pairs(held, RUNS, questions=4, k=3, without=asked), dev)
    for name in ("taught.tsv", "taught.jsonl", "taught.parquet"):
        path = tmp_path / name
        path.write_bytes(labelled_pairs_writer(path)(taught.table))
        ready = training_set(read_labelled_pairs(path), path, "")
        assert (len(ready.train), len(ready.dev), len(ready.test)) == (len(taught.table) - 3, 3, 0)
        assert sorted(pair.supports for pair in ready.dev) == [False, False, True]
    row = taught.as_row()
    assert (row["pairs"], row["dev_pairs"], row["dev_supporting"]) == (len(taught.table) - 3, 3, 1)
    with pytest.raises(UnknownNameError, match="Did you mean dev"):
        labels_of_batch(judgments, "devv")
