"""The registry that opens detectors by name. Heavy imports and models are loaded only for the kind that is opened."""

from collections.abc import Callable, Mapping

from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.extras import require
from berdseye.data.grammar import Arguments, Call, parse
from berdseye.data.plugins import plugin, plugin_names
from berdseye.data.workspace import Workspace
from berdseye.detectors.protocol import Detector
from berdseye.detectors.thresholds import with_tuned_threshold

_NEEDED = {**dict.fromkeys(("nli", "crossencoder", "prompted", "lora"), ("torch", "transformers")), "api": ("openai",)}
"""Packages of an extra that a kind of detector needs."""

Opener = Callable[[Arguments, Workspace | None], Detector]


def parse_detector(text: str, workspace: Workspace | None = None) -> Detector:
    """Open the detector of a name, with the threshold tuned for it in the workspace, if there is one.

    Raises `UnknownNameError` with the most similar names, and `UnavailableError` for a detector that requires a workspace if
    none is given.
    """
    detector = _opened(known_detector(text), workspace)
    return detector if workspace is None else with_tuned_threshold(workspace, detector)


def known_detector(text: str) -> Call:
    """Parse the name of an existing detector into its call without opening it.

    Raises `UnknownNameError` for an unknown detector, `BadInputError` for a text that is not one name.
    """
    calls = parse(text)
    if len(calls) != 1:
        raise BadInputError(f"'{text}' is not the name of one detector.", hint="Name one detector, such as embedded.")
    if calls[0].name not in DETECTORS and calls[0].name not in plugin_names("detectors"):
        raise UnknownNameError("detector", calls[0].name, detector_kinds())
    return calls[0]


def detector_kinds() -> list[str]:
    """Return the kinds of detector: the built-in kinds, then those of plugins."""
    return [*DETECTORS, *plugin_names("detectors")]


def _opened(call: Call, workspace: Workspace | None) -> Detector:
    require(f"`{call.name}(...)`", *_NEEDED.get(call.name, ()))
    arguments = Arguments(call)
    opener: Opener = DETECTORS.get(call.name) or plugin("detectors", call.name)
    detector = opener(arguments, workspace)
    arguments.finish()
    return detector


def _required(workspace: Workspace | None, name: str) -> Workspace:
    if workspace is None:
        raise UnavailableError(f"'{name}' requires a workspace.", hint="Name one with --workspace.")
    return workspace


def _random(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.baselines import BASE_RATE, RandomDetector

    del workspace
    return RandomDetector(
        arguments.number("rate", BASE_RATE, high=1.0, place=True), int(arguments.number("seed", 0, high=2**31))
    )


def _similarity(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.baselines import similarity_detector

    del workspace
    return similarity_detector(arguments.name("model", "static", place=True))


def _stance(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.stance.adaptation import read_adaptation
    from berdseye.detectors.stance.detector import StanceDetector
    from berdseye.detectors.stance.network_files import has_network

    name, shipped = arguments.optional_name("name", place=True), StanceDetector()
    if name is None:
        return shipped
    folder = _required(workspace, f"stance({name})").detectors_folder / name
    if has_network(folder):  # a network of its own, and not an adaptation of the shipped one
        return StanceDetector(folder, trained=name)
    return StanceDetector(adaptation=read_adaptation(folder, shipped.version), trained=name)


def _embedded(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.embedded import EmbeddedDetector, trained_weights

    name = arguments.optional_name("name", place=True)
    if name is None:
        return EmbeddedDetector()
    return EmbeddedDetector(trained_weights(_required(workspace, f"embedded({name})"), name), name)


def _api(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.api import ApiDetector
    from berdseye.detectors.local.windows import title_place

    model = arguments.name("model", None, place=True)
    return ApiDetector(
        model,
        _required(workspace, f"api({model})"),
        shots=arguments.number("shots", 0, high=1),
        prompt=arguments.optional_name("prompt"),
        title=title_place(arguments.name("title", "none")),
    )


def _mean(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.ensemble import MeanDetector

    return MeanDetector([parse_detector(str(part), workspace) for part in arguments.places()])


def _stacked(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.ensemble import StackedDetector, read_stack

    name = arguments.name("name", None, place=True)
    stack = read_stack(_required(workspace, f"stacked({name})").detectors_folder / name)
    return StackedDetector(name, stack, [parse_detector(part, workspace) for part in stack.detectors])


def _nli(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.local.opening import open_nli

    return open_nli(arguments, workspace)


def _cross_encoder(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.local.opening import open_cross_encoder

    return open_cross_encoder(arguments, workspace)


def _prompted(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.local.opening import open_prompted

    return open_prompted(arguments, workspace)


def _lora(arguments: Arguments, workspace: Workspace | None) -> Detector:
    from berdseye.detectors.local.opening import open_lora

    return open_lora(arguments, workspace)


DETECTORS: Mapping[str, Opener] = {
    "stance": _stance,
    "embedded": _embedded,
    "api": _api,
    "similarity": _similarity,
    "nli": _nli,
    "crossencoder": _cross_encoder,
    "prompted": _prompted,
    "lora": _lora,
    "random": _random,
    "mean": _mean,
    "stacked": _stacked,
}
"""Every kind of detector; a new one is a file of its own and one entry here."""
