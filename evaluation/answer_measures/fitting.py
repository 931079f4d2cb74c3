"""Answers that are too long for the model that is to judge them."""

from collections.abc import Sequence

from berdseye.data.language_models.local import LocalModel
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.evaluation.answer_measures.items import Answered
from berdseye.evaluation.answering.window import Window

QUESTION, ANSWER = "Question", "Answer"
_KEPT = 0.8


def fitted(
    model: LanguageModel, template: PromptTemplate, items: Sequence[Answered], max_tokens: int
) -> tuple[list[dict[str, str]], int]:
    """The slots of each item, and how many answers lost their ends so that the prompt fits a local model's window.

    The window of a model behind an address is not known: it refuses what is too long, and says so.
    """
    window = Window(model)
    given, cut = [], 0
    for item in items:
        slots = {QUESTION: item.question.text, ANSWER: item.answer}
        while isinstance(model, LocalModel) and slots[ANSWER] and not window.fits(template.fill(slots), max_tokens):
            words = slots[ANSWER].split()
            slots[ANSWER] = " ".join(words[: int(len(words) * _KEPT)])
        cut += slots[ANSWER] != item.answer
        given.append(slots)
    return given, cut


def counted(items: int, *told: tuple[int, str]) -> tuple[str, ...]:
    """Notes on what happened to how many of the items, leaving out what happened to none."""
    return tuple(f"{count} of {items} {what}." for count, what in told if count)


def said(text: str) -> str:
    """How a reply begins, in a note."""
    begins = " ".join(text.split())[:60]
    return f"; one begins '{begins}'" if begins else "; one is empty"
