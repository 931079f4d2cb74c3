"""Natural language inference: P(supports) is P(the passage entails the perspective).

NLI models that write their verdict: T5 as in TRUE (Honovich et al. 2022), which answers 1 for entailment and else 0.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Call
from berdseye.data.records import Pair
from berdseye.detectors.local.answers import ONE_ZERO, open_answerer
from berdseye.detectors.local.language_model import AnsweringModel
from berdseye.detectors.local.pair_model import PairDetector, Precision, open_pair_model, version_of
from berdseye.detectors.local.windows import Title, Window, windowed
from berdseye.detectors.protocol import UNTUNED, Detector, Floats
from berdseye.retrieval.encoders.model_folders import find_folder

_FORM = "premise: {} hypothesis: {}"
_LEAST_ROOM = 16


class AnswerNliDetector:
    """P(1) / (P(1) + P(0)) at the first step of the decoder; long passages are read in windows, as by `nli` otherwise."""

    threshold = 0.5
    threshold_source = UNTUNED
    measured = ""
    pairs_at_once = 256

    def __init__(
        self, name: str, model: str, *, title: Title = "none", windows: str = "max", max_length: int | None = None
    ) -> None:
        self.name = name
        self.title = title
        self.windows = windows
        asked = AnsweringModel(model)
        self.answerer = open_answerer(asked)
        length = max_length or self.answerer.window
        (form,) = self.answerer.encode([_FORM.format("", "")])
        self.room = length - len(form)
        if self.room < _LEAST_ROOM or length > self.answerer.window:
            raise BadInputError(
                f"max_length is {length}, and '{model}' reads {self.answerer.window} tokens.",
                hint=f"Give one from {len(form) + _LEAST_ROOM} to {self.answerer.window}.",
            )
        self.version = version_of("answer nli", *asked.made_of, _FORM, title, windows, length)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """P(supports), float32[n_pairs]; 0 where a text is empty."""
        return windowed(pairs, self.answerer.tokenizer, self.room, self.title, self.windows, self._scored)

    def _scored(self, windows: Sequence[Window]) -> Floats:
        prompts = self.answerer.encode([_FORM.format(w.text, w.perspective) for w in windows])
        return np.asarray(self.answerer.preferences(prompts, ONE_ZERO), dtype=np.float32)


_ENTAILS = "entail"


def nli_detector(
    model: str,
    *,
    title: Title = "none",
    windows: str = "max",
    max_length: int | None = None,
    precision: Precision = "auto",
    entailment: int | None = None,
) -> Detector:
    """`nli(MODEL)` with a sequence-classification model, or one of T5's kind that answers 1 or 0 as TRUE does.

    `entailment` is the number of the output for entailment, which is otherwise found by its name. Raises
    `UnavailableError` where there is no such model or it is damaged, `BadInputError` where no output is named so.
    """
    chosen: dict[str, Any] = {} if title == "none" else {"title": title}
    chosen |= ({} if windows == "max" else {"windows": windows}) | ({"max_length": max_length} if max_length else {})
    chosen |= ({} if precision == "auto" else {"precision": precision}) | (
        {} if entailment is None else {"entailment": entailment}
    )
    name = str(Call("nli", (model,), chosen))
    folder = find_folder(model, "NLI model", ())
    if _answers(folder.path):
        if precision != "auto" or entailment is not None:
            raise BadInputError(
                f"'{model}' answers in words: it has no outputs to name, and runs in one precision.",
                hint="Leave precision and entailment out.",
            )
        return AnswerNliDetector(name, model, title=title, windows=windows, max_length=max_length)
    opened = open_pair_model(folder, precision, max_length)
    place = entailment_place(opened.labels, model) if entailment is None else _known(entailment, opened.labels, model)

    def head(logits: Floats) -> Floats:
        return np.asarray(softmax(logits.astype(np.float64), axis=1)[:, place], dtype=np.float32)

    made_of = ("nli", folder.version, precision, place)
    return PairDetector(name, opened, head, made_of, title=title, windows=windows)


def entailment_place(labels: Mapping[int, str], model: str) -> int:
    """The number of the one output whose name begins with 'entail'; raises `BadInputError` that names those there are."""
    places = [number for number, name in labels.items() if name.casefold().startswith(_ENTAILS)]
    if len(places) != 1:
        held = ", ".join(f"{number} = {name}" for number, name in sorted(labels.items()))
        raise BadInputError(
            f"'{model}' has {'no output' if not places else 'several outputs'} for entailment: {held}.",
            hint="Use an NLI model, or say which output it is, as in entailment=0.",
        )
    return places[0]


def _known(place: int, labels: Mapping[int, str], model: str) -> int:
    if place not in labels:
        raise BadInputError(
            f"'{model}' has no output {place}.", hint=f"Its outputs are {', '.join(map(str, sorted(labels)))}."
        )
    return place


def _answers(folder: Path) -> bool:
    """Whether the model writes its verdict."""
    path = folder / "config.json"
    names = json.loads(path.read_text(encoding="utf-8")).get("architectures") if path.is_file() else None
    return any(str(name).endswith("ForConditionalGeneration") for name in names or ())
