"""Runs in the released form: measures of a good file, and each bad line told with its number."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from berdseye.data.errors import BadInputError
from berdseye.evaluation.interchange.berds import read_released_run
from berdseye.evaluation.measures import parse_measures


def row(*labels: list[Any], perspectives: Any = ("yes", "no")) -> dict[str, Any]:
    return {
        "question": "Q?",
        "perspectives": perspectives,
        "ctxs": [{"text": "t", "labels": given} for given in labels],
    }


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "run.jsonl"
    path.write_bytes(b"".join((x if isinstance(x, bytes) else json.dumps(x).encode()) + b"\n" for x in lines))
    return path


def test_a_good_file(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        b"\xef\xbb\xbf" + json.dumps(row([1, 0], [0, 1])).encode(),
        b"",
        row([1, 0], [1, 0], [0, None]),
        row(),
        row([], perspectives=[]),
        row([1.0, True], perspectives="['yes', \"don't know\"]"),
        row([1, 0], perspectives=[{"text": "yes", "stance": "supporting"}, {"text": "no"}]),
    )
    support = read_released_run(path).support
    mrecall, precision = (m.values(support) for m in parse_measures("MRecall@2 Precision@2"))
    np.testing.assert_equal(mrecall, [1, 0, 0, np.nan, 1, 0])
    np.testing.assert_equal(precision, [1, 1, 0, np.nan, 0.5, 0.5])
    # Of 4 + 6 + 0 + 0 + 2 + 2 pairs one is null.
    assert support.judged_at(3) == pytest.approx(13 / 14)
    assert support.judged_at(2) == 1


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"{nonsense", "Not valid JSON"),
        (b"\xff\xfe{}", "Not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b"[1, 2]", "must be an object"),
        (b"null", "must be an object"),
        ({"question": 3, "perspectives": [], "ctxs": []}, "lacks a question with perspectives and ctxs"),
        ({"question": "Q?", "perspectives": []}, "lacks a question with perspectives and ctxs"),
        ({"question": "Q?", "ctxs": []}, "`perspectives` must be a list"),
        (row(perspectives="nonsense("), "`perspectives` must be a list"),
        (row(perspectives=["yes", ""]), "a perspective is empty"),
        (row(perspectives=[3]), "must be a text or an object"),
        (row(perspectives=[{"text": "yes", "stance": "sideways"}]), "must be supporting or opposing"),
        (row(perspectives=[{"text": "yes", "stance": []}]), "must be supporting or opposing"),
        (row(perspectives="{[]: 1}"), "unhashable"),
        (row([1]), "Ctx 1 needs 2 labels"),
        (row([1, 0], [1, 0, 1]), "Ctx 2 needs 2 labels"),
        (row([1, 2]), "Ctx 1 has the label 2"),
        (row([1, "1"]), "Ctx 1 has the label '1'"),
        (row([1, []]), r"Ctx 1 has the label \[\]"),
        (b'{"question": "Q?", "perspectives": ["a"], "ctxs": [{"labels": [NaN]}]}', "Ctx 1 has the label nan"),
        ({**row(), "ctxs": ["text"]}, "Ctx 1 needs 2 labels"),
        ({**row(), "ctxs": [{"text": "t"}]}, "Ctx 1 needs 2 labels"),
    ],
)
def test_bad_lines_are_reported_with_their_number(tmp_path: Path, bad: Any, said: str) -> None:
    path = written(tmp_path, row([1, 0]), b"", bad, row([1, 0]))
    with pytest.raises(BadInputError, match=said) as told:
        read_released_run(path)
    assert (told.value.where, told.value.line) == (path, 3)
    assert str(told.value).startswith(f"{path}:3: ")


def test_a_file_that_is_empty_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="contains no question"):
        read_released_run(written(tmp_path, b"", b"  "))
    with pytest.raises(BadInputError, match="does not exist"):
        read_released_run(tmp_path / "elsewhere.jsonl")
    with pytest.raises(BadInputError, match="does not exist"):
        read_released_run(tmp_path)
