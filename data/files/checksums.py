"""Sizes and checksums of files that belong together, recorded when the files are written and compared when they are read.

Each set of files (an index, the passages of a corpus, a run, ...) has a record in its folder: a JSON file that ends in
`.checksums` and contains the size and the SHA-256 of each file, and a SHA-256 of itself. A set without a record was written
by an older version: it is used as it is, and `berdseye doctor --record` records it.

Opening a set compares the sizes, which takes microseconds. The checksum of a file is compared when the file is opened for
the first time in a day, and whenever its times or its inode show that it was written, copied or replaced since the last
comparison. The times of comparisons are stored in `.checked.json` beside the record. They are kept in memory only if that
file cannot be written, and for less than 4 MiB, which each process compares again.

Sets of up to 256 MiB are compared before use, which takes a quarter of a second at about 1 GB/s. Larger sets that are due
only because a day has passed are compared in the background while they are used, and raise an error as soon as damage is
found; larger sets that were copied or replaced are compared before use.
"""

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from berdseye.data.errors import BerdseyeError, DamagedError
from berdseye.data.files.atomic import write_json
from berdseye.data.files.locks import locked
from berdseye.data.progress import Progress, silent

Read = TypeVar("Read")
RECORD = ".checksums"
STAMPS = ".checked.json"
AT_ONCE = 256 << 20  # bytes; a larger set that is due only because a day has passed is compared in the background
STAMPED_FROM = (
    4 << 20
)  # bytes; from this size on, the time of a comparison is stored on disk; fewer take a few milliseconds
DAY = 24 * 60 * 60.0
_DIFFERS = "The file is damaged: its checksum has changed."
_FORMAT = 1
_CHUNK = 1 << 20
_REPORT_EVERY = 64 << 20
Signature = tuple[int, ...]
"""Size, times of change and inode of a file: writing, copying or replacing it changes one of them."""
_BACKGROUND: set[Path] = set()
_STARTING = threading.Lock()


class Seal(NamedTuple):
    """The size of a file in bytes and its SHA-256, 64 hex digits."""

    size: int
    sha256: str


class Damage(NamedTuple):
    """A file that differs from its record, and a sentence on how it differs."""

    path: Path
    what: str


@dataclass(frozen=True)
class FileSet:
    """Files that are written together, with the record of their sizes and checksums.

    `patterns` are globs, relative to the folder of the record, of the files in the set. `rebuild` returns a sentence with the
    command that rebuilds them; it is called only for a damaged set, since it may have to read files. A process that replaces
    the set holds `lock`; by default all sets of a folder share one lock.
    """

    record: Path
    patterns: tuple[str, ...]
    rebuild: Callable[[], str]
    lock: Path | None = None

    @property
    def folder(self) -> Path:
        return self.record.parent

    def built_in(self, folder: Path) -> "FileSet":
        """This set while it is built in another folder, which replaces the folder of the set when it is complete."""
        return replace(self, record=folder / self.record.name)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock of the set while its files are replaced; call `seal` before it is released."""
        with locked(self._lock):
            yield

    def present(self) -> dict[str, Path]:
        """The existing files of the set by name, without hidden files, which are drafts and caches."""
        paths = (path for pattern in self.patterns for path in self.folder.glob(pattern))
        by_name = {path.relative_to(self.folder).as_posix(): path for path in paths if path.is_file()}
        return {
            name: path
            for name, path in sorted(by_name.items())
            if path != self.record and not any(part.startswith(".") for part in Path(name).parts)
        }

    def seal(self, *, stamp: bool = False, progress: Progress = silent) -> None:
        """Record the files of the set as they are; with `stamp`, the next process need not compare them for a day."""
        seals, seen = {}, {}
        for name, path in self.present().items():
            at, signature = time.time(), _signature(path.stat())
            seals[name] = Seal(signature[0], sha256_of(path, progress))
            seen[path] = _Seen(signature, seals[name].sha256, at, sound=True)
        files = {name: seal._asdict() for name, seal in seals.items()}
        write_json(self.record, {"format": _FORMAT, "files": files, "sha256": _digest(files)})
        _SEEN.update(seen)
        if stamp:
            self._stamp(seen)

    def sealed(self) -> Mapping[str, Seal] | None:
        """The recorded sizes and checksums by name, or None without a record; raises `DamagedError` if it is damaged."""
        try:
            signature = _signature(self.record.stat())
        except (OSError, ValueError):  # the record does not exist, or its name is not valid
            return None
        cached = _RECORDS.get(self.record)
        if cached is None or cached[0] != signature:
            cached = _RECORDS[self.record] = signature, self._read_record()
        return cached[1]

    def check(
        self,
        only: Callable[[str], bool] = lambda _: True,
        *,
        waiting: bool = True,
        progress: Progress = silent,
    ) -> None:
        """Check, before the files are read, that they match the record; `only` selects some of them by name.

        Sizes are always compared, checksums when they are due. If something differs while another process replaces the set,
        the check waits for that process, unless `waiting` is false because the caller holds the lock. Raises `DamagedError`
        with the first damaged file and how to rebuild it.
        """
        try:
            self._check(only, progress)
        except DamagedError as error:
            if not waiting:
                raise
            with _try_lock(self._lock) as locked_now:
                if not locked_now:
                    raise error from None
                self._check(only, progress)

    def read(self, reading: Callable[[], Read]) -> Read:
        """Call `reading`, which reads several files of the set, until they were not replaced meanwhile; return its result."""
        while True:
            self.check()
            before = _signature_of(self.record)
            try:
                result = reading()
            except BerdseyeError:
                self.check()  # waits for a process that replaces the set
                if _signature_of(self.record) == before:
                    raise
                continue
            self.check()
            if _signature_of(self.record) == before:
                return result

    def examine(self, progress: Progress = silent) -> list[Damage]:
        """Compare every file with the record, whether it is due or not; return the differences."""
        try:
            sealed = self.sealed()
        except DamagedError as error:
            return [Damage(self.record, error.what)]
        damages = []
        for name, seal in (sealed or {}).items():
            path = self.folder / name
            damage = _size_damage(path, seal) or _content_damage(path, seal, progress)
            if damage is not None:
                damages.append(damage)
        with suppress(OSError):
            self._stamp([self.folder / name for name in sealed or {}])
        return damages

    def error(self, damage: Damage) -> DamagedError:
        """The error for a damaged file, with how to rebuild it."""
        return DamagedError(damage.what, where=damage.path, hint=self.rebuild())

    def unreadable(self, path: Path, error: object) -> DamagedError:
        """The error for a file that cannot be read although it does not differ from a record, for example without one."""
        return self.error(Damage(path, f"The file is damaged: {' '.join(str(error).split()).rstrip('.')}."))

    @property
    def _lock(self) -> Path:
        return self.lock or self.folder / f"{RECORD}.lock"

    def _check(self, only: Callable[[str], bool], progress: Progress) -> None:
        due: dict[Path, Seal] = {}
        now = time.time()
        for name, seal in (self.sealed() or {}).items():
            if not only(name):
                continue
            path = self.folder / name
            signature = _signature_of(path)
            if signature[:1] != (seal.size,) and (damage := _size_damage(path, seal)):
                raise self.error(damage)
            seen = _SEEN.get(path)
            if seen is None or not seen.sound or not seen.holds(signature, seal, now):
                due[path] = seal
        if due:
            self._compare(due, now, progress)

    def _compare(self, due: Mapping[Path, Seal], now: float, progress: Progress) -> None:
        changed = False
        stamps = self._stamps()
        waiting: dict[Path, Seal] = {}
        for path, seal in due.items():
            stamp = stamps.get(path.relative_to(self.folder).as_posix())
            if stamp is not None and path not in _SEEN:
                _SEEN[path] = stamp
            seen, signature = _SEEN.get(path), _signature_of(path)
            if seen is None or not seen.holds(signature, seal, now):
                waiting[path] = seal
                changed |= seen is not None and seen.signature != signature
            elif not seen.sound:
                raise self.error(Damage(path, _DIFFERS))
        if not waiting:
            return
        if sum(seal.size for seal in waiting.values()) <= AT_ONCE or (changed and os.access(self.folder, os.W_OK)):
            damages = [_content_damage(path, seal, progress) for path, seal in waiting.items()]
            self._stamp(waiting)
            for damage in damages:
                if damage is not None:
                    raise self.error(damage)
        else:
            self._compare_in_background(waiting)

    def _compare_in_background(self, waiting: Mapping[Path, Seal]) -> None:
        """Compare in a thread; the outcome reaches later checks of this process, and other processes by the stamps."""
        with _STARTING:
            if self.record in _BACKGROUND:
                return
            _BACKGROUND.add(self.record)

        def compare() -> None:
            try:
                for path, seal in waiting.items():
                    with suppress(OSError):  # replaced or removed meanwhile: the next check notices
                        _content_damage(path, seal, silent)
                        self._stamp([path])
            finally:
                _BACKGROUND.discard(self.record)

        threading.Thread(target=compare, name=f"checksums of {self.folder.name}", daemon=True).start()

    def _read_record(self) -> Mapping[str, Seal]:
        try:
            read = json.loads(self.record.read_text(encoding="utf-8"))
            files = read["files"]
            if read["sha256"] != _digest(files):
                raise ValueError("its own checksum differs")
            seals = {str(name): Seal(int(seal["size"]), str(seal["sha256"])) for name, seal in files.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self.error(
                Damage(self.record, f"The record of sizes and checksums is damaged: {' '.join(str(error).split())}.")
            ) from error
        if any(Path(name).is_absolute() or ".." in Path(name).parts for name in seals):
            raise self.error(Damage(self.record, "The record lists files outside its folder."))
        return seals

    def _stamps(self) -> dict[str, "_Seen"]:
        try:
            read: dict[str, Any] = json.loads((self.folder / STAMPS).read_text(encoding="utf-8"))
            return {name: _Seen(tuple(s[0]), str(s[1]), float(s[2]), bool(s[3])) for name, s in read.items()}
        except (OSError, ValueError, TypeError, AttributeError, LookupError):
            return {}

    def _stamp(self, paths: Iterable[Path]) -> None:
        """Store when these files were compared, unless they are so small that comparing them again is as fast.

        If two processes do this at once, one may lose its stamp, and compares again.
        """
        paths = [path for path in paths if path in _SEEN]
        if sum(_SEEN[path].signature[0] for path in paths) < STAMPED_FROM:
            return
        stamps = {name: seen for name, seen in self._stamps().items() if (self.folder / name).exists()}
        stamps |= {p.relative_to(self.folder).as_posix(): _SEEN[p] for p in paths}
        temporary = self.folder / f"{STAMPS}.{uuid4().hex[:8]}.tmp"
        try:
            temporary.write_text(json.dumps(stamps), encoding="utf-8")
            temporary.replace(self.folder / STAMPS)
        except OSError:  # a read-only workspace: the stamps stay in memory
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def sha256_of(path: Path, progress: Progress = silent) -> str:
    """The SHA-256 of a file, 64 hex digits, read in pieces; `progress` gets the MiB of large files."""
    digest, done, reported = hashlib.sha256(), 0, 0
    with path.open("rb", buffering=0) as file:
        buffer = memoryview(bytearray(_CHUNK))
        while size := file.readinto(buffer):
            digest.update(buffer[:size])
            done += size
            if done - reported >= _REPORT_EVERY:
                reported = done
                progress(done >> 20, f"MB of {path.name} compared", path.stat().st_size >> 20)
    return digest.hexdigest()


class _Seen(NamedTuple):
    """The outcome of a comparison: the file's signature, the checksum, the time, and whether the checksum matched."""

    signature: Signature
    sha256: str
    at: float
    sound: bool

    def holds(self, signature: Signature, seal: Seal, now: float) -> bool:
        """Whether the outcome is still valid for a file with this signature and this seal."""
        return self.signature == signature and self.sha256 == seal.sha256 and 0 <= now - self.at < DAY


_SEEN: dict[Path, _Seen] = {}
_RECORDS: dict[Path, tuple[Signature, Mapping[str, Seal]]] = {}


def _signature(stat: os.stat_result) -> Signature:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _signature_of(path: Path) -> Signature:
    """The signature of a file; empty if the file does not exist."""
    try:
        return _signature(path.stat())
    except OSError:
        return ()


def _size_damage(path: Path, seal: Seal) -> Damage | None:
    try:
        size = path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return Damage(path, "The file is missing.")
    except OSError as error:
        return Damage(path, f"The file cannot be read: {error.strerror}.")
    if size < seal.size:
        return Damage(path, f"The file is damaged: only {size:,} of its {seal.size:,} bytes are left.")
    if size > seal.size:
        return Damage(path, f"The file is damaged: it has {size:,} bytes instead of {seal.size:,}.")
    return None


def _content_damage(path: Path, seal: Seal, progress: Progress) -> Damage | None:
    """Compare the checksum, and remember the outcome."""
    try:
        at, signature = time.time(), _signature(path.stat())
        sha256 = sha256_of(path, progress)
    except OSError as error:
        return Damage(path, f"The file cannot be read: {error.strerror}.")
    _SEEN[path] = _Seen(signature, seal.sha256, at, sound=sha256 == seal.sha256)
    return None if sha256 == seal.sha256 else Damage(path, _DIFFERS)


def _digest(files: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


@contextmanager
def _try_lock(lock: Path) -> Iterator[bool]:
    """Hold the lock and yield true, or yield false if its folder cannot be written."""
    holding = locked(lock)
    try:
        holding.__enter__()
    except BerdseyeError:
        yield False
        return
    try:
        yield True
    finally:
        holding.__exit__(None, None, None)
