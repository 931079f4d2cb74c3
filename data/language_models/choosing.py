"""Making a language model choose between two words.

The choice is read from the log-probabilities of the first token, or from the text that the model wrote.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Alternative, Completion, LanguageModel
from berdseye.data.progress import Progress, silent

_LEAST_MASS = 0.1
"""Least probability of the two words as first tokens; below it, the model begins differently, e.g. with JSON or prose."""
_AROUND = " \t\n▁Ġ\"'`*_.,:;!()[]{}"
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_KEYS = r"answer|verdict|label|result|response|judge?ment|decision|choice|conclusion|output|option|perspective|support(?:s|ed)?"
MAX_TOKENS = 16
MAX_TOKENS_AGAIN = 256
"""Tokens of the second try, which leave room for a model that reasons first or explains its answer."""
_ALTERNATIVES = 20
_SHOWN = 60


class Choice(NamedTuple):
    """The two words that a model chooses from, and synonyms of each."""

    first: str
    second: str
    first_too: tuple[str, ...] = ()
    second_too: tuple[str, ...] = ()

    @property
    def firsts(self) -> tuple[str, ...]:
        return tuple(word.casefold() for word in (self.first, *self.first_too))

    @property
    def seconds(self) -> tuple[str, ...]:
        return tuple(word.casefold() for word in (self.second, *self.second_too))


YES_OR_NO = Choice("Yes", "No", ("true",), ("false",))


def probability(completion: Completion, choice: Choice) -> float | None:
    """P(first) / (P(first) + P(second)) over their spellings, or 1 or 0 by the written text; None if it has neither word.

    A word that is not among the alternatives gets the highest probability it can have: that of the least likely alternative,
    or the remaining probability if that is smaller.
    """
    by_tokens = _by_tokens(completion.alternatives or (), choice)
    if by_tokens is not None:
        return by_tokens
    written = answers_first(completion.text, choice)
    return None if written is None else float(written)


def answers_first(text: str, choice: Choice) -> bool | None:
    """Whether a text answers with the first word (true) or the second (false); None if the answer is not clear."""
    answer = _THOUGHTS.sub(" ", text).strip().casefold()
    opening, named, alone = _patterns(choice)
    if not answer.startswith("{") and (start := opening.match(answer)):
        return start["word"] in choice.firsts
    words = [match["word"] for match in named.finditer(answer)] or [match["word"] for match in alone.finditer(answer)]
    sides = {word in choice.firsts for word in words}
    return sides.pop() if len(sides) == 1 else None


def _by_tokens(alternatives: Sequence[Alternative], choice: Choice) -> float | None:
    likely = [math.exp(a.log_probability) for a in alternatives]
    spelled = [a.token.strip(_AROUND).casefold() for a in alternatives]
    first = sum(p for p, word in zip(likely, spelled, strict=True) if word in choice.firsts)
    second = sum(p for p, word in zip(likely, spelled, strict=True) if word in choice.seconds)
    if first + second < _LEAST_MASS:
        return None
    unseen = max(0.0, min(*likely, 1.0 - sum(likely)))
    first, second = first or unseen, second or unseen
    return first / (first + second)


@lru_cache(maxsize=16)
def _patterns(choice: Choice) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Patterns for a word at the beginning, a word after a key such as `answer`, and a word alone on a line."""
    words = "|".join(map(re.escape, (*choice.firsts, *choice.seconds)))
    # "No doubt" and "yes or no" begin with a word that is not an answer.
    opening = rf"\W*(?:{_KEYS})?\W*(?P<word>{words})\b(?!\W*(?:and|or|nor|/)\W*(?:{words})\b)"
    opening += r"(?=\W*$|\W*[\n.,;:!)\]}*\"'–—-]|\s+(?:the|this|that|it|because|since|as|passage|perspective)\b)"
    named = rf"\b(?:{_KEYS})\b\W*(?:is|are|:|=)?\W*(?P<word>{words})\b(?!\W*(?:and|or|/)\W*(?:{words})\b)"
    alone = rf"(?m)^[^\w\n]*(?P<word>{words})[^\w\n]*$"
    return re.compile(opening), re.compile(named), re.compile(alone)


class Chosen(NamedTuple):
    """P(the first word), or None if `text`, the last text that the model wrote, contains neither word."""

    probability: float | None
    text: str


def choose(
    model: LanguageModel,
    cache: CompletionCache,
    template: PromptTemplate,
    values: Sequence[Mapping[str, str]],
    *,
    choice: Choice = YES_OR_NO,
    what: str = "prompts",
    progress: Progress = silent,
) -> list[float]:
    """P(the first word) for each mapping of the template's slots, within [0, 1].

    If an answer contains neither word, the model is asked once more with a stricter instruction. Raises `BadInputError` with
    the number of `what` that still have no answer; all answers stay in the cache.
    """
    choices = choose_where_possible(model, cache, template, values, choice=choice, progress=progress)
    unread = [chosen.text for chosen in choices if chosen.probability is None]
    if unread:
        begins = " ".join(unread[0].split())[:_SHOWN]
        wrote = f"one answer begins '{begins}'" if begins else "one answer is empty"
        raise BadInputError(
            f"{model.name} answered neither {choice.first} nor {choice.second} for {len(unread)} of {len(values)} {what}, in "
            f"two tries; {wrote}.",
            hint="Use another model or prompt. The other answers are kept.",
        )
    return [chosen.probability for chosen in choices if chosen.probability is not None]


def choose_where_possible(
    model: LanguageModel,
    cache: CompletionCache,
    template: PromptTemplate,
    values: Sequence[Mapping[str, str]],
    *,
    choice: Choice = YES_OR_NO,
    progress: Progress = silent,
) -> list[Chosen]:
    """The choice and the text for each mapping of the template's slots; P is None for an answer without either word.

    If an answer contains neither word, the model is asked once more with a stricter instruction.
    """

    def ask(prompt: PromptTemplate, places: Sequence[int], max_tokens: int) -> list[Completion]:
        return cache.complete(
            model,
            prompt,
            [values[place] for place in places],
            max_tokens=max_tokens,
            alternatives=_ALTERNATIVES,
            progress=progress,
        )

    first = ask(template, range(len(values)), MAX_TOKENS)
    choices = [Chosen(probability(completion, choice), completion.text) for completion in first]
    again = [place for place, chosen in enumerate(choices) if chosen.probability is None]
    second = ask(stricter(template, choice), again, MAX_TOKENS_AGAIN)
    for place, completion in zip(again, second, strict=True):
        choices[place] = Chosen(probability(completion, choice), completion.text)
    return choices


def stricter(template: PromptTemplate, choice: Choice) -> PromptTemplate:
    """The prompt with an additional final instruction to answer with one of the two words."""
    *before, last = template.messages
    insisted = (
        f"{last.content}\n\nYour whole answer is one word, {choice.first} or {choice.second}: no reasons, no marks."
    )
    return replace(template, name=f"{template.name}-stricter", messages=(*before, last._replace(content=insisted)))
