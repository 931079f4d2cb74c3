"""The released tasks of PIR."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from berdseye.data.datasets.pir_tasks import TASKS, known_task, read_pir_task
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Passage
from berdseye.evaluation.published import published

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
        Passage(1, "1", "", " Zoos harm. "),
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
def test_a_task_that_is_not_whole_is_reported(tmp_path: Path, spoilt: Callable[[Task], Any]) -> None:
    path = write(tmp_path / "spoilt.json", spoilt(tiny()))
    with pytest.raises(BadInputError, match=r"spoilt\.json: Not a complete PIR task.*Use the file as released"):
        read_pir_task(path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_json_is_reported(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(BadInputError, match=r"bad\.json: Not a valid JSON file"):
        read_pir_task(tmp_path / "bad.json")
    with pytest.raises(BadInputError, match=r"nowhere\.json: Not a valid JSON file"):
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


def test_a_file_of_several_tasks(tmp_path: Path) -> None:
    """The released demo holds all six in one file, by their names."""
    path = write(tmp_path / "demo.json", {"perspectrum": tiny(), "story": {**tiny(), "corpus": ["a", "b", "c"]}})
    assert read_pir_task(path, "storyanalogy").passages[0].text == "a"
    assert read_pir_task(path, "perspectrum").name == "perspectrum"
    with pytest.raises(BadInputError, match=r"several tasks.*Choose one: perspectrum, story"):
        read_pir_task(path)
    with pytest.raises(UnknownNameError, match="Did you mean story"):
        read_pir_task(path, "storys")


def hub(folder: Path, **files: list[Task]) -> Path:
    """A task as on the Hub: BEIR's files, and root and perspective in each query's `meta`."""
    names = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels/test.jsonl"}
    for key, name in names.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(map(json.dumps, {**HUB, **files}[key])), encoding="utf-8")
    return folder


def asking(key: str, perspective: str) -> Task:
    meta = json.dumps({"src_query": "zoos", "perspective": perspective})
    return {"_id": key, "text": f"{perspective}: zoos", "meta": meta}


HUB: dict[str, list[Task]] = {
    "corpus": [{"_id": "c9", "title": "", "text": "Zoos protect."}, {"_id": "c2", "title": "", "text": "Zoos harm."}],
    "queries": [
        asking("q1", "a claim that supports the argument"),
        asking("q2", "a claim that opposes the argument"),
        asking("q3", "a claim that relates to the argument"),
        asking("q4", "a claim that supports the argument"),
    ],
    "qrels": [
        {"query-id": "q1", "corpus-id": "c9", "score": 1},
        {"query-id": "q2", "corpus-id": "c2", "score": 1},
        {"query-id": "q3", "corpus-id": "c2", "score": 1},
        {"query-id": "q3", "corpus-id": "c9", "score": 1},
        {"query-id": "q4", "corpus-id": "c9", "score": 0},
    ],
}


def test_a_task_of_the_hub(tmp_path: Path) -> None:
    """The layout is the one that the released script reads; a query without a relevant passage cannot be answered."""
    task = read_pir_task(hub(tmp_path / "perspectrum"))
    assert [p.text for p in task.passages] == ["Zoos protect.", "Zoos harm."]
    assert [(q.root, q.label, q.relevant) for q in task.queries] == [
        ("zoos", "support", frozenset({0})),
        ("zoos", "undermine", frozenset({1})),
        ("zoos", "general", frozenset({0, 1})),
    ]
    assert task.left_out == 1
    assert {q.label for q in read_pir_task(tmp_path / "perspectrum", "mine").queries} == {"perspective"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"qrels": [{"query-id": "q1", "corpus-id": "c3", "score": 1}]},
            r"test\.jsonl:1: The corpus has no passage 'c3'",
        ),
        ({"qrels": [{"query-id": "q7", "corpus-id": "c9", "score": 1}]}, r"test\.jsonl: The judged query 'q7'"),
        ({"qrels": [{"query-id": "q7"}]}, r"test\.jsonl:1: The row has no `corpus-id`"),
        ({"qrels": []}, r"queries\.jsonl: No query of the task"),
        ({"queries": [{"_id": "q1", "text": "t", "meta": "{"}]}, r"queries\.jsonl:1: `meta` has no"),
        ({"corpus": [{"_id": "c9"}]}, r"corpus\.jsonl:1: The row has no `text`"),
    ],
)
def test_a_task_of_the_hub_that_is_not_whole_is_reported(tmp_path: Path, files: Task, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        read_pir_task(hub(tmp_path / "perspectrum", **files))


def test_a_folder_without_the_files_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"corpus\.jsonl: The file does not exist"):
        read_pir_task(tmp_path)


def test_the_six_tasks_are_those_of_the_paper() -> None:
    """PIR, Table 1: task, queries, corpus size."""
    table = published("pir_datasets")
    assert {(f.paper, f.queries, f.passages) for f in TASKS.values()} == set(
        zip(table["task"], table["queries"], table["corpus_size"], strict=True)
    )
    assert known_task("pir-Ex-FEVER") == known_task("exfever") == TASKS["exfever"]
    assert known_task("storyanalogy") == TASKS["story"]
    assert known_task("mine") is None
