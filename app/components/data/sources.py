"""Where new data come from: a file that the person uploads, or a path on the machine that runs the app."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from berdseye.app.access.roles import may
from berdseye.app.access.session import role, workspace
from berdseye.app.components.choices import one_of
from berdseye.data.errors import BadInputError
from berdseye.data.uploads import keep_upload
from berdseye.data.workspace import checked_name

UPLOAD, PATH = "Upload", "Path on this machine"


def chosen_way(kind: str, others: Sequence[str]) -> str:
    """Draw the choice of where the data come from: a file, or one of the other ways, and return it.

    Only admins may name a path on the machine, because any file there could be read by it.
    """
    files = (UPLOAD, PATH) if may(role(), "administer") else (UPLOAD,)
    way: str = one_of("From", [*files, *others], key=f"{kind}-from", named=False)
    return way


def chosen_file(kind: str, way: str, endings: str) -> Path | None:
    """Draw the choice of a file to add and return its path, or None before one is chosen.

    `kind` distinguishes the widgets, `endings` are the formats to mention.
    """
    if way == PATH:
        typed = st.text_input(
            "File or folder",
            key=f"{kind}-path",
            placeholder="/data/wikipedia/psgs_w100.tsv.gz",
            help="For large files and folders: they are read where they are, without an upload.",
        )
        return Path(typed).expanduser() if (typed or "").strip() else None
    given = st.file_uploader(f"Drop a file here, or browse ({endings})", key=f"{kind}-file")
    return None if given is None else keep_upload(workspace(), given.name, given)


def chosen_name(kind: str, suggested: str, taken: list[str]) -> str | None:
    """Draw the name of what is added, by default the file's. Return it, or None with the reason if it cannot be used."""
    typed = st.text_input("Name", suggested, key=f"{kind}-name-{suggested}").strip()
    try:
        if typed in taken:
            raise BadInputError(f"The name '{typed}' is in use.", hint="Choose another name.")
        return checked_name(kind, typed)
    except BadInputError as error:
        st.caption(f":red[{error}]")
        return None


def name_of_file(path: Path) -> str:
    """Return a name to suggest for what is read from a file: its own, without its endings, in the letters of a name."""
    stem = path.name.split(".")[0].lower()
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in stem).strip("-")[:64]
