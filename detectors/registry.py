"""Names of detectors to detectors. Nothing heavy is imported or loaded before a detector of its kind is asked for."""

from collections.abc import Callable, Mapping

from data.arguments import Arguments
from data.errors import BadInputError, UnavailableError, UnknownNameError
from data.grammar import Call, parse
from data.workspace import Workspace
from detectors.protocol import Detector
from detectors.thresholds import with_tuned_threshold

DEFAULT_DETECTOR = "embedded"

Opener = Callable[[Arguments, Workspace | None], Detector]


def parse_detector(text: str, workspace: Workspace | None = None) -> Detector:
    """The detector of a name, with the threshold that was tuned for it in the workspace, if one was.

    Raises `UnknownNameError` with the nearest right names, and `UnavailableError` for a detector that needs a workspace
    where none is given.
    """
    calls = parse(text)
    if len(calls) != 1:
        raise BadInputError(f"'{text}' is more than one detector.", hint="Name one, such as embedded.")
    detector = _opened(calls[0], workspace)
    return detector if workspace is None else with_tuned_threshold(workspace, detector)


def _opened(call: Call, workspace: Workspace | None) -> Detector:
    if call.name not in DETECTORS:
        raise UnknownNameError("detector", call.name, DETECTORS)
    arguments = Arguments(call)
    detector = DETECTORS[call.name](arguments, workspace)
    arguments.finish()
    return detector


def _needed(workspace: Workspace | None, name: str) -> Workspace:
    if workspace is None:
        raise UnavailableError(f"'{name}' needs a workspace.", hint="Name one with --workspace.")
    return workspace


def _random(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from detectors.base_rate import BASE_RATE, RandomDetector

    del workspace
    return RandomDetector(
        arguments.number("rate", BASE_RATE, high=1.0, place=True), int(arguments.number("seed", 0, high=2**31))
    )


def _similarity(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from detectors.similarity import similarity_detector

    del workspace
    return similarity_detector(arguments.name("model", "static", place=True))


def _embedded(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from detectors.embedded import EmbeddedDetector, trained_weights

    name = arguments.name_if_given("name", place=True)
    if name is None:
        return EmbeddedDetector()
    return EmbeddedDetector(trained_weights(_needed(workspace, f"embedded({name})"), name), name)


DETECTORS: Mapping[str, Opener] = {
    "embedded": _embedded,
    "similarity": _similarity,
    "random": _random,
}
"""Every kind of detector; a new one is a file of its own and one line here."""
