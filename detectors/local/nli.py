"""Natural language inference (NLI): P(supports) is P(the passage entails the perspective).

Models are sequence classifiers, or write their verdict, like the T5 of TRUE (Honovich et al. 2022), which answers 1 for
entailment and 0 otherwise.
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
from berdseye.detectors.local.windows import Title, Window, cut_in_windows, windowed
from berdseye.detectors.protocol import UNTUNED, Bools, Detector, Floats
from berdseye.retrieval.encoders.model_folders import find_folder

_FORM = "premise: {} hypothesis: {}"
_LEAST_ROOM = 16
_ENTAILS = "entail"


class AnswerNliDetector:
    """P(1) / (P(1) + P(0)) at the first step of the decoder; long passages are read in overlapping windows."""

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
        answering = AnsweringModel(model)
        self.answerer = open_answerer(answering)
        length = max_length or self.answerer.window
        (form,) = self.answerer.encode([_FORM.format("", "")])
        self.room = length - len(form)
        if self.room < _LEAST_ROOM or length > self.answerer.window:
            raise BadInputError(
                f"max_length must be between {len(form) + _LEAST_ROOM} and {self.answerer.window} for '{model}', "
                f"got {length}.",
            )
        self.version = version_of("answer nli", *answering.made_of, _FORM, title, windows, length)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports), float32[n_pairs]; 0 if a text is empty."""
        return windowed(pairs, self.answerer.tokenizer, self.room, self.title, self.windows, self._scored)

    def cut(self, pairs: Sequence[Pair]) -> Bools:
        """Return for which pairs only a part of a text is read, bool[n_pairs]."""
        return cut_in_windows(pairs, self.answerer.tokenizer, self.room, self.title, self.windows)

    def _scored(self, windows: Sequence[Window]) -> Floats:
        prompts = self.answerer.encode([_FORM.format(w.text, w.perspective) for w in windows])
        return np.asarray(self.answerer.preferences(prompts, ONE_ZERO), dtype=np.float32)


def nli_detector(
    model: str,
    *,
    title: Title = "none",
    windows: str = "max",
    max_length: int | None = None,
    precision: Precision = "auto",
    entailment: int | None = None,
) -> Detector:
    """Open `nli(MODEL)` with a sequence-classification model, or with a T5-like model that answers 1 or 0, as TRUE does.

    `entailment` is the number of the output for entailment; by default it is found by its name. Raises `UnavailableError` if
    the model is missing or damaged, `BadInputError` if no single output is named for entailment or the number is unknown.
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
                f"'{model}' writes its answer, so precision and entailment do not apply to it.",
                hint="Omit precision and entailment.",
            )
        return AnswerNliDetector(name, model, title=title, windows=windows, max_length=max_length)
    opened = open_pair_model(folder, precision, max_length)
    place = entailment_place(opened.labels, model) if entailment is None else _checked(entailment, opened.labels, model)

    def head(logits: Floats) -> Floats:
        return np.asarray(softmax(logits.astype(np.float64), axis=1)[:, place], dtype=np.float32)

    made_of = ("nli", folder.version, precision, place)
    return PairDetector(name, opened, head, made_of, title=title, windows=windows)


def entailment_place(labels: Mapping[int, str], model: str) -> int:
    """Return the number of the one output whose name begins with 'entail'; raises `BadInputError` that lists all outputs."""
    places = [number for number, name in labels.items() if name.casefold().startswith(_ENTAILS)]
    if len(places) != 1:
        outputs = ", ".join(f"{number} = {name}" for number, name in sorted(labels.items()))
        raise BadInputError(
            f"'{model}' has {'no output' if not places else 'several outputs'} for entailment: {outputs}.",
            hint="Use an NLI model, or give the number of the output, for example entailment=0.",
        )
    return places[0]


def _checked(place: int, labels: Mapping[int, str], model: str) -> int:
    if place not in labels:
        raise BadInputError(
            f"'{model}' has no output {place}.", hint=f"Its outputs are {', '.join(map(str, sorted(labels)))}."
        )
    return place


def _answers(folder: Path) -> bool:
    """Return whether the model writes its verdict."""
    path = folder / "config.json"
    names = json.loads(path.read_text(encoding="utf-8")).get("architectures") if path.is_file() else None
    return any(str(name).endswith("ForConditionalGeneration") for name in names or ())
