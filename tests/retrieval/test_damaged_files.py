"""No damaged file answers: each gives one line that names it and how it is made again, and nothing is read out of bounds."""

import shutil
from collections.abc import Iterator
from math import ceil
from pathlib import Path

import pytest

from berdseye.data.corpora import open_corpus
from berdseye.data.errors import BerdseyeError, DamagedError
from berdseye.data.files.checksums import FileSet
from berdseye.data.workspace import Workspace
from berdseye.retrieval.passage_collections import StoredCorpus
from berdseye.retrieval.pipeline_registry import parse_pipeline
from tests.retrieval.damages import DAMAGES, PIPELINES, forget, make, sets, use

INDEX = ("manifest.json", "index.checksums")
POSTINGS = (
    "documents.lengths", "postings.docs", "postings.ends", "postings.values", "terms.bytes", "terms.ends", "totals.json",
)  # fmt: skip
RUN = "d--c--bm25"
FILES = {
    "lexical": (*POSTINGS, *INDEX),
    "flat": ("vectors.faiss", *INDEX),
    "quantised": ("vectors.faiss", *INDEX),
    "corpus": ("manifest.json", "passages/000000000000.parquet", "corpus.checksums"),
    "run": (f"{RUN}.json", f"{RUN}.parquet", f"{RUN}.checksums"),
    "labels": ("*.parquet", "*.checksums"),
    "gold": ("*.parquet", "*.checksums"),
    "data set": ("d.parquet", "d.checksums"),
    "answers": ("a.json", "a.parquet", "a.checksums"),
}
TABLE = [
    (kind, names[n % len(names)], damage)
    for kind, names in FILES.items()
    for n, damage in enumerate(list(DAMAGES) * ceil(len(names) / len(DAMAGES)))
]
"""Every kind in every way, and every file in some way."""
OLDER = [(kind, name) for kind, names in FILES.items() for name in names if "checksums" not in name]
OBVIOUS = [damage for damage in DAMAGES if damage not in ("swapped", "zeroed")]
"""Damage that can be noticed without a checksum, mostly."""
REBUILT = {
    "lexical": "`berdseye index c --pipeline bm25 --rebuild`",
    "flat": "`berdseye index c --pipeline 'dense(static)' --rebuild`",
    "quantised": "`berdseye index c --pipeline 'dense(static,index=sq8)' --rebuild`",
    "corpus": "`berdseye corpus add c SOURCE --replace`",
    "run": "`berdseye run --dataset d --corpus c --pipeline bm25",
    "labels": "`berdseye evaluate --run RUN --labels embedded`",
    "gold": "`berdseye dataset add d FILE --replace`",
    "data set": "`berdseye dataset add d FILE --replace`",
    "answers": "`berdseye answer`",
}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Workspace]:
    """Two workspaces that hold the same names and other content."""
    made = []
    for seed in (0, 1):
        made.append(Workspace.create(tmp_path_factory.mktemp("stored") / "workspace"))
        make(made[-1], seed)
    return made[0], made[1]


@pytest.fixture
def copied(two: tuple[Workspace, Workspace], tmp_path: Path) -> Iterator[Workspace]:
    """The first of the two, to be damaged, in a process that has compared nothing yet."""
    shutil.copytree(two[0].folder, tmp_path / "copy")
    forget()
    yield Workspace.open(tmp_path / "copy")
    forget()


def the_file(held: FileSet, name: str) -> Path:
    (path,) = held.folder.glob(name)
    return path


def hurt(path: Path, other: Path, damage: str) -> None:
    whole = path.read_bytes()
    damaged = DAMAGES[damage](whole, other.read_bytes())
    path.unlink() if damaged is None else path.write_bytes(damaged)
    assert damaged != whole


def outcome(workspace: Workspace, kind: str) -> str:
    """What the error says, or nothing where there is none; rankings are then of passages of the corpus."""
    try:
        found = use(workspace, kind)
    except BerdseyeError as error:
        return str(error)
    if kind in PIPELINES:
        assert isinstance(found, list)
        assert all(0 <= i < 60 for ids, _ in found for i in ids)
    return ""


@pytest.mark.parametrize(("kind", "name", "damage"), TABLE)
def test_a_damaged_file_is_named_with_what_makes_it_again(
    two: tuple[Workspace, Workspace], copied: Workspace, kind: str, name: str, damage: str
) -> None:
    held = sets(copied)[kind]
    path = the_file(held, name)
    sound = use(two[0], kind)
    assert use(copied, kind) == sound
    assert held.examine() == []
    hurt(path, the_file(sets(two[1])[kind], name), damage)
    forget()
    if path == held.record and damage == "missing":  # as an older version wrote it
        assert use(copied, kind) == sound
        assert held.sealed() is None
        return
    found = held.examine()
    forget()
    if path == held.record and not found:  # a bit that says nothing
        assert use(copied, kind) == sound
        return
    with pytest.raises(DamagedError) as raised:
        use(copied, kind)
    if damage == "swapped" and path == held.record:  # then the other files are not those of the record
        assert found
        assert isinstance(raised.value.where, Path)
        assert raised.value.where.parent in (held.folder, held.folder / "passages")
    else:
        assert [(d.path) for d in found] == [path]
        assert raised.value.where == path
    assert REBUILT[kind] in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "name", "damage"), [(*file, OBVIOUS[n % len(OBVIOUS)]) for n, file in enumerate(OLDER)]
)
def test_an_older_workspace_without_checksums_neither_crashes_nor_gives_tracebacks(
    copied: Workspace, kind: str, name: str, damage: str
) -> None:
    held = sets(copied)[kind]
    held.record.unlink()
    path = the_file(held, name)
    hurt(path, path, damage)
    said = outcome(copied, kind)  # without checksums a flipped bit may go unnoticed
    assert "\n" not in said
    assert said or damage.startswith("bit") or kind not in PIPELINES


@pytest.mark.parametrize("name", POSTINGS)
@pytest.mark.parametrize("damage", [d for d in DAMAGES if d.startswith(("bit", "zero", "swap"))])
def test_what_is_damaged_between_two_comparisons_is_never_read_out_of_bounds(
    two: tuple[Workspace, Workspace], copied: Workspace, name: str, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileSet, "check", lambda *_, **__: None)
    held = sets(copied)["lexical"]
    hurt(the_file(held, name), the_file(sets(two[1])["lexical"], name), damage)
    assert "\n" not in outcome(copied, "lexical")


def test_an_open_index_that_is_damaged_meanwhile_is_refused(copied: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berdseye.retrieval.passage_collections._CHECK_EVERY", 0)
    collection = StoredCorpus(open_corpus(copied, "c"))
    (indexer,) = parse_pipeline("bm25").ranker.indexers
    opened = collection.index(indexer)
    assert collection.index(indexer) is opened
    path = sets(copied)["lexical"].folder / "documents.lengths"
    whole = path.read_bytes()
    path.write_bytes(whole[::-1])
    with pytest.raises(DamagedError, match=r"documents\.lengths"):
        collection.index(indexer)
    path.write_bytes(whole)
    assert collection.index(indexer) is not opened
