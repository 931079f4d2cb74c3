"""Reading a corpus: passages by id, all passages in order, and the ids of a text.

On disk, passages are in Parquet files (parts), each named by its first id, in row groups small enough to read one passage.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import accumulate, chain, groupby, islice
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from berdseye.data.corpora.manifest import MANIFEST, Manifest, corpus_files
from berdseye.data.errors import BadInputError, StaleError, UnknownNameError
from berdseye.data.files.atomic import write_with
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Passage
from berdseye.data.texts.chunkers import Chunker, parse_chunker
from berdseye.data.workspace import Workspace

PART_ROWS = 50_000
GROUP_ROWS = 500
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("source_id", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("url", pa.string()),
    ]
)
_REPEATED = ["title", "url"]
PASSAGES_A_PAGE = 10_000
_COLUMNS = ["id", "title", "text"]
_FEW, _READERS = 3, 4


def part_path(folder: Path, first_id: int) -> Path:
    """The path, in a corpus folder, of the part that begins with this id."""
    return folder / "passages" / f"{first_id:012d}.parquet"


def write_part(path: Path, table: pa.Table) -> None:
    """Write a part with small row groups; only ids have statistics, since statistics of texts make opening slow."""
    write_with(
        path,
        lambda temporary: pq.write_table(
            table,
            temporary,
            compression="zstd",
            row_group_size=GROUP_ROWS,
            use_dictionary=_REPEATED,
            write_statistics=["id"],
        ),
    )


@contextmanager
def reading(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a part for reading; raises `DamagedError` with its path if it cannot be read."""
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise corpus_files(path.parents[1]).unreadable(path, error) from error


def list_parts(folder: Path) -> tuple[list[Path], list[int]]:
    """The parts of a corpus in order of id, and the first id of each."""
    parts = sorted((folder / "passages").glob("*.parquet"))
    if parts and not parts[0].stem.isdigit():
        return parts, _first_ids(parts)
    return parts, [int(p.stem) for p in parts]


def _first_ids(parts: Sequence[Path]) -> list[int]:
    """First ids of the parts of a corpus from an older version, which numbered its parts consecutively."""
    starts = [0]
    for part in parts:
        with reading(part) as file:
            starts.append(starts[-1] + file.metadata.num_rows)
    return starts[:-1]


class Corpus:
    """A corpus in a workspace.

    The rows of a corpus of kind 'passages' are passages. Those of kind 'pages' are whole web pages, which are cut into
    passages when a query retrieves them. A corpus of kind 'web' searches the web for pages at every query.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        corpus_files(folder).check(lambda name: name == MANIFEST)
        self.manifest = Manifest.read(folder)
        self.name = self.manifest.name

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        """The passages with these ids, in the order given; raises `StaleError` for an id that the corpus does not have.

        Only the row groups with these ids are read, whatever the size of the corpus.
        """
        distinct_ids = list(dict.fromkeys(int(i) for i in ids))
        if self.manifest.kind != "passages":
            pages = self._pages(sorted({i // PASSAGES_A_PAGE for i in distinct_ids}))
            passages = {p.id: p for page in pages for p in cut_page(page, self.chunker)}
        else:
            passages = {p.id: p for p in self._rows(set(distinct_ids))}
        missing = [i for i in distinct_ids if i not in passages]
        if missing:
            held = f"Its passages are 0 to {self.manifest.count - 1}. " if self.manifest.kind == "passages" else ""
            raise StaleError(
                f"Corpus '{self.name}' has no passage {missing[0]}.",
                hint=f"{held}If a run or a link stored this number, the corpus was replaced since; run the pipeline again.",
            )
        return [passages[int(i)] for i in ids]

    def _pages(self, ids: list[int]) -> Iterable[Passage]:
        if self.manifest.kind == "pages":
            return self._rows(set(ids))
        from berdseye.data.corpora.web import web_pages  # imports a web client, which few calls need

        return web_pages(self.folder, self.manifest).pages(ids)

    def batches(self, size: int = 4096, start: int = 0) -> Iterator[list[Passage]]:
        """Yield all rows from id `start` on in order of id, in batches of at most `size`."""
        for batch in self._batches(size, start, SCHEMA.names):
            yield [Passage(*row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]

    def columns(self, size: int = 4096, start: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield all rows from id `start` on as Arrow batches of at most `size` rows, with columns `id`, `title`, `text`.

        This creates no Python object per passage.
        """
        yield from self._batches(size, start, _COLUMNS)

    def texts(self, progress: Progress = silent, size: int = 4096) -> Iterator[tuple[list[int], list[str]]]:
        """Yield the ids and texts of all rows in batches of at most `size`."""
        for batch in self.columns(size):
            ids = batch.column("id").to_pylist()
            progress(ids[-1] + 1, "passages compared", self.manifest.count)
            yield ids, batch.column("text").to_pylist()

    @cached_property
    def chunker(self) -> Chunker:
        """The chunker that cuts the pages of a corpus of pages."""
        return parse_chunker(self.manifest.chunker)

    def _batches(self, size: int, start: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
        parts, starts = self._parts
        for place in range(max(0, bisect_right(starts, start) - 1), len(parts)):
            with reading(parts[place]) as file:
                before = max(0, start - starts[place])
                groups, before = _groups_from(file.metadata, before)
                end = starts[place + 1] if place + 1 < len(starts) else self.manifest.count
                if starts[place] + file.metadata.num_rows != end:
                    reason = f"it does not contain passages {starts[place]:,} to {end - 1:,}"
                    raise corpus_files(self.folder).unreadable(parts[place], reason)
                for batch in file.iter_batches(batch_size=size, row_groups=groups, columns=columns):
                    kept = batch.slice(before)
                    before = max(0, before - batch.num_rows)
                    if kept.num_rows:
                        yield kept

    def _rows(self, ids: set[int]) -> Iterator[Passage]:
        parts, starts = self._parts
        by_part = groupby(sorted(i for i in ids if i >= 0), key=lambda i: bisect_right(starts, i) - 1)
        wanted = [(parts[place], starts[place], list(part_ids)) for place, part_ids in by_part]
        if len(wanted) <= _FEW:
            return chain.from_iterable(_read_rows(*arguments) for arguments in wanted)
        with ThreadPoolExecutor(_READERS) as pool:
            return chain.from_iterable(list(pool.map(_read_rows, *zip(*wanted, strict=True))))

    @property
    def _parts(self) -> tuple[list[Path], list[int]]:
        corpus_files(self.folder).check()
        return self._listed

    @cached_property
    def _listed(self) -> tuple[list[Path], list[int]]:
        parts, starts = list_parts(self.folder)
        if self.manifest.kind != "web" and self.manifest.count and (not parts or starts[0] != 0):
            part = part_path(self.folder, 0)
            raise corpus_files(self.folder).unreadable(part, "the first passages are missing")
        return parts, starts


def cut_page(page: Passage, chunker: Chunker | None = None) -> list[Passage]:
    """The passages of a web page; their ids derive from the page's id, so they are the same for every query."""
    cut = chunker or parse_chunker()
    return [
        Passage(page.id * PASSAGES_A_PAGE + n, f"{page.source_id}#{n}", page.title, text, page.url)
        for n, text in enumerate(islice(cut(page.text), PASSAGES_A_PAGE))
    ]


def open_corpus(workspace: Workspace, name: str) -> Corpus:
    """The corpus of this name; raises `UnknownNameError` with the closest existing names."""
    if name not in (known := workspace.corpora()):
        with suppress(BadInputError):  # not a valid name of a corpus
            corpus_files(workspace.corpus_folder(name)).check()  # a corpus without its manifest is damaged, not unknown
        raise UnknownNameError("corpus", name, known)
    return Corpus(workspace.corpus_folder(name))


def _group_starts(metadata: pq.FileMetaData) -> list[int]:
    starts = [0]
    for group in range(metadata.num_row_groups):
        starts.append(starts[-1] + metadata.row_group(group).num_rows)
    return starts


def _groups_from(metadata: pq.FileMetaData, row: int) -> tuple[list[int], int]:
    """The row groups from the one with `row` on, and the offset of `row` in the first of them."""
    starts = _group_starts(metadata)
    first = min(bisect_right(starts, row) - 1, metadata.num_row_groups)
    return list(range(first, metadata.num_row_groups)), row - starts[first]


def _read_rows(part: Path, first_id: int, ids: list[int]) -> list[Passage]:
    """The passages with these ascending ids from the part that begins with `first_id`; ids past its end are skipped."""
    with reading(part) as file:
        starts = _group_starts(file.metadata)
        rows = [i - first_id for i in ids if i - first_id < starts[-1]]
        row_groups = [bisect_right(starts, r) - 1 for r in rows]
        groups = list(dict.fromkeys(row_groups))
        if not groups:
            return []
        table = file.read_row_groups(groups, columns=SCHEMA.names[1:], use_threads=False)
    sizes = [starts[g + 1] - starts[g] for g in groups]
    before = dict(zip(groups, accumulate(sizes, initial=0), strict=False))
    # Convert the values one by one: `take` would import pandas, which adds a second to the first query.
    values = [table.column(name) for name in SCHEMA.names[1:]]
    return [
        Passage(first_id + row, *(column[before[group] + row - starts[group]].as_py() for column in values))
        for group, row in zip(row_groups, rows, strict=True)
    ]


def ids_of_text(corpus: Corpus, text: str) -> list[int]:
    """The ids of all passages with this text, whatever their titles; empty for a corpus that is not of passages.

    Every text is read, which takes a tenth of a second for 60,000 texts of 60 words.
    """
    files = [str(part) for part in list_parts(corpus.folder)[0]]
    if corpus.manifest.kind != "passages" or not files:
        return []
    with duckdb.connect() as connection:
        result = connection.execute(
            "SELECT id FROM read_parquet($files) WHERE text = $text ORDER BY id", {"files": files, "text": text}
        )
        return [int(row[0]) for row in result.fetchall()]


def titles_with(corpus: Corpus, words: str, most: int) -> dict[int, str]:
    """The titles that contain these words, by the id of the first passage of each: those that begin with them first. Empty
    for a corpus that is not of passages. Every title is read."""
    if corpus.manifest.kind != "passages":
        return {}
    first: dict[str, int] = {}
    for part in list_parts(corpus.folder)[0]:
        with reading(part) as file:
            table = file.read(columns=["id", "title"], use_threads=False)
        found = table.filter(pc.match_substring(table.column("title"), words, ignore_case=True))
        for number, title in zip(found.column("id").to_pylist(), found.column("title").to_pylist(), strict=True):
            first.setdefault(title, number)
    wanted = words.lower()
    ordered = sorted(first.items(), key=lambda one: (not one[0].lower().startswith(wanted), one[1]))
    return {number: title for title, number in ordered[:most]}
