"""The file that says a workspace holds the whole demo, so that a second start need not look at every part."""

from pathlib import Path

from berdseye.data.atomic import write_json

_MARKER = "demo.json"
_CONTENT_VERSION = 1


def mark_demo(folder: Path) -> None:
    """Say that the demo is complete; written after everything else."""
    write_json(folder / _MARKER, {"content": _CONTENT_VERSION})


def is_demo(folder: Path) -> bool:
    """Whether the whole demo of this version stands in the folder."""
    try:
        return f'"content": {_CONTENT_VERSION}' in (folder / _MARKER).read_text(encoding="utf-8")
    except OSError:
        return False
