"""Sources that become PIR tasks."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from berdseye.data.datasets.pir_reformat import KINDS, reformat
from berdseye.data.datasets.pir_tasks import pir_task
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.evaluation.published import published

Rows = list[dict[str, Any]]


def source(folder: Path, rows: Rows) -> Path:
    path = folder / "source.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def columns(task: dict[str, Any]) -> list[tuple[str, str, str, list[int]]]:
    """Root, perspective, label and the places to find, a query each."""
    keys = (task["source_queries"], task["perspectives"], task["query_labels"])
    return [(r, p, q, task["key_ref"][str(n)]) for n, (r, p, q) in enumerate(zip(*keys, strict=True))]


def test_perspectrum_gives_the_paper_s_task(shared_data: Path) -> None:
    """PIR, Table 1: 1,431 queries, 2,773 passages of 11.0 words; the demo is this task's beginning, text for text.

    Table 1's length of queries lost its decimal ('15.'); here it is 15.07.
    """
    task = reformat("perspectrum", shared_data / "perspectrum").layout()
    row = published("pir_datasets").set_index("task").loc["perspectrum"]
    assert (len(task["queries"]), len(task["corpus"])) == (row["queries"], row["corpus_size"]) == (1431, 2773)
    assert round(sum(len(t.split()) for t in task["corpus"]) / 2773, 1) == row["corpus_len"] == 11.0
    demo = json.loads((shared_data / "pir" / "perspectrum.json").read_text(encoding="utf-8"))
    for name in ("corpus", "queries", "source_queries", "perspectives", "query_labels"):
        assert task[name][: len(demo[name])] == demo[name], name
    assert all(task["key_ref"][number] == places for number, places in demo["key_ref"].items())


@pytest.mark.parametrize(("split", "queries"), [("train", 2977 + 541), ("dev", 914 + 139), ("all", 5095 + 907)])
def test_the_other_splits_of_perspectrum(shared_data: Path, split: str, queries: int) -> None:
    """A query for each cluster, and one more for each claim, counted in the released file."""
    task = reformat("perspectrum", shared_data / "perspectrum", split)
    assert len(task.layout()["queries"]) + task.lone_roots() == queries


def test_perspectrum_that_is_not_whole_is_reported(shared_data: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"Unknown split 'tset'.*one of \['dev', 'test', 'train'\], or all"):
        reformat("perspectrum", shared_data / "perspectrum", "tset")
    path = tmp_path / "perspectrum_with_answers_v1.0.json"
    path.write_text('[{"cId": 1, "text": "c", "perspectives": [{"pids": [0], "stance_label_3": "SUPPORT"}]}]')
    with pytest.raises(BadInputError, match=r"perspective_pool_v1\.0\.json"):
        reformat("perspectrum", tmp_path, "all")
    shutil.copy(shared_data / "perspectrum" / "perspective_pool_v1.0.json", tmp_path)
    with pytest.raises(BadInputError, match=r"answers_v1\.0\.json: Claim 1 is incomplete: KeyError\(0\)"):
        reformat("perspectrum", tmp_path, "all")
    path.write_text('{"cId": 1}')
    with pytest.raises(BadInputError, match="no claims of Perspectrum"):
        reformat("perspectrum", tmp_path, "all")


def test_fact_check(tmp_path: Path) -> None:
    rows = [
        {"sentence": "S.", "claim": "c0", "label": "SUPPORTS"},
        {"sentence": "T.", "claim": "alone", "label": "NEI"},
        {"sentence": "S.", "claim": "c1", "label": "not enough info"},
        {"sentence": "S.", "claim": "c2", "label": "SUPPORT"},
    ]
    made = reformat("fact-check", source(tmp_path, rows))
    task = made.layout()
    assert task["corpus"] == ["c0", "c2", "alone", "c1"]
    assert columns(task) == [
        ("S.", "claim that this sentence supports", "SUPPORT", [0, 1]),
        ("S.", "claim that this sentence relates but has no information about", "NOT ENOUGH INFO", [3]),
    ]
    assert task["queries"][0] == "Find a claim that this sentence supports: S."
    assert made.lone_roots() == 1


def test_fact_check_is_worded_as_the_demo(shared_data: Path, tmp_path: Path) -> None:
    """From the demo's sentences, claims and labels come its queries, but for the last sentence, cut off from its others."""
    demo = json.loads((shared_data / "pir" / "exfever.json").read_text(encoding="utf-8"))
    rows = [
        {"sentence": demo["source_queries"][n], "claim": demo["corpus"][place], "label": demo["query_labels"][n]}
        for n in range(100)
        for place in demo["key_ref"][str(n)]
    ]
    made = reformat("fact-check", source(tmp_path, rows))
    task = made.layout()
    assert made.lone_roots() == 1
    assert task["queries"] == [query.strip() for query in demo["queries"][:99]]
    assert task["perspectives"] == demo["perspectives"][:99]


def test_ambigqa(tmp_path: Path) -> None:
    readings = [{"question": "Who on stage?", "evidence": "e0"}, {"question": "Who in film?", "evidence": ["e1", "e2"]}]
    task = reformat("ambigqa", source(tmp_path, [{"question": "Who?", "readings": readings}])).layout()
    assert task["corpus"] == ["e0", "e1", "e2"]
    assert task["queries"] == ["Who on stage?", "Who in film?"]
    assert columns(task) == [
        ("Who?", "Who on stage?", "perspective", [0]),
        ("Who?", "Who in film?", "perspective", [1, 2]),
    ]


def test_allsides(tmp_path: Path) -> None:
    rows = [
        {"topic": "taxes", "ideology": "Left", "article": "a0"},
        {"topic": "taxes", "ideology": "centre", "article": "a1"},
        {"topic": "taxes", "ideology": "left", "article": "a2"},
    ]
    task = reformat("allsides", source(tmp_path, rows)).layout()
    assert task["corpus"] == ["a0", "a2", "a1"]
    assert [(root, label, places) for root, _, label, places in columns(task)] == [
        ("taxes", "left", [0, 1]),
        ("taxes", "center", [2]),
    ]
    assert all(root in query for root, query in zip(task["source_queries"], task["queries"], strict=True))


def test_analogy(tmp_path: Path) -> None:
    rows = [{"story": "A dog.", "aspect": a, "match": f"m-{a}"} for a in ("Analogy", "entity", "mood")]
    task = reformat("analogy", source(tmp_path, rows)).layout()
    assert [label for _, _, label, _ in columns(task)] == ["analogy", "entity", "mood"]
    assert task["queries"][2] == "Find a story with a similar mood: A dog."


@pytest.mark.parametrize(
    ("kind", "row", "said"),
    [
        ("fact-check", {"sentence": "s", "claim": "c", "label": "MAYBE"}, "Unknown label 'MAYBE'. Use SUPPORT, REFUTE"),
        ("fact-check", {"sentence": "s", "label": "SUPPORT"}, "no `claim`"),
        ("fact-check", {"sentence": " ", "claim": "c", "label": "SUPPORT"}, "no `sentence`"),
        ("allsides", {"topic": "t", "ideology": "up", "article": "a"}, "Unknown ideology 'up'"),
        ("allsides", {"topic": "t", "ideology": 3, "article": "a"}, "no `ideology`"),
        ("analogy", {"story": "s", "match": "m"}, "no `aspect`"),
        ("ambigqa", {"readings": []}, "no question"),
        ("ambigqa", {"question": "q", "readings": {}}, "`readings` must be a list"),
        ("ambigqa", {"question": "q", "readings": ["x"]}, "reading must be an object"),
        ("ambigqa", {"question": "q", "readings": [{"question": "r", "evidence": []}]}, "reading has no evidence"),
        ("ambigqa", {"question": "q", "readings": [{"question": "r", "evidence": [3]}]}, "no evidence"),
    ],
)
def test_a_bad_row_is_reported_with_its_line(tmp_path: Path, kind: str, row: dict[str, Any], said: str) -> None:
    good: Rows = [
        {
            "sentence": "s", "claim": "c", "label": "SUPPORT", "topic": "t", "ideology": "left", "article": "a",
            "story": "s", "aspect": "analogy", "match": "m", "question": "q", "readings": [],
        }
    ]  # fmt: skip
    with pytest.raises(BadInputError, match=r"source\.jsonl:2: ") as error:
        reformat(kind, source(tmp_path, [*good, row]))
    assert said in str(error.value)


def test_what_cannot_be_a_task_is_reported(tmp_path: Path) -> None:
    lone = source(tmp_path, [{"story": "s", "aspect": "analogy", "match": "m"}])
    with pytest.raises(BadInputError, match="No root query has two perspectives"):
        reformat("analogy", lone)
    with pytest.raises(BadInputError, match="'analogy' has no splits"):
        reformat("analogy", lone, "test")
    with pytest.raises(UnknownNameError, match="Did you mean analogy"):
        reformat("analogies", lone)
    with pytest.raises(BadInputError, match="does not exist"):
        reformat("analogy", tmp_path / "none.jsonl")


def test_what_is_written_is_read_as_a_task(tmp_path: Path) -> None:
    rows = [{"story": "s", "aspect": a, "match": f"m-{a}"} for a in ("analogy", "entity")]
    read = pir_task(reformat("analogy", source(tmp_path, rows)).layout(), Path("own.json"))
    assert [q.relevant for q in read.queries] == [{0}, {1}]
    assert set(KINDS) == {"perspectrum", "allsides", "ambigqa", "fact-check", "analogy"}
