"""Perspective Diversity (P.D., DebateQA): how well a language model predicts the partial answers from an answer."""

from collections.abc import Callable, Sequence
from math import exp, isfinite, nan
from typing import Literal

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.local import LocalModel
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Perspective
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.items import Answered, Doubles, Measured, StoredValue, ValueStore, counted
from berdseye.evaluation.answer_measures.losses import Ids, shared_losses
from berdseye.evaluation.answer_measures.reading import DEFAULT_WRAP, Reader, wrap_text

Variant = Literal["paper", "released"]
VARIANTS: tuple[Variant, ...] = ("paper", "released")
LayOut = Callable[[object, Sequence[Ids], Sequence[int]], Doubles]

_LARGEST_EXPONENT = 700.0


class PerspectiveDiversityScorer:
    """P.D. of answers by one local causal model; lower is better.

    `paper`: the *sum* over partial answers of exp(mean -log P of its tokens, given the answer and 'Please restate.').
    `released`: the *mean* over partial answers of the values of the released script (`Reader.released`), which uses no wrap.

    An empty answer is scored like any other, as an empty turn. A question without partial answers has no value.
    """

    def __init__(self, model: LocalModel, variant: Variant = "paper", wrap: str = DEFAULT_WRAP) -> None:
        self.model, self.variant = model, variant
        self.wrap = wrap_text(wrap)

    @property
    def version(self) -> str:
        """The version of the model and, for the variant `paper`, the text of the wrap."""
        return f"{self.model.version} {self.wrap if self.variant == 'paper' else ''}".strip()

    def perplexities(self, item: Answered, losses: LayOut = shared_losses) -> tuple[Doubles, bool]:
        """Return exp of the mean loss of each partial answer, float64[n_partial_answers], and whether a text lost its end."""
        reader = Reader(self.model)
        answer, partial_answers = _readable(item.answer), [_readable_perspective(p) for p in item.question.perspectives]
        if self.variant == "released":
            reading = reader.released(answer, partial_answers)
        else:
            reading = reader.paper(answer, partial_answers, self.wrap)
        sums = losses(self.model.load().model, reading.sequences, reading.starts)
        means = sums / np.maximum(reading.counts, 1)
        return np.exp(np.minimum(means, _LARGEST_EXPONENT)), reading.cut

    def value(self, item: Answered) -> StoredValue:
        """Compute P.D. of one answer; raises `BadInputError` if the model returns no finite number."""
        perplexities, cut = self.perplexities(item)
        total = float(perplexities.sum() if self.variant == "paper" else perplexities.mean())
        if not isfinite(total):
            raise BadInputError(
                f"{self.model.name} returned a P.D. that is not a finite number.", hint="Its weights may be damaged."
            )
        return StoredValue(total, cut)

    def values(self, workspace: Workspace, items: Sequence[Answered], *, progress: Progress = silent) -> Measured:
        """Compute P.D. of each item; each value is stored in the workspace at once, so re-running a killed run resumes."""
        store = ValueStore(workspace, f"PD {self.variant}", self.version)
        keys = [store.key(i.answer, [_as_kept(p) for p in i.question.perspectives]) for i in items]
        known = store.get(keys)
        places = {key: place for place, key in enumerate(keys) if items[place].question.perspectives}
        for done, (key, place) in enumerate(places.items(), start=1):
            if key not in known:
                known[key] = self.value(items[place])
                store.put(key, known[key])
            progress(done, "answers", len(places))
        values = np.array([known[key].value if key in places else nan for key in keys], dtype=np.float64)
        return Measured(values, self._notes(items, sum(known[k].cut for k in keys if k in places)))

    def _notes(self, items: Sequence[Answered], cut: int) -> tuple[str, ...]:
        return counted(
            len(items),
            (
                sum(not i.question.perspectives for i in items),
                "questions have no partial answers and therefore no P.D.",
            ),
            (sum(not i.answer.strip() for i in items), "answers are empty and scored as an empty turn"),
            (cut, f"answers or partial answers were longer than the window of {self.model.name} and lost their ends"),
        )


def recovery_ratio(change: float, partial_answers: float) -> float:
    """Return the approximate factor by which the probability of a partial answer changes with P.D.: exp(-dP.D./n) (DebateQA).

    `change` is the change of P.D., `partial_answers` is n, the number of partial answers; raises `BadInputError` if n <= 0.
    """
    if partial_answers <= 0:
        raise BadInputError(f"The number of partial answers must be above 0, got {partial_answers:g}.")
    return exp(-change / partial_answers)


def _readable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _readable_perspective(partial: Perspective) -> Perspective:
    return partial._replace(text=_readable(partial.text), explanation=_readable(partial.explanation))


def _as_kept(partial: Perspective) -> str:
    return f"{partial.text}\x00{partial.explanation}"
