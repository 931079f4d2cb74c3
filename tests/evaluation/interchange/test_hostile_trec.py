"""TREC files from strangers, and ids that would break the ones we write."""

from pathlib import Path

import numpy as np
import pytest

from berdseye.data.errors import BadInputError
from berdseye.evaluation.interchange.ranking import labelled
from berdseye.evaluation.interchange.trec import parse_trec_run, read_trec_qrels, read_trec_run, trec_run

DIGITS = "1" * 5000


@pytest.mark.parametrize("field", [DIGITS, "1.5", "²", "--1", "1e3"])
def test_what_is_no_rank_or_relevance_is_reported_with_its_line(tmp_path: Path, field: str) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text(f"q Q0 p {field} 1.0 tag\n")
    qrels.write_text(f"q 0 p {field}\n")
    with pytest.raises(BadInputError, match=r"a\.run:1: The rank") as told:
        read_trec_run(run)
    assert len(str(told.value)) < 300
    with pytest.raises(BadInputError, match=r"a\.qrels:1: The relevance"):
        read_trec_qrels(qrels)


def test_a_subtopic_of_thousands_of_digits_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text(f"q {DIGITS} 7 1\n")
    rows = read_trec_qrels(tmp_path / "a.qrels")
    with pytest.raises(BadInputError, match="is not one of the question's 2 perspectives"):
        labelled(rows, ["q"], {"7": 7}, [2])


def test_ids_with_white_space_and_line_ends_stay_one_field() -> None:
    names = ["a b", "a\nq Q0 7 1 9.0 forged", "a\u2028b", "a\x1cb", "a%20b", "\u00a0"]
    ids, scores = np.array([[1, 2]] * len(names)), np.array([[2.0, 1.0]] * len(names), dtype=np.float32)
    content = trec_run(names, ids, scores, "tag\nq Q0 7 1 9.0 forged").decode()
    rows = parse_trec_run(enumerate(content.splitlines(), start=1), "run")
    assert len(rows.questions) == 2 * len(names)
    assert len(set(rows.questions)) == len(names)
    assert set(rows.passages) == {"0000000001", "0000000002"}
