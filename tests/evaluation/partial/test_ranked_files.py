"""Run and qrels files as systems and relevant passages, and what is refused."""

import gzip
from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError
from berdseye.evaluation.partial.ranked_sets import from_files, read_qrels_file, read_run_file, read_run_files


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_run_is_ordered_by_score_then_by_id_whatever_ranks_it_states(tmp_path: Path) -> None:
    run = written(tmp_path / "a.run", "q1 Q0 d1 1 0.5 x\nq1 Q0 d2 2 0.5 x\nq1 Q0 d3 3 0.9 x\nq2 Q0 d1 1 -1 x\n")
    assert read_run_file(run) == {"q1": ["d3", "d2", "d1"], "q2": ["d1"]}
    packed = tmp_path / "b.run.gz"
    packed.write_bytes(gzip.compress(run.read_bytes()))
    assert read_run_files([run, packed])["b"] == read_run_file(run)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 Q0 d1 1\n", "has 6 fields"),
        ("q1 Q0 d1 1 high x\n", "not a number"),
        ("q1 Q0 d1 1 nan x\n", "not a number"),
        ("q1 Q0 d1 1 2 x\nq1 Q0 d1 2 1 x\n", "passage 'd1' twice"),
        ("\n", "empty"),
    ],
)
def test_what_is_no_run_is_reported_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said) as caught:
        read_run_file(written(tmp_path / "bad.run", text))
    assert "bad.run" in str(caught.value)


def test_two_systems_need_two_names(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    runs = [written(tmp_path / f"{p}a.run", "q1 Q0 d1 1 1 x\n") for p in ("", "sub/")]
    with pytest.raises(BadInputError, match="called 'a'"):
        read_run_files(runs)


def test_labels_by_perspective_make_relevant_what_supports_any(tmp_path: Path) -> None:
    qrels = written(tmp_path / "q", "q1 1 a 0\nq1 2 a 1\nq1 1 b 0\nq1 2 b 0\n")
    assert read_qrels_file(qrels) == {"q1": ("a",)}


def test_qrels_keep_what_is_relevant(tmp_path: Path) -> None:
    assert read_qrels_file(written(tmp_path / "q", "q1 0 a 1\nq1 0 b 0\nq2 0 a 0\n")) == {"q1": ("a",), "q2": ()}
    with pytest.raises(BadInputError, match="No passage is relevant"):
        read_qrels_file(written(tmp_path / "none", "q1 0 a 0\n"))
    with pytest.raises(BadInputError, match="has 4 fields"):
        read_qrels_file(written(tmp_path / "bad", "q1 0 a\n"))


def test_a_set_of_files_says_what_it_left_out(tmp_path: Path) -> None:
    qrels = written(tmp_path / "q", "q1 0 d1 1\nq2 0 d2 1\nq3 0 d1 0\n")
    runs = [
        written(tmp_path / "a.run", "q1 Q0 d1 1 2 x\nq1 Q0 d9 2 1 x\nq2 Q0 d2 1 1 x\n"),
        written(tmp_path / "b.run", "q1 Q0 d9 1 2 x\nq1 Q0 d1 2 1 x\n"),
    ]
    with pytest.raises(BadInputError, match="Run 'b' has no list for 1 of 2 queries"):
        from_files(runs, qrels)
    found = from_files(runs, qrels, missing="zero")
    assert found.matrices.depth == 2
    assert found.matrices.ranks[:, 0, 0].tolist() == [1, 2]
    assert found.words is None
    assert any("q3" in note for note in found.notes)
    assert any("1 lists are missing" in note for note in found.notes)
