"""The names of language model detectors to detectors: `prompted(MODEL)` and `lora(PATH)`.

The arguments of `nli(...)`, `crossencoder(...)`, `prompted(...)` and `lora(...)`.
"""

from pathlib import Path
from typing import Any, Literal, cast

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Arguments, Call
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.workspace import Workspace
from berdseye.detectors.local.answers import Answerer, open_answerer
from berdseye.detectors.local.cross_encoder import MODEL_FOLDER, cross_encoder_detector, read_card
from berdseye.detectors.local.language_model import TEMPLATES, AnsweringModel, Template, adapter_base, is_adapter
from berdseye.detectors.local.lift import LiftDetector
from berdseye.detectors.local.nli import nli_detector
from berdseye.detectors.local.pair_model import PRECISIONS, Precision
from berdseye.detectors.local.prompted import ANSWERS, Answer, PromptedDetector
from berdseye.detectors.local.windows import AGGREGATES, TITLES, Title, title_place
from berdseye.detectors.prompts import detection_prompt
from berdseye.detectors.protocol import UNTUNED, Detector
from berdseye.detectors.trained import find_trained

Score = Literal["answer", "lift"]
SCORES = ("answer", "lift")
Engine = Literal["transformers", "vllm"]
ENGINES = ("transformers", "vllm")
PROMPT_FILE = "prompt.txt"


def prompted_detector(
    model: str,
    workspace: Workspace | None = None,
    *,
    shots: int = 0,
    prompt: str | None = None,
    template: Template = "auto",
    score: Score = "answer",
    answer: Answer = "probability",
    title: Title = "none",
    max_length: int | None = None,
    bits: int = 0,
    engine: Engine = "transformers",
) -> Detector:
    """`prompted(MODEL)`: a causal or encoder-decoder model, a GGUF file among them, asked with our prompt or that of a file.

    `shots` worked examples stand in our prompt, 0 or 1. Raises `UnavailableError` where the model, the bits or the engine
    cannot be had, `BadInputError` for settings that do not go together and for a prompt file without its slots.
    """
    chosen: dict[str, Any] = {
        key: value
        for key, value, usual in (
            ("shots", shots, 0), ("prompt", prompt, None), ("template", template, "auto"), ("score", score, "answer"),
            ("answer", answer, "probability"), ("title", title, "none"), ("max_length", max_length, None),
            ("bits", bits, 0), ("engine", engine, "transformers"),
        )
        if value != usual
    }  # fmt: skip
    name = str(Call("prompted", (model,), chosen))
    if score == "lift":
        unused = sorted({"shots", "prompt", "template", "answer", "engine"} & set(chosen))
        if unused:
            raise BadInputError(
                f"'{name}': score=lift asks nothing.", hint=f"Leave {' and '.join(unused)} out, or score=lift."
            )
        asked = AnsweringModel(model, template="none", bits=bits)
        return LiftDetector(name, asked, open_answerer(asked), title=title, max_length=max_length)
    wording = detection_prompt(shots, prompt, workspace)
    asked, answerer = _engine(model, template, bits, engine)
    return PromptedDetector(name, asked, answerer, wording, title=title, answer=answer, max_length=max_length)


def lora_detector(
    path: str,
    workspace: Workspace | None = None,
    *,
    prompt: str | None = None,
    template: Template = "auto",
    title: Title | None = None,
    max_length: int | None = None,
    bits: int = 0,
) -> Detector:
    """`lora(PATH)`: a language model trained to answer, as a PEFT adapter or merged into its base.

    PATH is a training of the workspace or a folder. It is asked with the prompt that is given, else with that of its card, of
    the file prompt.txt beside it, or our own; the card says threshold, title and length too. Released evaluators such as that
    of BERDS load with prompt=FILE. Raises as `prompted_detector` does.
    """
    chosen = {"prompt": prompt} if prompt else {}
    chosen |= ({} if template == "auto" else {"template": template}) | ({"title": title} if title else {})
    rest = ({"max_length": max_length} if max_length else {}) | ({"bits": bits} if bits else {})
    trained = find_trained(workspace, path)
    home = trained or Path(path).expanduser()
    card = read_card(home)
    held = home / MODEL_FOLDER if trained and (home / MODEL_FOLDER).is_dir() else home
    if is_adapter(held):
        asked = AnsweringModel(adapter_base(held), template=template, bits=bits, adapter=held)
    else:
        asked = AnsweringModel(str(held) if held.exists() else path, template=template, bits=bits)
    return PromptedDetector(
        str(Call("lora", (path,), chosen | rest)),
        asked,
        open_answerer(asked),
        _stored_prompt(home, card) if prompt is None else detection_prompt(0, prompt, workspace),
        title=title or title_place(str(card.get("title", "none"))),
        max_length=max_length or card.get("max_length"),
        temperature=float(card.get("temperature", 1.0)),
        threshold=float(card.get("threshold", 0.5)),
        threshold_source=str(card.get("threshold_source", UNTUNED)),
        measured=str(card.get("measured", "")),
    )


def _stored_prompt(home: Path, card: dict[str, Any]) -> PromptTemplate:
    """The prompt of the training: the file that the card names in its folder, prompt.txt, or our own."""
    path = home / str(card.get("prompt") or PROMPT_FILE)
    return detection_prompt(0, str(path)) if path.is_file() else detection_prompt()


def _engine(model: str, template: Template, bits: int, engine: Engine) -> tuple[AnsweringModel, Answerer]:
    if engine == "vllm":
        from berdseye.detectors.local.vllm_engine import vllm_answerer

        return vllm_answerer(model, template, bits)
    asked = AnsweringModel(model, template=template, bits=bits)
    return asked, open_answerer(asked)


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
