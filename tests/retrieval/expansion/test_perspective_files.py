"""Perspectives from files: the BERDS release as it is, and our own layout with all that can be wrong."""

import json
from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError
from berdseye.retrieval.expansion.file_source import FileSource
from berdseye.retrieval.expansion.protocol import expanded_queries


def released(shared_data: Path, name: str) -> tuple[FileSource, list[dict[str, str]]]:
    path = shared_data / "berds_dev" / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return FileSource(str(path), path), rows


def test_every_question_of_the_berds_dev_files_is_found(shared_data: Path) -> None:
    questions = perspectives = 0
    for name, known, generated in (("arguana_generated", 250, 1503), ("kialo", 258, 1573), ("opinionqa", 294, 1788)):
        source, rows = released(shared_data, name)
        by_id = {row["org_id"]: row["org_q"] for row in rows}
        assert (len(by_id), len(rows)) == (known, generated)
        found = source.perspectives(list(by_id.values()))
        assert [set(texts) for texts in found] == [
            {row["text"].strip() for row in rows if row["org_q"] == question} for question in by_id.values()
        ]
        questions += len(found)
        perspectives += len(rows)
    assert questions == 802
    # The paper tells of 6.1 perspectives a question, over its development and test sets.
    assert perspectives / questions == pytest.approx(6.065, abs=0.001)


def test_the_queries_are_those_of_the_release(shared_data: Path) -> None:
    source, rows = released(shared_data, "kialo")
    questions = list(dict.fromkeys(row["org_q"] for row in rows))
    found = source.perspectives(questions)
    ours = [query for q, texts in zip(questions, found, strict=True) for query in expanded_queries(q, texts)]
    differing = [
        row["org_id"] for row, query in zip(rows, ours, strict=True) if query.split() != row["question"].split()
    ]
    # In the release, a stray quotation mark follows these questions, in the queries alone.
    assert len(differing) == 29
    assert len(set(differing)) == 5


def test_a_question_that_occurs_twice_has_all_its_perspectives(shared_data: Path) -> None:
    source, rows = released(shared_data, "opinionqa")
    twice = [row for row in rows if row["org_id"] in {"997", "1116"}]
    assert len({row["org_q"] for row in twice}) == 1
    assert source.perspectives([twice[0]["org_q"]]) == [tuple(row["text"] for row in twice)]


def write(path: Path, *lines: object) -> FileSource:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return FileSource(path.name, path)


def test_our_own_layout_and_spellings_of_one_question(tmp_path: Path) -> None:
    source = write(
        tmp_path / "own.jsonl",
        {"question": "Is café  society\ngood?", "perspectives": ["Yes, it is.", {"text": " No. "}, "Yes, it is."]},
        "",
        {"question": "Is cafe\u0301 society good?", "perspectives": ["It depends."]},
    )
    assert source.perspectives(["Is cafe\u0301 society good? "]) == [("Yes, it is.", "No.", "It depends.")]
    (tmp_path / "own.jsonl").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "own.jsonl").read_bytes())
    assert len(source.perspectives(["Is café society good?"])[0]) == 3


def test_missing_questions_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    source = write(tmp_path / "own.jsonl", {"question": "Why?", "perspectives": ["Because."]})
    with pytest.raises(
        BadInputError, match=r"own\.jsonl: 2 of 3 questions have no perspectives here, for example 'How\?'"
    ):
        source.perspectives(["Why?", "How?", "When?"])


def test_bad_lines_are_reported_with_their_numbers(tmp_path: Path) -> None:
    good = {"question": "Why?", "perspectives": ["Because."]}
    source = write(
        tmp_path / "bad.jsonl",
        good,
        "{not json",
        {"question": "", "perspectives": ["x"]},
        [1],
        {"question": "How?", "perspectives": []},
        {"question": "How?", "perspectives": [3]},
        {"org_q": "How?", "perspectives": "['gold']"},
        {"org_q": "How?", "text": " "},
        "[" * 100_000,
        good,
    )
    with pytest.raises(BadInputError, match=r"bad\.jsonl:2: .*\(and lines 3, 4, 5, 6, 7, 8, 9\)"):
        source.perspectives(["Why?"])
    with pytest.raises(BadInputError, match=r"bad\.jsonl:1: no question\. Fix"):
        write(tmp_path / "bad.jsonl", {"text": "x"}).perspectives(["Why?"])
    with pytest.raises(BadInputError, match="contains no perspective"):
        write(tmp_path / "bad.jsonl", "").perspectives(["Why?"])
    (tmp_path / "bad.jsonl").write_bytes(b'{"question": "\xff"}')
    with pytest.raises(BadInputError, match=r"bad\.jsonl:1: "):
        source.perspectives(["Why?"])


def test_versions_follow_the_content_and_a_deleted_file_is_reported(tmp_path: Path) -> None:
    source = write(tmp_path / "own.jsonl", {"question": "Why?", "perspectives": ["Because."]})
    before = source.version
    assert source.version == before
    write(tmp_path / "own.jsonl", {"question": "Why?", "perspectives": ["Because!"]})
    assert source.version != before
    assert source.perspectives(["Why?"]) == [("Because!",)]
    (tmp_path / "own.jsonl").unlink()
    with pytest.raises(BadInputError, match="cannot be read"):
        source.perspectives(["Why?"])
    with pytest.raises(BadInputError, match="cannot be read"):
        print(source.version)
