"""Sets of queries with many relevant passages: our layout, what a release may look like, Perspectrum, and bad rows."""

import gzip
import json
from pathlib import Path

import pytest

from berdseye.data.datasets.evidence_sets import RELEASED, read_evidence_set, read_perspectrum_evidence
from berdseye.data.errors import BadInputError

PASSAGES = [
    {"id": "p1", "text": "Language is a journal of linguistics.", "title": "Language", "popularity": 40},
    {"id": "p2", "text": "Lingua appears monthly.", "title": "Lingua", "popularity": 12},
    {"id": "p3", "text": "Trams are quiet."},
]
QUERIES = [{"id": "q1", "query": "journals about linguistics", "relevant": ["p1", "p2"]}]


def made(folder: Path, queries: list[dict], passages: list[dict], corpus: str = "corpus.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in queries), encoding="utf-8")
    text = "".join(json.dumps(p) + "\n" for p in passages).encode()
    (folder / corpus).write_bytes(gzip.compress(text) if corpus.endswith(".gz") else text)
    return folder


@pytest.mark.parametrize("corpus", ["corpus.jsonl", "corpus.jsonl.gz"])
def test_our_layout_is_read_as_it_stands(tmp_path: Path, corpus: str) -> None:
    found = read_evidence_set(made(tmp_path / "set", QUERIES, PASSAGES, corpus))
    assert found.relevant == {"q1": ("p1", "p2")}
    assert found.popularity == {"p1": 40.0, "p2": 12.0}
    assert found.words == {"p1": 6, "p2": 3, "p3": 3}
    assert [(p.id, p.source_id, p.title) for p in found.passages] == [
        (0, "p1", "Language"),
        (1, "p2", "Lingua"),
        (2, "p3", ""),
    ]
    assert not found.is_released


def test_rows_of_a_passage_each_and_objects_with_an_id_make_the_same_set(tmp_path: Path) -> None:
    rows = [
        {"query_id": "q1", "question": "journals about linguistics", "evidence": [{"passage_id": "p1", "text": "…"}]},
        {"query_id": "q1", "question": "journals about linguistics", "evidence": {"passage_id": "p2"}},
    ]
    assert read_evidence_set(made(tmp_path / "set", rows, PASSAGES)).relevant == {"q1": ("p1", "p2")}


def test_relevant_passages_outside_the_corpus_are_left_out_and_counted(tmp_path: Path) -> None:
    found = read_evidence_set(made(tmp_path / "set", [{**QUERIES[0], "relevant": ["p1", "p9"]}], PASSAGES))
    assert found.relevant == {"q1": ("p1",)}
    assert found.notes == ("1 relevant passages are not in the corpus and are skipped.",)


@pytest.mark.parametrize(
    ("queries", "passages", "said"),
    [
        ([{"id": "q1", "relevant": ["p1"]}], PASSAGES, r"queries.jsonl:1: The row has no query"),
        ([{"id": "q1", "query": "a"}], PASSAGES, "no relevant passages"),
        ([{"id": "q1", "query": "a", "relevant": [{"text": "x"}]}], PASSAGES, "has no id"),
        (QUERIES, [PASSAGES[0], PASSAGES[0]], r"corpus.jsonl:2: An earlier passage already has the id 'p1'"),
        (QUERIES, [{"id": "p1", "text": " "}], "no id or no text"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, queries: list[dict], passages: list[dict], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        read_evidence_set(made(tmp_path / "set", queries, passages))


def test_a_folder_without_the_files_says_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(BadInputError, match=r"no corpus.jsonl; it contains notes.txt"):
        read_evidence_set(tmp_path)
    with pytest.raises(BadInputError, match="does not exist"):
        read_evidence_set(tmp_path / "none")
    broken = made(tmp_path / "set", QUERIES, PASSAGES)
    (broken / "corpus.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(BadInputError, match=r"corpus.jsonl:1: Not valid JSON"):
        read_evidence_set(broken)


def test_what_is_not_the_release_is_refused_by_its_counts(tmp_path: Path) -> None:
    """D-MERIT, section 2.6: 1,196 queries, 60,333 evidence, 6,477,139 passages."""
    assert RELEASED == (1_196, 60_333, 6_477_139)
    with pytest.raises(BadInputError, match=r"1 queries \(published: 1,196\), 2 relevant \(published: 60,333\)"):
        read_evidence_set(made(tmp_path / "set", QUERIES, PASSAGES), released=True)


def test_perspectrum_as_released(shared_data: Path) -> None:
    """Golden counts of the released files: 907 claims and 11,112 texts in the pool; 679 claims have five paraphrases."""
    found = read_evidence_set(shared_data / "perspectrum")
    assert (len(found.queries), len(found.passages)) == (679, 11_112)
    assert sum(len(q.relevant) for q in found.queries) == 11_241
    assert len(read_perspectrum_evidence(shared_data / "perspectrum", at_least=1).queries) == 907
