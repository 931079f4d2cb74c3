"""Open local detectors by name: `prompted(MODEL)` and `lora(PATH)`, and the arguments of these and of `nli(...)` and
`crossencoder(...)`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Arguments, Call
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.workspace import Workspace
from berdseye.detectors.local.answers import Answerer, open_answerer
from berdseye.detectors.local.cross_encoder import MODEL_FOLDER, cross_encoder_detector, read_card
from berdseye.detectors.local.language_model import HALF, TEMPLATES, AnsweringModel, Template, adapter_base, is_adapter
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
_LONGEST = 1_000_000
_BITS = (4, 8, HALF)


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
    """Open `prompted(MODEL)`: a causal or encoder-decoder model, also from a GGUF file, with Berdseye's prompt or a file's.

    Berdseye's prompt has `shots` worked examples, 0 or 1. Raises `UnavailableError` if the model, the bits or the engine is
    not available, `BadInputError` for settings that cannot be combined and for a prompt file without its slots.
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
                f"'{name}': score=lift uses no prompt, so {' and '.join(unused)} cannot be combined with it.",
                hint=f"Omit {' and '.join(unused)}, or score=lift.",
            )
        opened = AnsweringModel(model, template="none", bits=bits)
        return LiftDetector(name, opened, open_answerer(opened), title=title, max_length=max_length)
    wording = detection_prompt(shots, prompt, workspace)
    opened, answerer = _engine(model, template, bits, engine)
    return PromptedDetector(name, opened, answerer, wording, title=title, answer=answer, max_length=max_length)


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
    """Open `lora(PATH)`: a language model trained to answer, as a PEFT adapter or merged into its base model.

    PATH is a training of the workspace or a folder. The prompt is the one given, otherwise that of its card, of the file
    prompt.txt beside it, or Berdseye's own; the card also gives the threshold, the title's place and the length. Released
    evaluators such as that of BERDS need prompt=FILE. Raises `UnavailableError` if the model or the bits are not available,
    `BadInputError` for a prompt file without its slots.
    """
    chosen = {"prompt": prompt} if prompt else {}
    chosen |= ({} if template == "auto" else {"template": template}) | ({"title": title} if title else {})
    further = ({"max_length": max_length} if max_length else {}) | ({"bits": bits} if bits else {})
    trained = find_trained(workspace, path)
    home = trained or Path(path).expanduser()
    card = read_card(home)
    model_path = home / MODEL_FOLDER if trained and (home / MODEL_FOLDER).is_dir() else home
    if is_adapter(model_path):
        model = AnsweringModel(adapter_base(model_path), template=template, bits=bits, adapter=model_path)
    else:
        model = AnsweringModel(str(model_path) if model_path.exists() else path, template=template, bits=bits)
    return PromptedDetector(
        str(Call("lora", (path,), chosen | further)),
        model,
        open_answerer(model),
        _stored_prompt(home, card) if prompt is None else detection_prompt(0, prompt, workspace),
        title=title or title_place(str(card.get("title", "none"))),
        max_length=max_length or card.get("max_length"),
        temperature=float(card.get("temperature", 1.0)),
        threshold=float(card.get("threshold", 0.5)),
        threshold_source=str(card.get("threshold_source", UNTUNED)),
        measured=str(card.get("measured", "")),
    )


def _stored_prompt(home: Path, card: dict[str, Any]) -> PromptTemplate:
    """Return the prompt of a training: the file that its card names in its folder, prompt.txt, or Berdseye's own."""
    path = home / str(card.get("prompt") or PROMPT_FILE)
    return detection_prompt(0, str(path)) if path.is_file() else detection_prompt()


def _engine(model: str, template: Template, bits: int, engine: Engine) -> tuple[AnsweringModel, Answerer]:
    if engine == "vllm":
        from berdseye.detectors.local.vllm_engine import vllm_answerer

        return vllm_answerer(model, template, bits)
    opened = AnsweringModel(model, template=template, bits=bits)
    return opened, open_answerer(opened)


def open_nli(arguments: Arguments, workspace: Workspace | None) -> Detector:
    """Open `nli(MODEL,title=,windows=,max_length=,precision=,entailment=)`."""
    del workspace
    entailment = arguments.optional_number("entailment")
    opened = partial(
        nli_detector,
        arguments.name("model", None, place=True),
        title=_title(arguments) or "none",
        windows=arguments.name("windows", "max", among=AGGREGATES),
        max_length=arguments.count("max_length", high=_LONGEST),
        precision=cast(Precision, arguments.name("precision", "auto", among=PRECISIONS)),
        entailment=None if entailment is None else int(entailment),
    )
    return _checked(arguments, opened)


def open_cross_encoder(arguments: Arguments, workspace: Workspace | None) -> Detector:
    """Open `crossencoder(PATH,title=,windows=,max_length=,precision=)`."""
    opened = partial(
        cross_encoder_detector,
        arguments.name("path", None, place=True),
        workspace,
        title=_title(arguments),
        windows=arguments.name("windows", "max", among=AGGREGATES),
        max_length=arguments.count("max_length", high=_LONGEST),
        precision=cast(Precision, arguments.name("precision", "auto", among=PRECISIONS)),
    )
    return _checked(arguments, opened)


def open_prompted(arguments: Arguments, workspace: Workspace | None) -> Detector:
    """Open `prompted(MODEL,shots=,prompt=,template=,score=,answer=,title=,max_length=,bits=,engine=)`."""
    opened = partial(
        prompted_detector,
        arguments.name("model", None, place=True),
        workspace,
        shots=int(arguments.number("shots", 0, high=1)),
        prompt=arguments.optional_name("prompt"),
        template=cast(Template, arguments.name("template", "auto", among=TEMPLATES)),
        score=cast(Score, arguments.name("score", "answer", among=SCORES)),
        answer=cast(Answer, arguments.name("answer", "probability", among=ANSWERS)),
        title=_title(arguments) or "none",
        max_length=arguments.count("max_length", high=_LONGEST),
        bits=_bits(arguments),
        engine=cast(Engine, arguments.name("engine", "transformers", among=ENGINES)),
    )
    return _checked(arguments, opened)


def open_lora(arguments: Arguments, workspace: Workspace | None) -> Detector:
    """Open `lora(PATH,prompt=,template=,title=,max_length=,bits=)`."""
    opened = partial(
        lora_detector,
        arguments.name("path", None, place=True),
        workspace,
        prompt=arguments.optional_name("prompt"),
        template=cast(Template, arguments.name("template", "auto", among=TEMPLATES)),
        title=_title(arguments),
        max_length=arguments.count("max_length", high=_LONGEST),
        bits=_bits(arguments),
    )
    return _checked(arguments, opened)


def _checked(arguments: Arguments, opened: Callable[[], Detector]) -> Detector:
    """Open a detector after its arguments have been checked, since reading a model takes minutes."""
    arguments.finish()
    return opened()


def _title(arguments: Arguments) -> Title | None:
    """Return the place of the title, or None if it is not given."""
    place = arguments.name("title", "", among=(*TITLES, ""))
    return cast(Title, place) if place else None


def _bits(arguments: Arguments) -> int:
    bits = arguments.count("bits", high=max(_BITS)) or 0
    if bits and bits not in _BITS:
        raise BadInputError(f"bits must be 4, 8 or 16, got {bits}.")
    return bits
