"""Names of detectors, and the parsing of a name into the detector."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from data.errors import BadInputError, UnknownNameError
from data.grammar import Call, parse
from detectors.base_rate import RandomDetector
from detectors.embedded import EmbeddedDetector
from detectors.protocol import Detector
from detectors.similarity import SimilarityDetector

DEFAULT_DETECTOR = "embedded"


@lru_cache(maxsize=8)
def parse_detector(text: str) -> Detector:
    """The detector of a name; raises `UnknownNameError` with the nearest right names."""
    calls = parse(text)
    if len(calls) != 1:
        raise BadInputError(f"'{text}' is more than one detector.", hint="Name one, such as embedded.")
    call = calls[0]
    if call.name not in DETECTORS:
        raise UnknownNameError("detector", call.name, DETECTORS)
    return DETECTORS[call.name](call)


def _plain(make: Callable[[], Detector]) -> Callable[[Call], Detector]:
    def build(call: Call) -> Detector:
        if call.args or call.kwargs:
            raise BadInputError(f"'{call.name}' takes no arguments.", hint=f"Write {call.name}.")
        return make()

    return build


def _similarity(call: Call) -> Detector:
    model = str(call.args[0]) if call.args else "static"
    if model != "static":
        raise UnknownNameError("model of similarity", model, ("static",))
    return SimilarityDetector()


DETECTORS: Mapping[str, Callable[[Call], Detector]] = {
    "embedded": _plain(EmbeddedDetector),
    "random": _plain(RandomDetector),
    "similarity": _similarity,
}
