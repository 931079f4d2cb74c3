"""Having a language model, local or behind an address, choose between two words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from data.errors import BadInputError
from data.language_models.cache import CompletionCache
from data.language_models.prompts import PromptTemplate
from data.language_models.protocol import Completion, LanguageModel
from data.language_models.verdicts import YES_OR_NO, Choice, probability
from data.progress import Progress, silent

MAX_TOKENS = 16
MAX_TOKENS_AGAIN = 256
"""A model that thinks before it answers, or explains itself, gets room for that in the second try."""
_ALTERNATIVES = 20
_SHOWN = 60


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

    def ask(prompt: PromptTemplate, places: Sequence[int], max_tokens: int) -> list[Completion]:
        return cache.complete(
            model,
            prompt,
            [values[place] for place in places],
            max_tokens=max_tokens,
            alternatives=_ALTERNATIVES,
            progress=progress,
        )

    found = [probability(completion, choice) for completion in ask(template, range(len(values)), MAX_TOKENS)]
    again = [place for place, value in enumerate(found) if value is None]
    second = ask(stricter(template, choice), again, MAX_TOKENS_AGAIN)
    for place, completion in zip(again, second, strict=True):
        found[place] = probability(completion, choice)
    unread = [completion.text for place, completion in zip(again, second, strict=True) if found[place] is None]
    if unread:
        begins = " ".join(unread[0].split())[:_SHOWN]
        wrote = f"one answer begins '{begins}'" if begins else "one answer is empty"
        raise BadInputError(
            f"{model.name} answered neither {choice.first} nor {choice.second} for {len(unread)} of {len(values)} {what}, in "
            f"two tries; {wrote}.",
            hint="Name another model or prompt. The other answers are kept.",
        )
    return [value for value in found if value is not None]


def stricter(template: PromptTemplate, choice: Choice) -> PromptTemplate:
    """The same prompt, which ends by insisting on one of the two words."""
    *before, last = template.messages
    insisted = (
        f"{last.content}\n\nYour whole answer is one word, {choice.first} or {choice.second}: no reasons, no marks."
    )
    return replace(template, name=f"{template.name}-stricter", messages=(*before, last._replace(content=insisted)))
