"""Recognising the layout of a file by what it holds. A new layout is a module and a line here."""

from collections.abc import Callable
from pathlib import Path

from berdseye.data.datasets.layouts.berds import is_berds, read_berds
from berdseye.data.datasets.layouts.debateqa import is_debateqa, read_debateqa
from berdseye.data.datasets.layouts.debates import is_debates, read_debates
from berdseye.data.datasets.layouts.own import read_own
from berdseye.data.datasets.layouts.perspectrum import is_perspectrum, read_perspectrum
from berdseye.data.datasets.layouts.pir import is_pir, questions_of
from berdseye.data.datasets.layouts.rows import Imported
from berdseye.data.datasets.pir_tasks import read_pir_task
from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import Row, first_row, read_json

_HINT = "See `berdseye dataset add --help`."
ROWS: tuple[tuple[Callable[[Row], bool], Callable[[Path], Imported]], ...] = (
    (is_debateqa, read_debateqa),
    (is_berds, read_berds),
    (lambda _: True, read_own),
)
"""Layouts of a question a row, recognised by the first row."""


def read_dataset(source: Path) -> Imported:
    """Read a file in any of the layouts, or a folder as PIR has it on the Hub; raises `BadInputError` with file and line."""
    if source.is_dir():
        return questions_of(read_pir_task(source))
    if not source.is_file():
        raise BadInputError("There is no such file.", where=source, hint="Check the path.")
    if source.suffix.lower() in (".jsonl", ".ndjson", ".parquet"):
        first = first_row(source)
        return next(read for fits, read in ROWS if fits(first))(source)
    if source.suffix.lower() != ".json":
        raise BadInputError("A data set is a .jsonl, .json or .parquet file.", where=source, hint=_HINT)
    value = read_json(source)
    if is_pir(value):
        if "source_queries" not in value and len(value) > 1:
            hint = "Add them all: berdseye dataset fetch pir --from FOLDER."
            raise BadInputError("The file holds several PIR tasks.", where=source, hint=hint)
        return questions_of(read_pir_task(source))
    try:
        if is_debates(value):
            return read_debates(value)
        if is_perspectrum(value):
            return read_perspectrum(value, source)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise BadInputError(f"Not whole: {error!r}.", where=source, hint="Take the file as released.") from error
    raise BadInputError("The layout is not known.", where=source, hint=_HINT)
