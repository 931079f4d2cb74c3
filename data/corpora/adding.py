"""Adding a corpus: read, cut, made free of duplicates, and put in place whole or not at all."""

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from berdseye.data.corpora.drafting import Draft, read_all
from berdseye.data.corpora.loading import Loading, Log, Reached
from berdseye.data.corpora.manifest import Kind, Manifest, SourceFile, berdseye_version, corpus_files, is_complete
from berdseye.data.corpora.settling import Settling
from berdseye.data.documents import input_files
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.files.locks import locked
from berdseye.data.progress import Progress, silent
from berdseye.data.texts.chunkers import DEFAULT_CHUNKER, Chunker, Whole, parse_chunker
from berdseye.data.texts.near_duplicates import DEFAULT_THRESHOLD, NearDuplicates
from berdseye.data.workspace import Workspace

NearDuplicateRule = Literal["keep", "drop"]
_TOLD = 10
_LISTED = 1_000


def add_corpus(
    workspace: Workspace,
    name: str,
    source: Path,
    *,
    kind: Kind = "passages",
    replace: bool = False,
    skip_bad: bool = False,
    chunker: str | None = None,
    near_duplicates: NearDuplicateRule = "keep",
    threshold: float = DEFAULT_THRESHOLD,
    restart: bool = False,
    progress: Progress = silent,
    say: Callable[[str], object] = lambda _: None,
) -> Manifest:
    """Read `source`, cut it into passages (or keep its pages whole) and add it as a corpus.

    Texts are cut by `chunker`; where none is named, into passages of 100 words, and those that are passages already
    (DPR's Wikipedia, Sphere) are left as they are. Exact duplicates become one passage; with `near_duplicates` "drop", so
    do passages whose word 5-grams have a Jaccard similarity of `threshold` or more. Bad rows end it, all told together,
    before anything is changed; with `skip_bad` they are left out and listed in the manifest.

    Memory does not grow with the source. Cut off half-way, the workspace is as before, and the same call goes on where
    the last one stopped, unless the source has changed since or `restart` is set; `say` is told which.
    """
    cut = parse_chunker(chunker or DEFAULT_CHUNKER)
    options = {
        "kind": kind,
        "chunker": None if chunker is None else str(cut),
        "near_duplicates": threshold if near_duplicates == "drop" else None,
    }
    near = NearDuplicates(threshold) if near_duplicates == "drop" else None
    folder = workspace.corpus_folder(name)
    busy = BerdseyeError(
        f"Corpus '{folder.name}' is being written by another process.", hint="Wait until it has finished."
    )
    with locked(folder.parent / f".{folder.name}.lock", busy=busy):
        if is_complete(folder) and not replace:
            raise BadInputError(f"There is a corpus '{name}' already.", hint="Choose another name, or pass --replace.")
        load = _Load(folder, source, kind, cut, options, progress)
        load.read(restart, say)
        load.settle(skip_bad, near)
        return load.finish()


class _Load:
    """One corpus on its way into the workspace."""

    def __init__(
        self, folder: Path, source: Path, kind: Kind, cut: Chunker, options: dict[str, Any], progress: Progress
    ) -> None:
        self.folder, self.source, self.kind, self.cut, self.options = folder, source, kind, cut, options
        self.progress = progress
        self.loading = Loading(folder.parent / f".{folder.name}.loading")
        self.building = folder.parent / f".{folder.name}.building"
        self.reached = Reached()
        self.left_out = _LeftOut(self.loading)
        self.settled: dict[str, Any] = {}

    def read(self, restart: bool, say: Callable[[str], object]) -> None:
        """Read what has not been read yet."""
        files = input_files(self.source)
        self.reached, said = self.loading.begin(self.source, files, self.options, restart)
        if said:
            say(said)
        if not self.reached.complete:
            shutil.rmtree(self.building, ignore_errors=True)
            cut_whole = self.options["chunker"] is not None
            draft = Draft(self.loading, self.reached, self.kind, self.cut, cut_whole=cut_whole)
            read_all(self.loading, self.reached, files, draft, self.progress)

    def settle(self, skip_bad: bool, near: NearDuplicates | None) -> None:
        """Leave out what must be, and give ids to the rest; raises `BadInputError` where there is nothing to keep."""
        self.progress(self.reached.rows, "passages read; looking for duplicates", None)
        with Settling(self.loading) as settling:
            self.left_out.repeat(settling)
            if self.left_out.count and not skip_bad:
                raise self.left_out.refusal(self.source)
            if not self.reached.rows:
                self.loading.remove()
                hint = "Nothing was added. Is it the right file?"
                raise BadInputError("No passage was found.", where=self.source, hint=hint)
            settling.find_dropped(near)
            count, digest = settling.place(self.building, self.progress)
            self.settled = {
                "count": count,
                "hash": digest,
                "duplicates_merged": settling.count_dropped("text"),
                "near_duplicates": settling.count_dropped("near"),
            }

    def finish(self) -> Manifest:
        """Write the manifest, and put the corpus where it belongs."""
        whole = self.reached.whole == self.reached.documents
        manifest = Manifest(
            name=self.folder.name,
            kind=self.kind,
            documents=self.reached.documents - self.left_out.repeated,
            source=self.source.name,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            bad_rows=list(islice(self.left_out.lines(), _LISTED)),
            left_out=self.left_out.count,
            chunker=str(Whole() if whole else self.cut),
            format=", ".join(self.reached.formats),
            berdseye=berdseye_version(),
            sources=[SourceFile(**json.loads(line)) for line in islice(self.loading.sources.lines(), _LISTED)],
            source_files=self.reached.file,
            source_bytes=self.reached.bytes,
            **self.settled,
        )
        if manifest.left_out > _LISTED:
            self.left_out.copy_to(self.building / "left_out.txt")
        if manifest.source_files > _LISTED:
            shutil.copy(self.loading.sources.path, self.building)
        manifest.write(self.building)
        corpus_files(self.folder).built_in(self.building).seal(stamp=True, progress=self.progress)
        self.loading.forget()
        _put_in_place(self.building, self.folder)
        self.loading.remove()
        return manifest


class _LeftOut:
    """The rows that cannot be used: those told while reading, and then those whose id stood before."""

    def __init__(self, loading: Loading) -> None:
        self._read, self._repeated = loading.bad_rows, Log(loading.folder / "repeated_ids.txt")
        self.repeated = self.count = 0

    def repeat(self, settling: Settling) -> None:
        """Take in the documents whose id stood before."""
        self._repeated.path.unlink(missing_ok=True)
        for row in settling.repeated_ids():
            self._repeated.add(str(row))
            self.repeated += 1
        self._repeated.sync()
        self.count = self.repeated + sum(1 for _ in self._read.lines())

    def lines(self) -> Iterator[str]:
        return chain(self._read.lines(), self._repeated.lines())

    def refusal(self, source: Path) -> BadInputError:
        told = "; ".join(islice(self.lines(), _TOLD)) + (
            f"; and {self.count - _TOLD} more" if self.count > _TOLD else ""
        )
        return BadInputError(
            f"{self.count} row{'s' if self.count > 1 else ''} cannot be used. {told}.",
            where=source,
            hint="Nothing was added. Correct the file, or pass --skip-bad to leave these rows out.",
        )

    def copy_to(self, path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in self.lines())


def _put_in_place(building: Path, folder: Path) -> None:
    """Two renames, so that a corpus is replaced in an instant however long deleting the old one takes."""
    old = folder.parent / f".{folder.name}.old"
    shutil.rmtree(old, ignore_errors=True)
    try:
        if folder.exists():
            folder.rename(old)
        building.rename(folder)
    except OSError as error:
        raise BerdseyeError(f"The corpus could not be put in place: {error}.", where=folder) from error
    shutil.rmtree(old, ignore_errors=True)
