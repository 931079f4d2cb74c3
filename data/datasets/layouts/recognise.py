"""Recognition of a file's layout by its content. A new layout needs a module and a line here."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from berdseye.data.datasets.layouts.berds import is_berds, read_berds
from berdseye.data.datasets.layouts.debateqa import is_debateqa, read_debateqa
from berdseye.data.datasets.layouts.debates import is_debates, read_debates
from berdseye.data.datasets.layouts.own import read_own
from berdseye.data.datasets.layouts.perspectrum import is_perspectrum, read_perspectrum
from berdseye.data.datasets.layouts.pir import is_pir, questions_of
from berdseye.data.datasets.layouts.rows import Imported
from berdseye.data.datasets.layouts.table import ENDINGS as TABLES
from berdseye.data.datasets.layouts.table import read_question_table
from berdseye.data.datasets.pir_tasks import read_pir_task
from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import Row, first_row, read_json
from berdseye.data.plugins import plugin, plugin_names

_HINT = "See `berdseye dataset add --help`."
ROWS: tuple[tuple[Callable[[Row], bool], Callable[[Path], Imported]], ...] = (
    (is_debateqa, read_debateqa),
    (is_berds, read_berds),
    (lambda _: True, read_own),
)
"""Layouts with one question per row, recognised by the first row."""


class Layout(NamedTuple):
    """A layout that another package adds: whether a file or folder has it, and how to read it."""

    fits: Callable[[Path], bool]
    read: Callable[[Path], Imported]


def read_dataset(source: Path) -> Imported:
    """Read a file in any of the layouts, or a folder as PIR has it on the Hub; raises `BadInputError` with file and line.

    Layouts of other packages are tried where the built-in ones cannot read the file.
    """
    try:
        return _read_built_in(source)
    except BadInputError:
        if source.exists():
            for name in plugin_names("layouts"):
                layout: Layout = plugin("layouts", name)
                if layout.fits(source):
                    return layout.read(source)
        raise


def _read_built_in(source: Path) -> Imported:
    if source.is_dir():
        return questions_of(read_pir_task(source))
    if not source.is_file():
        raise BadInputError("The file does not exist.", where=source, hint="Check the path.")
    if source.suffix.lower() in (".jsonl", ".ndjson", ".parquet"):
        first = first_row(source)
        return next(read for fits, read in ROWS if fits(first))(source)
    if source.suffix.lower() in TABLES:
        return read_question_table(source)
    if source.suffix.lower() != ".json":
        raise BadInputError(
            "A data set must be a .jsonl, .json, .csv, .tsv or .parquet file.", where=source, hint=_HINT
        )
    value = read_json(source)
    if is_pir(value):
        if "source_queries" not in value and len(value) > 1:
            hint = "Add all of them with `berdseye dataset fetch pir --from FOLDER`."
            raise BadInputError("The file contains several PIR tasks.", where=source, hint=hint)
        return questions_of(read_pir_task(source))
    try:
        if is_debates(value):
            return read_debates(value)
        if is_perspectrum(value):
            return read_perspectrum(value, source)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise BadInputError(
            f"The file is incomplete or invalid: {error!r}.", where=source, hint="Use the file as released."
        ) from error
    raise BadInputError("The layout of the file is not known.", where=source, hint=_HINT)
