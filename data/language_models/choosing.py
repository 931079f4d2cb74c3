"""Having a language model, local or behind an address, choose between two words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Completion, LanguageModel
from berdseye.data.language_models.verdicts import YES_OR_NO, Choice, probability
from berdseye.data.progress import Progress, silent

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
