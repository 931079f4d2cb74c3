"""Weights tuned for a pipeline, kept beside a corpus."""

from dataclasses import replace
from pathlib import Path

import pytest

from berdseye.data.corpora.tuned_weights import TunedWeight, read_tuned, write_tuned
from berdseye.data.errors import StaleError

TUNED = TunedWeight(0.9, ["kialo"], "MRecall@5", "gold", "abc", {"0.9": 0.5, "0.5": 0.25}, "2026-01-01T00:00:00+00:00")


def test_a_weight_comes_back_as_it_was(tmp_path: Path) -> None:
    assert read_tuned(tmp_path) == {}
    write_tuned(tmp_path, "bm25 >> mmr(tuned)", TUNED)
    other = replace(TUNED, weight=0.5)
    write_tuned(tmp_path, "dense(a/b) >> mmr(tuned)", other)
    assert read_tuned(tmp_path) == {"bm25 >> mmr(tuned)": TUNED, "dense(a/b) >> mmr(tuned)": other}


def test_a_newer_weight_takes_the_place_of_the_older(tmp_path: Path) -> None:
    write_tuned(tmp_path, "bm25 >> mmr(tuned)", TUNED)
    write_tuned(tmp_path, "bm25 >> mmr(tuned)", replace(TUNED, weight=0.75))
    assert read_tuned(tmp_path)["bm25 >> mmr(tuned)"].weight == 0.75


@pytest.mark.parametrize("content", ["", "{", "[]", '{"bm25": 1}', '{"bm25": {"weight": 1}}', '{"bm25": []}', "3"])
def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path, content: str) -> None:
    (tmp_path / "tuned.json").write_text(content)
    with pytest.raises(
        StaleError, match=r"tuned\.json: The tuned weights cannot be read\. Delete the file and tune again"
    ):
        read_tuned(tmp_path)
    with pytest.raises(StaleError, match=r"tuned\.json: .*Delete"):
        write_tuned(tmp_path, "bm25 >> mmr(tuned)", TUNED)
    assert (tmp_path / "tuned.json").read_text() == content
