"""Having a language model, local or behind an address, choose between two words.

Reading which of two words a model chose: by the log-probabilities of its first token, or from what it wrote.
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
"""Of the two words among first tokens; below it the model begins some other way, such as with JSON or prose."""
_AROUND = " \t\n▁Ġ\"'`*_.,:;!()[]{}"
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_KEYS = r"answer|verdict|label|result|response|judge?ment|decision|choice|conclusion|output|option|perspective|support(?:s|ed)?"


class Choice(NamedTuple):
    """The two words that a model chooses from, and other words for each."""

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
    """P(first) / (P(first) + P(second)) over their spellings, else 1 or 0 by what is written; None where neither is there.

    Where one of the two is not among the alternatives, it counts as much as it can: as the least likely one that is, or as
    what is left of the whole.
    """
    found = _by_tokens(completion.alternatives or (), choice)
    if found is not None:
        return found
    written = said_first(completion.text, choice)
    return None if written is None else float(written)


def said_first(text: str, choice: Choice) -> bool | None:
    """Whether a text says the first word rather than the second; None where it says neither, both, or something else."""
    answer = _THOUGHTS.sub(" ", text).strip().casefold()
    opening, named, alone = _patterns(choice)
    if not answer.startswith("{") and (start := opening.match(answer)):
        return start["word"] in choice.firsts
    said = [found["word"] for found in named.finditer(answer)] or [found["word"] for found in alone.finditer(answer)]
    sides = {word in choice.firsts for word in said}
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
    """The word at the beginning, the word after a name such as `answer`, and the word alone on a line."""
    words = "|".join(map(re.escape, (*choice.firsts, *choice.seconds)))
    # "No doubt" and "yes or no" begin with a word that is no answer.
    opening = rf"\W*(?:{_KEYS})?\W*(?P<word>{words})\b(?!\W*(?:and|or|nor|/)\W*(?:{words})\b)"
    opening += r"(?=\W*$|\W*[\n.,;:!)\]}*\"'–—-]|\s+(?:the|this|that|it|because|since|as|passage|perspective)\b)"
    named = rf"\b(?:{_KEYS})\b\W*(?:is|are|:|=)?\W*(?P<word>{words})\b(?!\W*(?:and|or|/)\W*(?:{words})\b)"
    alone = rf"(?m)^[^\w\n]*(?P<word>{words})[^\w\n]*$"
    return re.compile(opening), re.compile(named), re.compile(alone)


MAX_TOKENS = 16
MAX_TOKENS_AGAIN = 256
"""A model that thinks before it answers, or explains itself, gets room for that in the second try."""
_ALTERNATIVES = 20
_SHOWN = 60


class Chosen(NamedTuple):
    """P(the first word), None where what was written last, `text`, holds neither."""

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

    An answer that holds neither word is asked for once more with a stricter instruction. Raises `BadInputError` that tells
    how many of `what` had no answer then; all answers stay in the cache.
    """
    found = choose_where_possible(model, cache, template, values, choice=choice, progress=progress)
    unread = [chosen.text for chosen in found if chosen.probability is None]
    if unread:
        begins = " ".join(unread[0].split())[:_SHOWN]
        wrote = f"one answer begins '{begins}'" if begins else "one answer is empty"
        raise BadInputError(
            f"{model.name} answered neither {choice.first} nor {choice.second} for {len(unread)} of {len(values)} {what}, in "
            f"two tries; {wrote}.",
            hint="Name another model or prompt. The other answers are kept.",
        )
    return [chosen.probability for chosen in found if chosen.probability is not None]


def choose_where_possible(
    model: LanguageModel,
    cache: CompletionCache,
    template: PromptTemplate,
    values: Sequence[Mapping[str, str]],
    *,
    choice: Choice = YES_OR_NO,
    progress: Progress = silent,
) -> list[Chosen]:
    """As `choose`, but an answer without either word has the probability None."""

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
    found = [Chosen(probability(completion, choice), completion.text) for completion in first]
    again = [place for place, chosen in enumerate(found) if chosen.probability is None]
    second = ask(stricter(template, choice), again, MAX_TOKENS_AGAIN)
    for place, completion in zip(again, second, strict=True):
        found[place] = Chosen(probability(completion, choice), completion.text)
    return found


def stricter(template: PromptTemplate, choice: Choice) -> PromptTemplate:
    """The same prompt, which ends by insisting on one of the two words."""
    *before, last = template.messages
    insisted = (
        f"{last.content}\n\nYour whole answer is one word, {choice.first} or {choice.second}: no reasons, no marks."
    )
    return replace(template, name=f"{template.name}-stricter", messages=(*before, last._replace(content=insisted)))
