"""The arguments of `nli(...)`, `crossencoder(...)`, `prompted(...)` and `lora(...)`."""

from typing import cast

from berdseye.data.arguments import Arguments
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.detectors.local.cross_encoder import cross_encoder_detector
from berdseye.detectors.local.language_model import TEMPLATES, Template
from berdseye.detectors.local.nli import nli_detector
from berdseye.detectors.local.opening import ENGINES, SCORES, Engine, Score, lora_detector, prompted_detector
from berdseye.detectors.local.pair_model import PRECISIONS, Precision
from berdseye.detectors.local.prompted import ANSWERS, Answer
from berdseye.detectors.local.reading import TITLES, Title
from berdseye.detectors.local.windows import AGGREGATES
from berdseye.detectors.protocol import Detector

_LONGEST = 1_000_000
_BITS = (4, 8)


def open_nli(arguments: Arguments, workspace: Workspace | None) -> Detector:
    """`nli(MODEL,title=,windows=,max_length=,precision=,entailment=)`."""
    del workspace
    entailment = arguments.number_if_given("entailment")
    return nli_detector(
        arguments.name("model", None, place=True),
        title=_title(arguments) or "none",
        windows=arguments.name("windows", "max", among=AGGREGATES),
        max_length=arguments.count("max_length", high=_LONGEST),
        precision=cast(Precision, arguments.name("precision", "auto", among=PRECISIONS)),
        entailment=None if entailment is None else int(entailment),
    )


def open_cross_encoder(arguments: Arguments, workspace: Workspace | None) -> Detector:
    """`crossencoder(PATH,title=,windows=,max_length=,precision=)`."""
    return cross_encoder_detector(
        arguments.name("path", None, place=True),
        workspace,
        title=_title(arguments),
        windows=arguments.name("windows", "max", among=AGGREGATES),
        max_length=arguments.count("max_length", high=_LONGEST),
        precision=cast(Precision, arguments.name("precision", "auto", among=PRECISIONS)),
    )


def open_prompted(arguments: Arguments, workspace: Workspace | None) -> Detector:
    """`prompted(MODEL,shots=,prompt=,template=,score=,answer=,title=,max_length=,bits=,engine=)`."""
    return prompted_detector(
        arguments.name("model", None, place=True),
        workspace,
        shots=int(arguments.number("shots", 0, high=1)),
        prompt=arguments.name_if_given("prompt"),
        template=cast(Template, arguments.name("template", "auto", among=TEMPLATES)),
        score=cast(Score, arguments.name("score", "answer", among=SCORES)),
        answer=cast(Answer, arguments.name("answer", "probability", among=ANSWERS)),
        title=_title(arguments) or "none",
        max_length=arguments.count("max_length", high=_LONGEST),
        bits=_bits(arguments),
        engine=cast(Engine, arguments.name("engine", "transformers", among=ENGINES)),
    )


def open_lora(arguments: Arguments, workspace: Workspace | None) -> Detector:
    """`lora(PATH,prompt=,template=,title=,max_length=,bits=)`."""
    return lora_detector(
        arguments.name("path", None, place=True),
        workspace,
        prompt=arguments.name_if_given("prompt"),
        template=cast(Template, arguments.name("template", "auto", among=TEMPLATES)),
        title=_title(arguments),
        max_length=arguments.count("max_length", high=_LONGEST),
        bits=_bits(arguments),
    )


def _title(arguments: Arguments) -> Title | None:
    """The place of the title, nothing where it is not given."""
    given = arguments.name("title", "", among=(*TITLES, ""))
    return cast(Title, given) if given else None


def _bits(arguments: Arguments) -> int:
    bits = arguments.count("bits", high=max(_BITS)) or 0
    if bits and bits not in _BITS:
        raise BadInputError(f"There are no models in {bits} bits.", hint="Write bits=4 or bits=8.")
    return bits
