"""What is said to the evaluator after an answer, so that it goes on with the answer's own views."""

from collections.abc import Mapping
from pathlib import Path

from berdseye.data.errors import BadInputError, UnknownNameError

ANSWER = "[Answer]"
DEFAULT_WRAP = "restate"
WRAPS: Mapping[str, str] = {
    "restate": f"{ANSWER}\n\nPlease restate.",
    "again": f"{ANSWER}\n\nNow say this once more in other words.",
    "views": f"{ANSWER}\n\nWhich points of view does this hold? Write them out.",
    "summary": f"What follows is an answer to a question.\n\n{ANSWER}\n\nSum it up.",
    "quote": f'Somebody wrote: "{ANSWER}"\n\nTell me what they said.',
}
"""The first is the paper's own instruction (DebateQA); the others are ours, for the test of stability."""


def wrap_text(name: str) -> str:
    """The text around `[Answer]` of a wrap's name, or of a file that holds one.

    Raises `UnknownNameError` with the nearest names, `BadInputError` for a file that does not say where the answer stands.
    """
    if name in WRAPS:
        return WRAPS[name]
    path = Path(name)
    if path.suffix != ".txt":
        raise UnknownNameError("wrap", name, [*WRAPS, "FILE.txt"])
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"The wrap cannot be read: {error}.", where=path, hint="Give a UTF-8 text.") from error
    if text.count(ANSWER) != 1:
        raise BadInputError(f"The wrap must hold {ANSWER} once.", where=path, hint="Write it where the answer stands.")
    return text
