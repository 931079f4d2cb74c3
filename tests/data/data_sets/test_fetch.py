"""Published data sets from local copies, and from a home on this machine; counts are the papers'."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from home_server import home

from berdseye.data.datasets.fetching import FetchReport, Missing, fetch
from berdseye.data.datasets.published import SETS, PublishedPart, named_sets
from berdseye.data.datasets.stored import GOLD, load_dataset
from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.evaluation.published import published


def test_berds_from_copies(workspace: Workspace, shared_data: Path) -> None:
    """BERDS, Table 1: 250, 258 and 294 development questions; the copies are the released files, hash for hash."""
    done = list(fetch(workspace, "berds", shared_data))
    added = [d for d in done if isinstance(d, FetchReport)]
    assert [(d.dataset, d.counts, d.notes) for d in added] == [
        ("berds-arguana-dev", "250 questions, as published", ()),
        ("berds-kialo-dev", "258 questions, as published", ()),
        ("berds-opinionqa-dev", "294 questions, as published", ()),
    ]
    assert [d.dataset for d in done if isinstance(d, Missing)] == [
        "berds-arguana-test", "berds-kialo-test", "berds-opinionqa-test",
    ]  # fmt: skip
    kialo = load_dataset(workspace, "berds-kialo-dev")
    assert max(len(q.perspectives) for q in kialo) == 42  # one Kialo development question has 42 perspectives
    assert (workspace.downloads_folder / "berds-kialo" / "kialo_query_exp.dev.jsonl").exists()


def test_the_expected_counts_of_berds_are_those_of_the_paper() -> None:
    """BERDS, Table 1."""
    table = published("berds_dataset").set_index("dataset")
    for name in ("arguana", "kialo", "opinionqa"):
        parts = SETS[f"berds-{name}"]
        assert [part.read.keywords["questions"] for part in parts] == [table.loc[name, "dev"], table.loc[name, "test"]]  # type: ignore[attr-defined]


def test_perspectrum_from_copies(workspace: Workspace, shared_data: Path) -> None:
    """907 claims: 541, 139 and 227 (Chen et al., 2019)."""
    done = [d for d in fetch(workspace, "perspectrum", shared_data) if isinstance(d, FetchReport)]
    assert [d.counts for d in done] == [f"{n} claims, as published" for n in (541, 139, 227)]
    assert {q.id for q in load_dataset(workspace, "perspectrum-dev")}.isdisjoint(
        q.id for q in load_dataset(workspace, "perspectrum-test")
    )


def test_pir_from_copies_of_the_demo(workspace: Workspace, shared_data: Path) -> None:
    """The demo is a part of the tasks, which is told."""
    (done,) = fetch(workspace, "pir-ambigqa", shared_data)
    assert isinstance(done, FetchReport)
    assert done.counts == "100 queries (published: 864); 500 passages (published: 864)"
    task = json.loads((shared_data / "pir" / "ambigqa.json").read_text(encoding="utf-8"))
    pair = Pair(task["corpus"][task["key_ref"]["0"][0]], task["perspectives"][0])
    assert LabelStore(workspace).get(GOLD, [pair.key]).tolist() == [1.0]


def test_a_copy_that_is_not_the_published_file_is_reported(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "kialo.jsonl").write_text('{"org_id": 1, "org_q": "Why?", "perspectives": ["A.", "B."]}\n')
    done = next(fetch(workspace, "berds-kialo", tmp_path))
    assert isinstance(done, FetchReport)
    assert done.counts == "1 questions (published: 258)"
    assert "not the published file" in done.notes[0]


def test_the_hub_s_test_questions_as_rows_or_parquet(workspace: Workspace, tmp_path: Path) -> None:
    """Either form is read, and a later fetch of the other takes its place."""
    row = {"id": 0, "question": "Why?", "type": "binary", "perspectives": ["A.", "B."]}
    (tmp_path / "kialo_test.jsonl").write_text(json.dumps(row))
    assert [type(d) for d in fetch(workspace, "berds-kialo", tmp_path)] == [FetchReport, Missing]
    (tmp_path / "kialo_test.jsonl").unlink()
    pq.write_table(pa.Table.from_pylist([row, {**row, "id": 1}]), tmp_path / "kialo_test.parquet")
    (done, _) = fetch(workspace, "berds-kialo", tmp_path, replace=True)
    assert isinstance(done, FetchReport)
    assert done.counts == "2 questions (published: 774)"
    assert [p.name for p in (workspace.downloads_folder / "berds-kialo").iterdir()] == ["kialo_test.parquet"]


def test_debateqa_from_copies(workspace: Workspace, tmp_path: Path) -> None:
    answers = [{"point_of_view": "Yes", "explanation": "Because."}, {"point_of_view": "No", "explanation": "But."}]
    (tmp_path / "test.jsonl").write_text(json.dumps({"id": 5, "question": "Is it?", "partial_answers": answers}))
    done, missing = fetch(workspace, "debateqa", tmp_path)
    assert isinstance(done, FetchReport)
    assert isinstance(missing, Missing)
    assert done.counts == "1 questions (published: 1,000); 2 partial answers"
    (question,) = load_dataset(workspace, "debateqa-test")
    assert [(p.text, p.explanation) for p in question.perspectives] == [("Yes", "Because."), ("No", "But.")]


def test_dmerit_is_downloaded_by_hand(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"D-MERIT\.github\.io.*yourself.*--from DIR"):
        next(fetch(workspace, "dmerit"))
    (tmp_path / "corpus.jsonl").write_text('{"id": "a", "text": "A text."}\n{"id": "b", "text": "Another."}\n')
    (tmp_path / "queries.jsonl").write_text('{"id": "q", "query": "names", "relevant": ["a", "b"]}\n')
    (done,) = fetch(workspace, "dmerit", tmp_path)
    assert isinstance(done, FetchReport)
    assert done.counts.startswith("1 queries (published: 1,196); 2 relevant passages (published: 60,333)")
    assert [q.text for q in load_dataset(workspace, "dmerit")] == ["names"]


def test_what_is_there_is_replaced_only_when_asked(workspace: Workspace, shared_data: Path) -> None:
    list(fetch(workspace, "perspectrum", shared_data))
    with pytest.raises(BadInputError, match=r"'perspectrum-train' already exists\. Pass --replace"):
        list(fetch(workspace, "perspectrum", shared_data))
    assert len(list(fetch(workspace, "perspectrum", shared_data, replace=True))) == 3


def test_folders_that_do_not_serve_are_reported(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="does not exist"):
        list(fetch(workspace, "berds", tmp_path / "none"))
    with pytest.raises(BadInputError, match=r"no file of 'debateqa'\. Expected dev\.jsonl, test\.jsonl"):
        list(fetch(workspace, "debateqa", tmp_path))
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kialo.jsonl").write_text("{}")
    with pytest.raises(BadInputError, match=r"Several folders contain .*: one, two"):
        list(fetch(workspace, "berds-kialo", tmp_path))


def test_names() -> None:
    assert named_sets("berds") == ["berds-arguana", "berds-kialo", "berds-opinionqa"]
    assert len(named_sets("pir")) == 6
    with pytest.raises(UnknownNameError, match="Did you mean debateqa"):
        named_sets("debatqa")


def test_a_task_is_fetched_from_its_home(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Hub's three files, of unknown hash: recorded, and told."""
    rows = {
        "corpus.jsonl": [{"_id": "c1", "text": "One."}, {"_id": "c2", "text": "Two."}],
        "queries.jsonl": [
            {"_id": f"q{n}", "text": f"t{n}", "meta": json.dumps({"src_query": "r", "perspective": f"p{n}"})}
            for n in (1, 2)
        ],
        "qrels/test.jsonl": [{"query-id": f"q{n}", "corpus-id": f"c{n}", "score": 1} for n in (1, 2)],
    }
    (part,) = SETS["pir-ambigqa"]
    with home() as server:
        for name, held in rows.items():
            server.files[f"/{name}"] = "\n".join(map(json.dumps, held)).encode()
        files = tuple(f._replace(url=f"{server.address}/{f.path}") for f in part.files)
        monkeypatch.setitem(SETS, "pir-ambigqa", (PublishedPart(part.dataset, files, part.read, part.local),))
        (done,) = fetch(workspace, "pir-ambigqa")
        assert isinstance(done, FetchReport)
        assert done.counts.startswith("2 queries (published: 864); 2 passages")
        assert len(done.notes) == 3
        assert "recorded; later downloads" in done.notes[0]
        (again,) = fetch(workspace, "pir-ambigqa", replace=True)
        assert isinstance(again, FetchReport)
        assert again.notes == ()
    assert capsys.readouterr().out == ""
    assert [q.text for q in load_dataset(workspace, "pir-ambigqa")] == ["r"]


def test_every_part_names_its_files() -> None:
    """From addresses that are encrypted, or by hand."""
    for name, parts in SETS.items():
        for part in parts:
            assert part.dataset.startswith(name)
            assert part.files or part.by_hand
            assert all(f.url.startswith("https://") for f in part.files)
