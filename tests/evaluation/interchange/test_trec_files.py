"""TREC files and JSONL: what is written is read again, and each fault is told with its file and line."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.records import Perspective, Question
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.interchange.choices import Missing
from berdseye.evaluation.interchange.external_runs import as_run, judged_by_file, read_labels, read_run
from berdseye.evaluation.interchange.jsonl import jsonl_labels, jsonl_run, read_jsonl_run
from berdseye.evaluation.interchange.ranking import corpus_numbers, file_name, labelled, ranked
from berdseye.evaluation.interchange.trec import diversity_qrels, read_trec_qrels, read_trec_run, trec_qrels, trec_run
from berdseye.evaluation.labels.qrels import pooled_qrels
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.scoring import score_run
from tests.evaluation.small_workspace import CORPUS, DATASET, put_gold

ASKED = ["a b", "100%", "c"]
IDS = np.array([[9, 3, -1], [12, 5, 4], [-1, -1, -1]])
SCORES = np.array([[2.5, 2.5, 0], [1, 3, 2], [0, 0, 0]], dtype=np.float32)
PASSAGES = [np.array([3, 9]), np.array([4, 5]), np.zeros(0, dtype=np.int64)]
LABELS = [np.array([[1.0, 0.0], [np.nan, 1.0]]), np.array([[0.0], [np.nan]]), np.zeros((0, 2))]


def put(folder: Path, text: str, name: str = "made.run") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("form", ["trec", "jsonl", "gz"])
def test_a_run_comes_back(tmp_path: Path, form: str) -> None:
    path = tmp_path / {"trec": "x.run", "jsonl": "x.jsonl", "gz": "x.run.gz"}[form]
    content = jsonl_run(ASKED, IDS, SCORES) if form == "jsonl" else trec_run(ASKED, IDS, SCORES, "my run")
    path.write_bytes(gzip.compress(content) if form == "gz" else content)
    rows = read_run(path)
    found = ranked(rows, ASKED, corpus_numbers(rows))
    if form == "jsonl":  # scores as they are, so the second question is put in their order
        assert found.ids.tolist() == [[9, 3, -1], [5, 4, 12], [-1, -1, -1]]
    else:  # scores that do not order a ranking gave way to its order
        assert found.ids.tolist() == IDS.tolist()
        assert rows.tag == "my%20run"
    assert found.missing == ["c"]


def test_labels_come_back(tmp_path: Path) -> None:
    for writer in (diversity_qrels, jsonl_labels):
        rows = read_labels(put(tmp_path, writer(ASKED, PASSAGES, LABELS).decode(), "labels"))
        held = labelled(rows, ASKED, corpus_numbers(rows), [2, 1, 2])
        # Passage 5 has no label, so that no file knows it.
        assert [p.tolist() for p in held.passages] == [[3, 9], [4], []]
        np.testing.assert_equal(held.labels[0], LABELS[0])
        assert [block.shape for block in held.labels] == [(2, 2), (1, 1), (0, 2)]
    plain = trec_qrels(ASKED, PASSAGES, LABELS).decode().splitlines()
    assert plain == ["a%20b 0 0000000003 1", "a%20b 0 0000000009 1", "100%25 0 0000000004 0"]


def test_names_without_white_space() -> None:
    assert file_name("a b\t%\u00a0") == "a%20b%09%25%C2%A0"
    assert file_name("perspectrum-12") == "perspectrum-12"


def test_ties_are_broken_by_id_from_above(tmp_path: Path) -> None:
    """Passage 10 comes before 9, which as texts stand the other way round."""
    rows = read_trec_run(put(tmp_path, "q Q0 9 1 1.5 t\nq Q0 10 2 1.5 t\nq Q0 7 3 2 t\n"))
    assert ranked(rows, ["q"], corpus_numbers(rows)).ids.tolist() == [[7, 10, 9]]
    # Equal as float32, which is what trec_eval compares too.
    rows = read_trec_run(put(tmp_path, "q Q0 9 1 1.00000000001 t\nq Q0 10 2 1 t\n"))
    assert ranked(rows, ["q"], corpus_numbers(rows)).ids.tolist() == [[10, 9]]


GOOD = "zoos Q0 1 1 3.0 t\n\n"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("zoos Q0 2 2 2.0", "6 fields, got 5"),
        ("zoos Q0 2 2 nan t", "score 'nan' is not a number"),
        ("zoos Q0 2 2 high t", "score 'high' is not a number"),
        ("zoos Q0 2 two 2.0 t", "rank 'two'"),
        ("zoos Q0 1 2 2.0 t", "passage '1' twice, first in line 1"),
        ("zoos Q0 2 1 2.0 t", "rank 1 twice, first in line 1"),
    ],
)
def test_bad_lines_of_runs(tmp_path: Path, bad: str, said: str) -> None:
    path = put(tmp_path, GOOD + bad + "\n")
    with pytest.raises(BadInputError, match=said) as told:
        read_trec_run(path)
    assert (told.value.where, told.value.line) == (path, 3)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("zoos 1 2", "4 fields, got 3"),
        ("zoos 1 2 yes", "relevance 'yes'"),
        ("zoos 1 1 0", "passage '1' is labelled twice, first in line 1"),
    ],
)
def test_bad_lines_of_qrels(tmp_path: Path, bad: str, said: str) -> None:
    path = put(tmp_path, f"zoos 1 1 1\n\n{bad}\n")
    with pytest.raises(BadInputError, match=said) as told:
        read_trec_qrels(path)
    assert (told.value.where, told.value.line) == (path, 3)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "Not valid JSON"),
        ('{"question": "cars"}', "`ranking` is not a list"),
        ('{"question": "zoos", "ranking": []}', "ranked twice, first in line 1"),
        ('{"question": "cars", "ranking": [{"passage": 1, "score": NaN}]}', "score nan"),
        ('{"question": "cars", "ranking": [{"passage": 1}, {"passage": "1"}]}', "passage '1' twice"),
        ('{"question": "cars", "ranking": [{"score": 1}]}', "`passage` is neither"),
    ],
)
def test_bad_lines_of_jsonl_runs(tmp_path: Path, bad: str, said: str) -> None:
    path = put(tmp_path, f'{{"question": "zoos", "ranking": [{{"passage": 1}}]}}\n{bad}\n', "x.jsonl")
    with pytest.raises(BadInputError, match=said) as told:
        read_jsonl_run(path)
    assert (told.value.where, told.value.line) == (path, 2)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xff\xfe", b"\x1f\x8b broken"])
def test_files_that_are_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / ("x.gz" if content.startswith(b"\x1f") else "x.run")
    path.write_bytes(content)
    for reader in (read_trec_run, read_trec_qrels):
        with pytest.raises(BadInputError) as told:
            reader(path)
        assert told.value.where == path
        with pytest.raises(BadInputError, match="does not exist"):
            reader(tmp_path / "gone")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("zoo Q0 1 1 3.0 t", "Unknown question 'zoo'. Did you mean zoos?"),
        ("zoos Q0 d17 1 3.0 t", "'d17' is not a passage"),
        ("zoos Q0 4711 1 3.0 t", "has no passage 4711"),
        ("zoos Q0 -1 1 3.0 t", "'-1' is not a passage"),
    ],
)
def test_what_the_workspace_does_not_hold(small: Workspace, tmp_path: Path, line: str, said: str) -> None:
    path = put(tmp_path, f"cars Q0 1 1 1 t\n{line}\n")
    with pytest.raises(BadInputError) as told:
        as_run(small, read_run(path), DATASET, CORPUS)
    assert said in str(told.value)
    assert told.value.line == 2


def test_missing_questions_are_reported_and_never_silently_zero(tmp_path: Path) -> None:
    run, qrels = put(tmp_path, "a Q0 x 1 1 t\nelse Q0 x 1 1 t\n"), put(tmp_path, "a 1 x 1\nb 1 y 1\nb 2 y 0\n", "q")
    [mrecall] = parse_measures("MRecall@5")
    left_out = judged_by_file(read_run(run), read_labels(qrels), None, Missing.LEFT_OUT)
    assert mrecall.values(left_out.qrels.support(left_out.ranked.ids)).tolist() == [1]
    assert "1 of 2 questions are not in" in left_out.notes[0]
    assert "left out: b" in left_out.notes[0]
    assert "1 questions of the run have no label and are left out: else." in left_out.notes
    zero = judged_by_file(read_run(run), read_labels(qrels), None, Missing.ZERO)
    assert mrecall.values(zero.qrels.support(zero.ranked.ids)).tolist() == [1, 0]
    with pytest.raises(BadInputError, match="share no question"):
        judged_by_file(read_run(put(tmp_path, "c Q0 x 1 1 t\n")), read_labels(qrels), None, Missing.LEFT_OUT)


def test_perspectives_of_the_data_set_are_the_subtopics(small: Workspace, tmp_path: Path) -> None:
    questions = load_dataset(small, DATASET)
    run = read_run(put(tmp_path, "zoos Q0 x 1 1 t\nopen Q0 x 1 1 t\n"))
    held = judged_by_file(run, read_labels(put(tmp_path, "zoos 2 x 1\n", "q")), questions, Missing.ZERO)
    support = held.qrels.support(held.ranked.ids)
    # Zoos has two perspectives, one covered and one without label; open has none.
    np.testing.assert_equal(parse_measures("Coverage@5")[0].values(support), [0.5, 0, np.nan])
    assert support.judged_at(5) == 1 / 2
    assert "1 questions have no perspective and therefore no value." in held.notes
    for subtopic in ("3", "0", "pro"):
        bad = read_labels(put(tmp_path, f"zoos 1 x 1\nzoos {subtopic} y 1\n", "q"))
        with pytest.raises(BadInputError, match=f"Subtopic '{subtopic}' is not one of the question's 2") as told:
            judged_by_file(run, bad, questions, Missing.ZERO)
        assert told.value.line == 2


def test_perspectives_without_a_label_count_only_with_the_data_set(tmp_path: Path) -> None:
    """One of two perspectives is labelled and covered: MRecall is 0 over both, and 1 over those that the file knows."""
    question = Question("zoos", "made", "Zoos?", (Perspective("They protect.", None), Perspective("They harm.", None)))
    run, qrels = put(tmp_path, "zoos Q0 1 1 1 t\n"), put(tmp_path, "zoos 1 1 1\n", "q.qrels")
    (measure,) = parse_measures("MRecall@2")
    found = {}
    for questions in (None, [question]):
        held = judged_by_file(read_run(run), read_labels(qrels), questions, Missing.ZERO)
        found[questions is None] = (measure.values(held.qrels.support(held.ranked.ids)).tolist(), held.notes)
    assert found[False] == ([0.0], ())
    assert found[True][0] == [1.0]
    (told,) = found[True][1]
    assert told.startswith("The perspectives of a question are those with a label in q.qrels; name the data set")


def test_a_stored_run_scores_alike_from_files(small: Workspace, run: Run, judgments: Judgments, tmp_path: Path) -> None:
    """Exported with its labels and read again, every measure has the values that the workspace gives."""
    put_gold(small, {(0, 0, 0): True, (0, 1, 0): False, (0, 1, 1): True, (1, 0, 2): True, (1, 0, 3): False})
    source, measures = (
        parse_label_source("gold"),
        parse_measures("MRecall@2 Precision@3 nDCG@3 Recall@1 alpha_nDCG@3 AP"),
    )
    pool = pooled_qrels(small, judgments, DATASET, CORPUS, source)
    assert pool.runs == (run.manifest.name,)
    (tmp_path / "x.run").write_bytes(trec_run(run.question_ids, run.ids, run.scores, "t"))
    (tmp_path / "x.qrels").write_bytes(diversity_qrels(pool.question_ids, pool.passages, pool.labels))
    held = judged_by_file(
        read_run(tmp_path / "x.run"), read_labels(tmp_path / "x.qrels"), load_dataset(small, DATASET), Missing.ZERO
    )
    support = held.qrels.support(held.ranked.ids)
    for score, measure in zip(score_run(small, judgments, run, source, measures), measures, strict=True):
        np.testing.assert_allclose(measure.values(support), score.values)
    made, missing = as_run(small, read_run(tmp_path / "x.run"), DATASET, CORPUS)
    assert made.ids.tolist() == run.ids.tolist()
    assert missing == []
