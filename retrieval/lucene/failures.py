"""What Java says went wrong, in our words."""

from pathlib import Path

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
