"""The studies by name, and the call of a study with options as keywords. Importing this module imports no study."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.given_options import giving
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.by_name import berds, comparing, debateqa, dmerit, pir
from berdseye.evaluation.studies.by_name.options import checked

if TYPE_CHECKING:
    from berdseye.evaluation.studies.result import StudyResult

STUDIES: "Mapping[str, Callable[..., StudyResult]]" = {
    "berds base": berds.base,
    "berds coverage": berds.coverage,
    "berds diversity": berds.diversity,
    "berds lambda": berds.weights,
    "berds leaning": berds.leaning,
    "berds sycophancy": berds.sycophancy,
    "berds union": berds.union,
    "compare": comparing.compare,
    "corrected": comparing.corrected,
    "curves": comparing.curves,
    "debateqa": debateqa.debateqa,
    "debateqa-meta": debateqa.meta,
    "debateqa-stability": debateqa.stability,
    "debateqa-sweep": debateqa.sweep,
    "decision": comparing.decision,
    "dmerit": dmerit.dmerit,
    "pir": pir.pir,
    "pir-downstream": pir.pir_downstream,
    "rankings": comparing.rankings,
    "trust": comparing.trust,
}
"""Each takes a workspace, a `Progress`, and its options as keywords. `berdseye study NAME` has the same name and options."""

_FILES = "files"
_FORMER = {"debateqa": {"by": "stratify_by"}}
"""Former to present names of options by study; the next version does not accept them."""


def options_of(name: str) -> dict[str, inspect.Parameter]:
    """Return the options of a study, with their types and defaults; raises `UnknownNameError` for an unknown study."""
    if name not in STUDIES:
        raise UnknownNameError("study", name, STUDIES)
    parameters = inspect.signature(STUDIES[name]).parameters
    return {key: parameter for key, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY}


def run_study(
    workspace: Workspace, name: str, *files: object, progress: Progress = silent, **options: object
) -> "StudyResult":
    """Run the study `name` and return its result, which is not stored.

    `options` are those of `berdseye study NAME --help`, with underscores. A list gives an option several times; None keeps its
    default. Raises `UnknownNameError` for an unknown study or option, and `BadInputError` for an invalid or missing value.
    """
    declared = options_of(name)
    if files and _FILES not in declared:
        raise BadInputError(f"Study {name} takes no files.", hint=f"See `berdseye study {name} --help`.")
    given = {key: value for key, value in _present(name, options).items() if value is not None}
    given |= {_FILES: list(files)} if files else {}
    for key in given:
        if key not in declared:
            raise UnknownNameError(f"option of study {name}", key, declared)
    missing = [key for key, option in declared.items() if option.default is option.empty and key not in given]
    if missing:
        raise BadInputError(f"Study {name} needs {' and '.join(missing)}.", hint=f"See `berdseye study {name} --help`.")
    values = {key: checked(name, declared[key], value) for key, value in given.items()}
    with giving({key: f"--{key.replace('_', '-')}" for key in given}):
        return STUDIES[name](workspace, progress, **values)


def _present(name: str, options: Mapping[str, object]) -> dict[str, object]:
    """Return the options with present names in place of former ones, each with a warning."""
    former = _FORMER.get(name, {})
    for key in former.keys() & options.keys():
        if former[key] in options:
            raise BadInputError(f"{key} is the former name of {former[key]}.", hint=f"Omit {key}.")
        message = f"{key} is now called {former[key]}; the next version of Berdseye will not accept {key}."
        warnings.warn(message, FutureWarning, stacklevel=4)
    return {former.get(key, key): value for key, value in options.items()}
