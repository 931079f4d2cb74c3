"""Dividing a corpus into shards, and the folders of shards.

A shard is an ordinary index of a contiguous range of passages, which are numbered from 0 inside, in
`corpora/<name>/shards/<indexer>/<number of shards>/<number>/`. Its manifest is written last, and the folder is put in place
by one rename: a shard is complete or does not exist.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError, BerdseyeError, StaleError, UnavailableError
from berdseye.data.files.atomic import sync_folder, write_json
from berdseye.data.workspace import file_stem
from berdseye.retrieval.indexes import index_files
from berdseye.retrieval.protocol import Indexer

_MANIFEST = "manifest.json"
MOST_SHARDS = 10_000


class Shard(NamedTuple):
    """A shard: the passages from id `start` to before `end`."""

    number: int
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start

    def __str__(self) -> str:
        if not self.size:
            return f"shard {self.number} (no passages)"
        return f"shard {self.number} (passages {self.start:,} to {self.end - 1:,})"


@dataclass(frozen=True)
class ShardManifest:
    """The description of a shard: its indexer, engine, corpus and range.

    `files` gives file sizes in bytes, by which a truncated file is detected.
    """

    indexer: str
    engine: str
    corpus_hash: str
    shards: int
    number: int
    start: int
    end: int
    created: str
    files: dict[str, int]


@dataclass(frozen=True)
class ShardPlan:
    """The division of a corpus into `shards` ranges of nearly equal length, for one indexer."""

    folder: Path
    corpus_folder: Path
    corpus_hash: str
    count: int
    indexer: str
    engine: str
    shards: int

    @classmethod
    def of(cls, corpus: Corpus, indexer: Indexer[object], shards: int) -> "ShardPlan":
        """Create the plan; raises `BadInputError` for an invalid number of shards, or a corpus of web pages."""
        if not 1 <= shards <= MOST_SHARDS:
            raise BadInputError(
                f"The number of shards must be between 1 and {MOST_SHARDS:,}, got {shards}.",
                hint="Choose another number.",
            )
        return cls(
            folder=_sets(corpus, indexer) / str(shards),
            corpus_folder=corpus.folder,
            corpus_hash=corpus.manifest.hash,
            count=corpus.manifest.count,
            indexer=indexer.name,
            engine=indexer.engine,
            shards=shards,
        )

    def shard(self, number: int) -> Shard:
        return Shard(number, self.count * number // self.shards, self.count * (number + 1) // self.shards)

    def all(self) -> Iterator[Shard]:
        """All shards, in order."""
        return map(self.shard, range(self.shards))

    def holding(self, passage: int) -> Shard:
        """The shard with this passage."""
        number = passage * self.shards // self.count
        return next(s for s in map(self.shard, range(number, self.shards)) if passage < s.end)

    def place(self, shard: Shard) -> Path:
        """The folder of a shard."""
        return self.folder / f"{shard.number:05d}"

    def check(self, shard: Shard) -> ShardManifest:
        """Check a shard and return its manifest.

        Raises `UnavailableError` if it is missing or damaged, `StaleError` if it is from another corpus or version.
        """
        place, named = self.place(shard), f"{shard} of {self.shards}"
        try:
            manifest = ShardManifest(**json.loads((place / _MANIFEST).read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            raise UnavailableError(f"The {named} does not exist.", where=place, hint=self._hint) from error
        except (OSError, ValueError, TypeError) as error:
            raise UnavailableError(f"The manifest of {named} cannot be read.", where=place, hint=self._hint) from error
        if manifest != self._manifest(shard, manifest.created, manifest.files):
            raise StaleError(
                f"The {named} was built from another state of the corpus or by another version.",
                where=place,
                hint=self._hint,
            )
        for name, size in manifest.files.items():
            path = place / name
            present = path.stat().st_size if path.exists() else 0
            if present != size:
                raise UnavailableError(
                    f"The {named} is damaged: {name} has {present:,} of its {size:,} bytes.",
                    where=place,
                    hint=self._hint,
                )
        index_files(place).check(waiting=False)
        return manifest

    def is_built(self, shard: Shard) -> bool:
        """Whether a shard exists and is valid."""
        try:
            self.check(shard)
        except BerdseyeError:
            return False
        return True

    def finish(self, shard: Shard, building: Path) -> None:
        """Write the manifest of a shard built in the folder `building`, and move the folder to its place."""
        sync_folder(building)
        files = {path.name: path.stat().st_size for path in building.iterdir()}
        created = datetime.now(UTC).isoformat(timespec="microseconds")
        write_json(building / _MANIFEST, asdict(self._manifest(shard, created, files)))
        index_files(self.place(shard)).built_in(building).seal(stamp=True)
        shutil.rmtree(self.place(shard), ignore_errors=True)
        building.rename(self.place(shard))

    @property
    def _hint(self) -> str:
        return f"Run `berdseye index` with --shards {self.shards} again; finished shards are kept."

    def _manifest(self, shard: Shard, created: str, files: dict[str, int]) -> ShardManifest:
        return ShardManifest(
            self.indexer,
            self.engine,
            self.corpus_hash,
            self.shards,
            shard.number,
            shard.start,
            shard.end,
            created,
            files,
        )


def current_shards(corpus: Corpus, indexer: Indexer[object]) -> ShardPlan:
    """The shards to search: the most recently completed division of the corpus.

    If no division is complete, raises `UnavailableError` with a missing or damaged shard, or `StaleError` if the shards are
    from another state of the corpus.
    """
    complete: list[tuple[str, ShardPlan]] = []
    trouble: BerdseyeError = UnavailableError(
        f"Corpus '{corpus.name}' has no shards of the index {indexer.name}.",
        hint=f"Build them with `berdseye index {corpus.name} --pipeline PIPELINE --ray ADDRESS --shards N`.",
    )
    for cut in sorted(int(p.name) for p in _sets(corpus, indexer).glob("*") if p.name.isdigit()):
        plan = ShardPlan.of(corpus, indexer, cut)
        try:
            complete.append((max(plan.check(shard).created for shard in plan.all()), plan))
        except BerdseyeError as error:
            trouble = error
    if not complete:
        raise trouble
    return max(complete, key=lambda made: made[0])[1]


def _sets(corpus: Corpus, indexer: Indexer[object]) -> Path:
    if corpus.manifest.kind != "passages":
        raise BadInputError(
            f"Corpus '{corpus.name}' contains web pages, which are cut and searched for each question.",
            hint="It needs no index and no cluster.",
        )
    return corpus.folder / "shards" / file_stem(indexer.name)
