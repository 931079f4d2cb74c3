"""Adding a corpus: read the source, cut it into passages, remove duplicates, and put the corpus in place atomically."""

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
from berdseye.data.corpora.settling import Finalising
from berdseye.data.documents import input_files
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.files.locks import locked
from berdseye.data.progress import Progress, silent
from berdseye.data.texts.chunkers import DEFAULT_CHUNKER, Chunker, Whole, parse_chunker
from berdseye.data.texts.counts import counted
from berdseye.data.texts.near_duplicates import DEFAULT_THRESHOLD, NearDuplicates
from berdseye.data.workspace import Workspace

NearDuplicateRule = Literal["keep", "drop"]
_BAD_ROWS_SHOWN = 10
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

    `chunker` cuts the texts. Without one, texts are cut into passages of 100 words, and texts that already are passages
    (DPR's Wikipedia, Sphere) stay as they are. Exact duplicates become one passage; with `near_duplicates` "drop", so do
    passages whose word 5-grams have a Jaccard similarity of `threshold` or more. Invalid rows are reported together in a
    `BadInputError` before anything changes; with `skip_bad`, they are skipped and listed in the manifest.

    Memory use does not grow with the source. An interrupted call leaves the workspace as it was; repeating the call
    resumes, unless the source has changed or `restart` is set. `say` receives a message on which of the two happens.
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
        f"Another process is writing corpus '{folder.name}'.", hint="Wait until it has finished, then try again."
    )
    with locked(folder.parent / f".{folder.name}.lock", busy=busy):
        if is_complete(folder) and not replace:
            raise BadInputError(f"Corpus '{name}' already exists.", hint="Choose another name, or pass --replace.")
        load = _Load(folder, source, kind, cut, options, progress)
        load.read(restart, say)
        load.settle(skip_bad, near)
        return load.finish()


class _Load:
    """One corpus while it is added to the workspace."""

    def __init__(
        self, folder: Path, source: Path, kind: Kind, cut: Chunker, options: dict[str, Any], progress: Progress
    ) -> None:
        self.folder, self.source, self.kind, self.cut, self.options = folder, source, kind, cut, options
        self.progress = progress
        self.loading = Loading(folder.parent / f".{folder.name}.loading")
        self.building = folder.parent / f".{folder.name}.building"
        self.reached = Reached()
        self.skipped = _SkippedRows(self.loading)
        self.settled: dict[str, Any] = {}

    def read(self, restart: bool, say: Callable[[str], object]) -> None:
        """Read the rest of the source."""
        files = input_files(self.source)
        self.reached, message = self.loading.begin(self.source, files, self.options, restart)
        if message:
            say(message)
        if not self.reached.complete:
            shutil.rmtree(self.building, ignore_errors=True)
            cut_whole = self.options["chunker"] is not None
            draft = Draft(self.loading, self.reached, self.kind, self.cut, cut_whole=cut_whole)
            read_all(self.loading, self.reached, files, draft, self.progress)

    def settle(self, skip_bad: bool, near: NearDuplicates | None) -> None:
        """Drop invalid rows and duplicates, and number the rest.

        Raises `BadInputError` for invalid rows unless `skip_bad` is set, and for a source without any passage.
        """
        self.progress(self.reached.rows, "passages read; looking for duplicates", None)
        with Finalising(self.loading) as settling:
            self.skipped.add_repeated_ids(settling)
            if self.skipped.count and not skip_bad:
                raise self.skipped.error(self.source)
            if not self.reached.rows:
                self.loading.remove()
                hint = "Nothing was added. Check that it is the right file."
                raise BadInputError("The source contains no passage.", where=self.source, hint=hint)
            settling.find_dropped(near)
            count, digest = settling.place(self.building, self.progress)
            self.settled = {
                "count": count,
                "hash": digest,
                "duplicates_merged": settling.count_dropped("text"),
                "near_duplicates": settling.count_dropped("near"),
            }

    def finish(self) -> Manifest:
        """Write the manifest and the checksums, and move the corpus to its place in the workspace."""
        all_whole = self.reached.whole == self.reached.documents
        manifest = Manifest(
            name=self.folder.name,
            kind=self.kind,
            documents=self.reached.documents - self.skipped.repeated,
            source=self.source.name,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            bad_rows=list(islice(self.skipped.lines(), _LISTED)),
            left_out=self.skipped.count,
            chunker=str(Whole() if all_whole else self.cut),
            format=", ".join(self.reached.formats),
            berdseye=berdseye_version(),
            sources=[SourceFile(**json.loads(line)) for line in islice(self.loading.sources.lines(), _LISTED)],
            source_files=self.reached.file,
            source_bytes=self.reached.bytes,
            **self.settled,
        )
        if manifest.left_out > _LISTED:
            self.skipped.copy_to(self.building / "left_out.txt")
        if manifest.source_files > _LISTED:
            shutil.copy(self.loading.sources.path, self.building)
        manifest.write(self.building)
        corpus_files(self.folder).built_in(self.building).seal(stamp=True, progress=self.progress)
        self.loading.forget()
        _put_in_place(self.building, self.folder)
        self.loading.remove()
        return manifest


class _SkippedRows:
    """The invalid rows: first those found while reading, then the documents that repeat an earlier id."""

    def __init__(self, loading: Loading) -> None:
        self._read, self._repeated = loading.bad_rows, Log(loading.folder / "repeated_ids.txt")
        self.repeated = self.count = 0

    def add_repeated_ids(self, settling: Finalising) -> None:
        """Add the documents that repeat an earlier id."""
        self._repeated.path.unlink(missing_ok=True)
        for row in settling.repeated_ids():
            self._repeated.add(str(row))
            self.repeated += 1
        self._repeated.sync()
        self.count = self.repeated + sum(1 for _ in self._read.lines())

    def lines(self) -> Iterator[str]:
        return chain(self._read.lines(), self._repeated.lines())

    def error(self, source: Path) -> BadInputError:
        reasons = "; ".join(islice(self.lines(), _BAD_ROWS_SHOWN)) + (
            f"; and {self.count - _BAD_ROWS_SHOWN} more" if self.count > _BAD_ROWS_SHOWN else ""
        )
        return BadInputError(
            f"{counted(self.count, 'invalid row')}: {reasons}.",
            where=source,
            hint="Nothing was added. Fix the file, or pass --skip-bad to skip these rows.",
        )

    def copy_to(self, path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in self.lines())


def _put_in_place(building: Path, folder: Path) -> None:
    """Replace the corpus by two renames, which take no time, before the old corpus is deleted."""
    old = folder.parent / f".{folder.name}.old"
    shutil.rmtree(old, ignore_errors=True)
    try:
        if folder.exists():
            folder.rename(old)
        building.rename(folder)
    except OSError as error:
        raise BerdseyeError(
            f"The corpus could not be moved to its folder: {error}.",
            where=folder,
            hint="Check the folder's permissions.",
        ) from error
    shutil.rmtree(old, ignore_errors=True)
