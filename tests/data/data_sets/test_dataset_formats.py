"""Questions and perspectives in the layouts they are published in, and in ours."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from berdseye.data.datasets.layouts import Imported, read_dataset, read_perspectives
from berdseye.data.datasets.stored import GOLD, import_dataset, load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair, Perspective, Question
from berdseye.data.workspace import Workspace


def read(folder: Path, content: object, name: str = "set.json") -> Imported:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read_dataset(path)


@pytest.mark.parametrize(("name", "count"), [("arguana_generated", 250), ("kialo", 258), ("opinionqa", 294)])
def test_berds_as_released(shared_data: Path, name: str, count: int) -> None:
    """Development questions of BERDS by source, 802 in all (Chen and Choi, 2025, table of statistics)."""
    imported = read_dataset(shared_data / "berds_dev" / f"{name}.jsonl")
    assert (imported.layout, len(imported.questions)) == ("BERDS", count)
    assert all(len(q.perspectives) >= 2 for q in imported.questions)
    assert imported.gold == {}


def test_perspectrum_as_released(shared_data: Path) -> None:
    """907 claims (Chen et al., 2019, section 4)."""
    imported = read_dataset(shared_data / "perspectrum" / "perspectrum_with_answers_v1.0.json")
    assert (imported.layout, len(imported.questions)) == ("Perspectrum", 907)
    assert {p.stance for q in imported.questions for p in q.perspectives} == {"supporting", "opposing"}


@pytest.mark.parametrize(("name", "roots"), [("ambigqa", 26), ("exfever", 34), ("perspectrum", 16)])
def test_pir_as_released(shared_data: Path, name: str, roots: int) -> None:
    """Each task has 100 queries over 500 passages; their distinct source queries are the questions."""
    path = shared_data / "pir" / f"{name}.json"
    imported, task = read_dataset(path), json.loads(path.read_text(encoding="utf-8"))
    assert (imported.layout, len(imported.questions)) == ("PIR", roots)
    first = Pair(task["corpus"][task["key_ref"]["0"][0]], task["perspectives"][0])
    assert imported.gold[first] is True


@pytest.mark.parametrize(("name", "claims"), [("debatewise", 395), ("procon", 50)])
def test_debates_as_released(shared_data: Path, name: str, claims: int) -> None:
    path = shared_data / "perspectrum" / f"{name}.json"
    assert len(json.loads(path.read_text(encoding="utf-8"))) == claims
    imported = read_dataset(path)
    assert imported.layout == "debates"
    assert claims * 0.9 <= len(imported.questions) <= claims
    assert set(imported.gold.values()) == {True}


def test_our_own_layout(tmp_path: Path) -> None:
    rows = [
        {"id": "q1", "question": " Why? ", "perspectives": ["One.", {"text": "Two.", "stance": "for"}, "One."]},
        {"question": "What?", "perspectives": "['A.', 'B.']"},
        {"id": None, "question": "Who?"},
    ]
    imported = read(tmp_path, "\n\n".join(map(json.dumps, rows)), "set.jsonl")
    assert imported.layout == "JSONL"
    assert imported.questions == [
        Question("q1", "", "Why?", (Perspective("One."), Perspective("Two.", "supporting"))),
        Question("3", "", "What?", (Perspective("A."), Perspective("B."))),
        Question("5", "", "Who?", ()),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "Not valid JSON"),
        ("[1]", "must be an object"),
        ("[" * 100_000, "Not valid JSON"),
        ('{"perspectives": []}', "no question"),
        ('{"question": "  "}', "no question"),
        ('{"question": "q", "perspectives": 3}', "`perspectives` must be a list"),
        ('{"question": "q", "perspectives": "__import__(\'os\')"}', "`perspectives` must be a list"),
        ('{"question": "q", "perspectives": [""]}', "perspective is empty"),
        ('{"question": "q", "perspectives": [3]}', "must be a text or an object"),
        ('{"question": "q", "perspectives": [{"text": "t", "stance": "maybe"}]}', "got 'maybe'"),
        ('{"question": "q", "perspectives": [{"text": "t", "stance": ["for"]}]}', "must be supporting or opposing"),
        ('{"id": "same", "question": "q"}', "already has the id"),
    ],
)
def test_a_bad_line_is_reported_with_its_number(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(BadInputError, match=r"set\.jsonl:2: ") as error:
        read(tmp_path, '{"id": "same", "question": "Why?"}\n' + line, "set.jsonl")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"org_id": 1, "question": "q"}', "no question"),
        ('{"org_q": "q", "perspectives": []}', "no `org_id`"),
        ('{"org_id": 1, "org_q": "q", "perspectives": 3}', "`perspectives` must be a list"),
    ],
)
def test_a_bad_line_of_berds_is_reported_with_its_number(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(BadInputError, match=r"set\.jsonl:2: ") as error:
        read(tmp_path, '{"org_id": 0, "org_q": "Why?", "perspectives": ["a"]}\n' + line, "set.jsonl")
    assert said in str(error.value)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_berds_as_on_the_hub(tmp_path: Path, suffix: str) -> None:
    """The fields are those that public loaders of the Hub's data sets read: id, question, type, perspectives."""
    rows = [
        {"id": 7, "question": "Are zoos good?", "type": "binary", "perspectives": ["Yes.", "No."]},
        {"id": 9, "question": "Which zoo?", "type": "multi", "perspectives": ["A.", "B.", "C."]},
    ]
    path = tmp_path / f"kialo.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    imported = read_dataset(path)
    assert imported.layout == "BERDS"
    assert imported.questions[0] == Question("7", "", "Are zoos good?", (Perspective("Yes."), Perspective("No.")))
    assert [len(q.perspectives) for q in imported.questions] == [2, 3]


def test_debateqa(tmp_path: Path) -> None:
    """A partial answer is a point of view with its explanation, as the released script of P.D. reads it."""
    same = {"point_of_view": "Yes", "explanation": "Because."}
    rows = [
        {"id": 3, "question": "Is it?", "partial_answers": [same, {**same, "explanation": "Also."}, same]},
        {"id": 4, "question": "Why?", "partial_answers": [{"point_of_view": "", "explanation": "Only this."}]},
    ]
    imported = read(tmp_path, "\n".join(map(json.dumps, rows)), "test.jsonl")
    assert imported.layout == "DebateQA"
    assert imported.questions == [
        Question("3", "", "Is it?", (Perspective("Yes", None, "Because."), Perspective("Yes", None, "Also."))),
        Question("4", "", "Why?", (Perspective("Only this."),)),
    ]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (None, "`partial_answers` must be a list"),
        (["text"], "partial answer must be an object"),
        ([{"point_of_view": "", "explanation": None}], "partial answer is empty"),
        ([{"point_of_view": 3}], "must be texts"),
    ],
)
def test_a_bad_partial_answer_is_reported_with_its_line(tmp_path: Path, answers: object, said: str) -> None:
    rows = [{"question": "Why?", "partial_answers": []}, {"question": "What?", "partial_answers": answers}]
    with pytest.raises(BadInputError, match=r"set\.jsonl:2: ") as error:
        read(tmp_path, "\n".join(map(json.dumps, rows)), "set.jsonl")
    assert said in str(error.value)


def test_a_damaged_parquet_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "set.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(BadInputError, match="Not a valid Parquet file"):
        read_dataset(tmp_path / "set.parquet")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "Not a valid JSON file"),
        ("[" * 100_000, "Not a valid JSON file"),
        ({}, "layout of the file is not known"),
        ([], "layout of the file is not known"),
        ([{"other": 1}], "layout of the file is not known"),
        ({"source_queries": ["q"]}, "Not a complete PIR task"),
        ([{"cId": 1}], "perspective_pool_v1.0.json"),
        ([{"claim_title": "c", "perspectives_for": ["x"]}], "incomplete or invalid"),
    ],
)
def test_files_of_no_known_layout_are_refused(tmp_path: Path, content: object, said: str) -> None:
    with pytest.raises(BadInputError) as error:
        read(tmp_path, content)
    assert said in str(error.value)


@pytest.mark.parametrize(("name", "why"), [("none.json", "does not exist"), ("set.txt", r"\.jsonl?\b")])
def test_missing_files_and_other_kinds_are_refused(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "set.txt").write_text("text")
    with pytest.raises(BadInputError, match=rf"{re.escape(name)}: .*{why}"):
        read_dataset(tmp_path / name)


def test_gold_of_pir_is_false_for_the_other_perspectives_of_the_question(tmp_path: Path) -> None:
    task = {
        "corpus": ["passage 0", "passage 1", "passage 2"],
        "queries": ["root, one", "root, two", "other"],
        "source_queries": ["root", "root", "other"],
        "perspectives": ["one", "two", "three"],
        "query_labels": ["support", "undermine", "none"],
        "key_ref": {"0": [0], "1": [1], "2": [2]},
    }
    imported = read(tmp_path, task)
    assert imported.questions == [
        Question("0", "", "root", (Perspective("one", "supporting"), Perspective("two", "opposing"))),
        Question("1", "", "other", (Perspective("three"),)),
    ]
    assert imported.gold == {
        Pair("passage 0", "one"): True,
        Pair("passage 0", "two"): False,
        Pair("passage 1", "one"): False,
        Pair("passage 1", "two"): True,
        Pair("passage 2", "three"): True,
    }


def test_gold_is_stored_with_the_data_set(workspace: Workspace, tmp_path: Path) -> None:
    debates = [
        {
            "claim_title": "Claim",
            "perspectives_for": [{"perspective_title": "Yes.", "argument": {"description": ["Because."]}}],
            "perspectives_against": [{"perspective_title": "No.", "argument": None}],
        }
    ]
    (tmp_path / "d.json").write_text(json.dumps(debates))
    import_dataset(workspace, "d", tmp_path / "d.json")
    expected = Question("0", "d", "Claim", (Perspective("Yes.", "supporting"), Perspective("No.", "opposing")))
    assert load_dataset(workspace, "d") == [expected]
    assert LabelStore(workspace).get(GOLD, [Pair("Because.", "Yes.").key]).tolist() == [1.0]


def test_perspectives_are_cleaned() -> None:
    assert read_perspectives([" a\0b ", {"text": "a b"}]) == (Perspective("a b"),)
