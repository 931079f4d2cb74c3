"""The measures of answers, by name: `PD(gpt2)`, `DA(api(gpt-4o))`, `BLEU`.

A plain name is a model on this machine; `api(NAME)` and `llm` are models on servers, for measures that need only replies.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import Call, parse
from berdseye.data.language_models.local import LocalModel
from berdseye.data.language_models.model_registry import open_language_model
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.bart_score import BartScorer
from berdseye.evaluation.answer_measures.dispute_awareness import (
    AcknowledgeScorer,
    DisputeAwarenessScorer,
    dispute_prompt,
)
from berdseye.evaluation.answer_measures.items import Scorer
from berdseye.evaluation.answer_measures.overlap import LikenessScorer, bleu, library_version, rouge_l, sem_score
from berdseye.evaluation.answer_measures.perspective_diversity import VARIANTS, PerspectiveDiversityScorer, Variant
from berdseye.evaluation.answer_measures.prompt_files import released_prompt
from berdseye.evaluation.answer_measures.ratings import (
    DIRECT,
    G_EVAL,
    MOST_POINTS_OF_VIEW,
    POINTS_OF_VIEW,
    RATINGS,
    RatingScorer,
)
from berdseye.evaluation.answer_measures.reading import DEFAULT_WRAP, wrap_text

_NAMES = re.compile(r'(?:"[^"]*"|\([^()]*(?:\([^()]*\)[^()]*)*\)|\S)+')


@dataclass(frozen=True)
class AnswerMeasure:
    """A measure of answers; `str()` gives its canonical name. `model` is empty if the measure needs none."""

    name: str
    model: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        args = tuple(_named(self.model)) if self.model else ()
        return str(Call(self.name, args, dict(self.settings)))

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def lower_is_better(self) -> bool:
        return self.name == "PD"

    @property
    def is_decision(self) -> bool:
        """Whether it decides, as people do, if an answer names the dispute: its values are 0 and 1 (DebateQA, table 15)."""
        return self.name in ("DA", "Acknowledge")

    def with_setting(self, key: str, value: str) -> "AnswerMeasure":
        """Return the measure with one setting changed; raises `UnknownNameError` if it has no such setting."""
        return _checked(self.name, self.model, {**self.settings, key: value})

    def open(self, workspace: Workspace) -> Scorer:
        """Return its scorer, without loading or calling the model yet; raises `UnavailableError` if the model is not
        available."""
        return KINDS[self.name].open(workspace, self.model, self.settings)


Opening = Callable[[Workspace, str, Mapping[str, str]], Scorer]


class Kind(NamedTuple):
    """The definition of a measure: its default model (None: a model is required; empty: the measure takes none), the default
    values of its settings, and the function that opens its scorer."""

    model: str | None
    settings: Mapping[str, str]
    open: Opening


def _perspective_diversity(workspace: Workspace, model: str, settings: Mapping[str, str]) -> Scorer:
    del workspace
    variant = cast(Variant, settings.get("variant", "paper"))
    return PerspectiveDiversityScorer(LocalModel(model), variant, settings.get("wrap", DEFAULT_WRAP))


def _dispute_awareness(workspace: Workspace, model: str, settings: Mapping[str, str]) -> Scorer:
    variant = cast(Variant, settings.get("variant", "paper"))
    return DisputeAwarenessScorer(_asked(model, workspace), variant, dispute_prompt(settings.get("prompt") or None))


def _rating(template: PromptTemplate, least: int, most: int, *, weighted: bool = False) -> Opening:
    def opened(workspace: Workspace, model: str, settings: Mapping[str, str]) -> Scorer:
        file = settings.get("prompt")
        return RatingScorer(
            _asked(model, workspace), released_prompt(file) if file else template, least, most, weighted=weighted
        )

    return opened


KINDS: Mapping[str, Kind] = {
    "PD": Kind(None, {"variant": "paper", "wrap": DEFAULT_WRAP}, _perspective_diversity),
    "DA": Kind(None, {"variant": "paper", "prompt": ""}, _dispute_awareness),
    "Acknowledge": Kind("", {}, lambda *_: AcknowledgeScorer()),
    "Direct-Score": Kind(None, {"prompt": ""}, _rating(DIRECT, *RATINGS)),
    "G-Eval": Kind(None, {"prompt": ""}, _rating(G_EVAL, *RATINGS, weighted=True)),
    "Num-of-POVs": Kind(None, {"prompt": ""}, _rating(POINTS_OF_VIEW, 0, MOST_POINTS_OF_VIEW)),
    "BLEU": Kind("", {}, lambda *_: LikenessScorer(library_version("sacrebleu"), bleu)),
    "ROUGE-L": Kind("", {}, lambda *_: LikenessScorer(library_version("rouge_score"), rouge_l)),
    "BARTScore": Kind("facebook/bart-large", {}, lambda _, model, __: BartScorer(model)),
    "SemScore": Kind("sentence-transformers/all-mpnet-base-v2", {}, lambda _, model, __: sem_score(model)),
}


def parse_answer_measures(text: str) -> list[AnswerMeasure]:
    """Parse measures from names separated by spaces.

    Raises `UnknownNameError` with the closest names, and `BadInputError` for invalid models or an empty text.
    """
    measures = [_measure(parse(name), name) for name in _NAMES.findall(text)]
    if not measures:
        raise BadInputError("No measure is given.", hint="Name measures such as PD(gpt2) DA(api(NAME)).")
    return measures


def _measure(calls: list[Call], name: str) -> AnswerMeasure:
    call = calls[0]
    if len(calls) > 1 or call.name not in KINDS:
        from berdseye.evaluation.measures import MEASURES  # late: it imports libraries that answers do not need

        if call.name in MEASURES:
            raise BadInputError(
                f"{name} is a measure of rankings, not of answers.",
                hint=f"Use `berdseye evaluate --measures {name}`.",
            )
        raise UnknownNameError("measure of answers", call.name if len(calls) == 1 else name, KINDS)
    usual = KINDS[call.name].model
    if len(call.args) > 1 or call.cutoff is not None or call.keep is not None:
        raise BadInputError(f"'{name}' does not name exactly one model.", hint=f"Write {call.name}(NAME).")
    if call.args and usual == "":
        raise BadInputError(f"{call.name} takes no model.", hint=f"Write {call.name}.")
    if not call.args and usual is None:
        raise BadInputError(f"{call.name} needs a model.", hint=f"Write {call.name}(NAME).")
    return _checked(call.name, _model(call.args[0]) if call.args else str(usual), call.kwargs)


def _checked(name: str, model: str, settings: Mapping[str, Any]) -> AnswerMeasure:
    """Return the measure with its settings that differ from the defaults, in the order of their definition."""
    defaults = KINDS[name].settings
    for key, value in settings.items():
        if key not in defaults:
            raise UnknownNameError(f"setting of {name}", key, defaults)
        if key == "variant" and str(value) not in VARIANTS:
            raise UnknownNameError("variant", str(value), VARIANTS)
        if key == "wrap":
            wrap_text(str(value))
    if name == "PD" and model.startswith(("api(", "llm")):
        raise BadInputError(
            "P.D. needs the probability of every token of a text, which servers do not return.",
            hint="Use a model on this machine, such as PD(gpt2).",
        )
    changed = {key: str(settings[key]) for key in defaults if key in settings and str(settings[key]) != defaults[key]}
    return AnswerMeasure(name, model, changed)


def _model(argument: Any) -> str:
    """Return the name of a model; `local(NAME)` becomes NAME."""
    if isinstance(argument, Call) and argument.name == "local" and len(argument.args) == 1:
        return str(argument.args[0])
    return str(argument)


def _named(model: str) -> list[Any]:
    """Return the model as arguments of a call: parsed if it is a call, otherwise its name."""
    if model.endswith(")"):
        return [parse(model)[0]]
    return [model]


def _asked(model: str, workspace: Workspace) -> LanguageModel:
    on_server = model.startswith("api(") or model == "llm"
    return open_language_model(model, workspace) if on_server else LocalModel(model)
