"""The released tasks of PIR."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.errors import BadInputError
from data.pir_tasks import read_pir_task
from data.records import Passage

Task = dict[str, Any]


def tiny() -> Task:
    return {
        "corpus": ["Zoos protect.", " Zoos\x00harm. ", "Cars."],
        "queries": ["for zoos", "against zoos"],
        "source_queries": ["zoos", "zoos"],
        "perspectives": ["for", "against"],
        "query_labels": ["SUPPORT", "undermine"],
        "key_ref": {"0": [0], "1": ["1", 2, 2]},
    }


def write(path: Path, task: Any) -> Path:
    path.write_text(json.dumps(task), encoding="utf-8")
    return path


def test_a_task_is_read(tmp_path: Path) -> None:
    task = read_pir_task(write(tmp_path / "tiny.json", tiny()))
    assert task.name == "tiny"
    assert task.passages == [
        Passage(0, "0", "", "Zoos protect."),
        Passage(1, "1", "", "Zoos harm."),
        Passage(2, "2", "", "Cars."),
    ]
    assert [tuple(q) for q in task.queries] == [
        ("for zoos", "zoos", "for", "support", frozenset({0})),
        ("against zoos", "zoos", "against", "undermine", frozenset({1, 2})),
    ]


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    path = write(tmp_path / "tiny.json", tiny())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_pir_task(path).queries) == 2


def without(key: str) -> Callable[[Task], Any]:
    return lambda task: {name: value for name, value in task.items() if name != key}


def having(**changed: Any) -> Callable[[Task], Any]:
    return lambda task: {**task, **changed}


@pytest.mark.parametrize(
    "spoilt",
    [
        *map(without, ("corpus", "queries", "source_queries", "perspectives", "query_labels", "key_ref")),
        having(perspectives=["for"]),
        having(corpus=["one", 2, "three"]),
        having(corpus=None),
        having(queries=["a", None]),
        having(key_ref={"0": [0]}),
        having(key_ref={"0": [0], "1": [3]}),
        having(key_ref={"0": [0], "1": [-1]}),
        having(key_ref={"0": [0], "1": ["x"]}),
        having(key_ref={"0": [0], "1": None}),
        having(key_ref=[[0], [1]]),
        lambda _: [],
        lambda _: "text",
        lambda _: None,
    ],
)
def test_a_task_that_is_not_whole_is_told(tmp_path: Path, spoilt: Callable[[Task], Any]) -> None:
    path = write(tmp_path / "spoilt.json", spoilt(tiny()))
    with pytest.raises(BadInputError, match=r"spoilt\.json: Not a whole PIR task.*Take the file as released"):
        read_pir_task(path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_json_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(BadInputError, match=r"bad\.json: Not a readable JSON file"):
        read_pir_task(tmp_path / "bad.json")
    with pytest.raises(BadInputError, match=r"nowhere\.json: Not a readable JSON file"):
        read_pir_task(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("name", "roots", "relevant", "labels"),
    [
        ("perspectrum", 16, 403, {"support", "undermine", "general"}),
        ("ambigqa", 26, 100, {"perspective"}),
        ("exfever", 34, 100, {"support", "refute", "not enough info"}),
    ],
)
def test_the_released_tasks(shared_data: Path, name: str, roots: int, relevant: int, labels: set[str]) -> None:
    """Counted in the files as they were released."""
    task = read_pir_task(shared_data / "pir" / f"{name}.json")
    assert (len(task.passages), len(task.queries)) == (500, 100)
    assert [p.id for p in task.passages] == list(range(500))
    assert len({q.root for q in task.queries}) == roots
    assert sum(len(q.relevant) for q in task.queries) == relevant
    assert {q.label for q in task.queries} == labels
    assert all(q.text and q.root and q.perspective and q.relevant for q in task.queries)
