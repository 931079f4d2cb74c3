"""The questions of data sets, read once for all pages and sessions."""

from berdseye.app.access.session import workspace
from berdseye.app.cached.cached_on import cached_on
from berdseye.data.datasets.stored import dataset_names, load_dataset, version_file
from berdseye.data.records import Question


def _written(dataset: str) -> int:
    known = dataset in dataset_names(workspace())
    return version_file(workspace(), dataset).stat().st_mtime_ns if known else 0


@cached_on(_written, max_entries=32, shared=True)
def questions_of(dataset: str) -> dict[str, Question]:
    """The questions of a data set, or of one of its versions, by id; do not change them. Raises `UnknownNameError`."""
    return {question.id: question for question in load_dataset(workspace(), dataset)}
