"""A load that was cut off goes on where it stopped, and what comes out is the same to the bit."""

import gzip
import io
import json
import random
import subprocess
import sys
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from berdseye.data.corpora import Manifest, add_corpus, open_corpus
from berdseye.data.workspace import Workspace

# Adds a corpus in small parts, in processes that kill themselves after so many seconds, and in a last one that does not.
KILLED = """
import os, signal, sys, threading
from pathlib import Path
import datasketch, pandas  # what takes long to load, before the time is taken
import berdseye.data.corpora.drafting as drafting
from berdseye.data.corpora import add_corpus
from berdseye.data.workspace import Workspace

drafting.PART_ROWS = 150
workspace, source = Workspace.open(Path(sys.argv[1])), Path(sys.argv[2])
for after in [*map(float, sys.argv[3:]), 0]:
    child = os.fork()
    if child:
        print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), workspace.corpora(), flush=True)
        continue
    if after:
        threading.Timer(after, os.kill, (os.getpid(), signal.SIGKILL)).start()
    add_corpus(workspace, "c", source, skip_bad=True, near_duplicates="drop", say=lambda text: print(text, flush=True))
    os._exit(0)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shards of every kind, with duplicates, near-duplicates, ids that stand twice and rows that cannot be used."""
    folder, chosen = tmp_path_factory.mktemp("source"), random.Random(3)
    words = [f"w{n}" for n in range(500)]
    texts = [" ".join(chosen.choices(words, k=chosen.randint(20, 250))) for _ in range(2400)]
    for n in range(50, 2400, 60):
        texts[n] = texts[n - 7]
        texts[n + 1] = texts[n - 9] + " more"
    rows = [{"id": f"d{n}", "title": f"T {n % 7}", "text": text} for n, text in enumerate(texts)]
    for n in range(77, 2400, 90):
        rows[n]["id"] = f"d{n - 5}"
    lines = [json.dumps(row) for row in rows]
    lines[100] = lines[1200] = "{"
    (folder / "1.jsonl").write_text("\n".join(lines[:500]))
    (folder / "2.jsonl.gz").write_bytes(gzip.compress("\n".join(lines[500:1000]).encode()))
    with tarfile.open(folder / "3.tar.gz", "w:gz") as archive:
        for part in range(3):
            content = "\n".join(lines[1000 + 200 * part : 1200 + 200 * part]).encode()
            member = tarfile.TarInfo(f"part-{part}.jsonl")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    cells = ("\t".join((r["id"], '"' + r["text"].replace(" w1", "\nw1") + '"', r["title"])) for r in rows[1600:2000])
    (folder / "4.tsv").write_text("id\ttext\ttitle\n" + "\n".join(cells))
    pq.write_table(pa.Table.from_pylist(rows[2000:]), folder / "5.parquet", row_group_size=130)
    return folder


def run(workspace: Workspace, source: Path, *killed_after: float) -> list[str]:
    arguments = [sys.executable, "-c", KILLED, str(workspace.folder), str(source), *map(str, killed_after)]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=100, check=True).stdout.splitlines()


def content(workspace: Workspace) -> tuple[dict[str, bytes], Manifest]:
    corpus = open_corpus(workspace, "c")
    files = {str(p.relative_to(corpus.folder)): p.read_bytes() for p in corpus.folder.rglob("*") if p.is_file()}
    del files["manifest.json"], files["corpus.checksums"]  # both hold the time, the second by the checksum of the first
    return files, corpus.manifest


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, source: Path) -> tuple[dict[str, bytes], Manifest]:
    """What an uninterrupted load gives."""
    whole = Workspace.create(tmp_path_factory.mktemp("whole"))
    assert run(whole, source) == ["ended 0 ['c']"]
    return content(whole)


def test_killed_at_random_moments_it_ends_in_the_same_corpus(
    workspace: Workspace, source: Path, expected: tuple[dict[str, bytes], Manifest]
) -> None:
    chosen = random.Random()
    said = run(workspace, source, *(chosen.uniform(0.02, 0.5) for _ in range(12)))
    killed = said.index("ended 0 ['c']")
    assert said[:killed].count("ended -9 []") >= 2
    assert any("Resuming after" in line for line in said)
    files, manifest = content(workspace)
    assert files == expected[0]
    assert manifest == Manifest(**vars(expected[1]) | {"created": manifest.created})
    assert min(manifest.duplicates_merged, manifest.near_duplicates, manifest.left_out) > 20
    assert sorted(p.name for p in workspace.corpus_folder("c").parent.iterdir()) == [".c.lock", "c"]


def test_interrupted_it_goes_on(
    workspace: Workspace, source: Path, expected: tuple[dict[str, bytes], Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berdseye.data.corpora.drafting.PART_ROWS", 150)

    def interrupt(done: int, what: str, total: int | None = None, /) -> None:
        del total
        if done > 900 and what == "passages":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add_corpus(workspace, "c", source, skip_bad=True, near_duplicates="drop", progress=interrupt)
    told: list[str] = []
    add_corpus(workspace, "c", source, skip_bad=True, near_duplicates="drop", say=told.append)
    assert [t.partition(" after")[0] for t in told] == ["Resuming"]
    assert content(workspace)[0] == expected[0]


@pytest.fixture
def unfinished(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source whose load was cut off after 2,000 of its 3,000 documents."""
    monkeypatch.setattr("berdseye.data.corpora.drafting.PART_ROWS", 1000)
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": f"Text {n}."}) + "\n" for n in range(3000)))

    def stop(done: int, what: str, total: int | None = None, /) -> None:
        del what, total
        if done >= 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add_corpus(workspace, "c", path, progress=stop)
    return path


def test_a_changed_source_starts_over_and_reports_it(workspace: Workspace, unfinished: Path) -> None:
    with unfinished.open("a") as file:
        file.write('{"id": "more", "text": "More."}\n')
    told: list[str] = []
    assert add_corpus(workspace, "c", unfinished, say=told.append).count == 3001
    assert told == ["The source has changed since the unfinished load; starting from the beginning."]


def test_other_options_start_over_and_report_it(workspace: Workspace, unfinished: Path) -> None:
    told: list[str] = []
    assert add_corpus(workspace, "c", unfinished, chunker="sentences(50)", say=told.append).count == 3000
    assert told == ["The options have changed since the unfinished load; starting from the beginning."]


def test_restart_starts_over(workspace: Workspace, unfinished: Path) -> None:
    told: list[str] = []
    counts: list[int] = []
    add_corpus(
        workspace,
        "c",
        unfinished,
        restart=True,
        say=told.append,
        progress=lambda done, _what, _total=None: counts.append(done),
    )
    assert told == []
    assert counts[0] == 1000


def test_it_resumes_without_reading_again(workspace: Workspace, unfinished: Path) -> None:
    told: list[str] = []
    counts: list[tuple[int, int | None]] = []
    add_corpus(
        workspace,
        "c",
        unfinished,
        say=told.append,
        progress=lambda done, _what, total=None: counts.append((done, total)),
    )
    assert told == ["Resuming after 2,000 passages."]
    assert counts[0] == (3000, 3000)
    assert open_corpus(workspace, "c").manifest.count == 3000


def test_an_unfinished_load_that_was_tampered_with_is_read_again(workspace: Workspace, unfinished: Path) -> None:
    folder = workspace.folder / "corpora" / ".c.loading"
    (folder / "reached.json").write_text("{")
    assert add_corpus(workspace, "c", unfinished).count == 3000
