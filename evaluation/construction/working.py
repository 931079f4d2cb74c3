"""What a step works with: the workspace, the settings and sources of the construction, and a language model that answers for each
row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.model_registry import open_language_model
from berdseye.data.language_models.prompts import PromptTemplate, read_prompt
from berdseye.data.language_models.protocol import Completion, LanguageModel
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.asking import Asking, UnreadableError
from berdseye.evaluation.construction.rows import Row

ATTEMPTS = 2
_AGAIN = (
    "A first completion could not be read ([Fault]). Follow the form of the answer exactly, and write nothing else."
)


def _kept_nothing(step: str) -> list[Row]:
    del step
    return []


@dataclass(frozen=True)
class Working:
    """A step's surroundings. `sources` are the files by name, `prompts` the files that replace Berdseye's prompts, by the name of
    the prompt. `folder` is that of the construction, and `kept` returns the rows that a finished step kept."""

    workspace: Workspace
    settings: Mapping[str, Any]
    sources: Mapping[str, Path]
    prompts: Mapping[str, Path]
    progress: Progress = silent
    folder: Path = Path()
    kept: Callable[[str], list[Row]] = _kept_nothing

    @cached_property
    def model(self) -> LanguageModel:
        """The language model of the construction."""
        return open_language_model(str(self.settings["model"]), self.workspace)

    @cached_property
    def cache(self) -> CompletionCache:
        """The completions of the workspace."""
        return CompletionCache(self.workspace)

    def template(self, asking: Asking) -> PromptTemplate:
        """Return the prompt: the file that was given for it, otherwise Berdseye's own. Raises `BadInputError`."""
        given = self.prompts.get(asking.name)
        return asking.prompt if given is None else read_prompt(given, asking.slots)

    def ask(self, asking: Asking, rows: Sequence[Row]) -> list[Row]:
        """Return the rows with the fields that the model gives for each, in order.

        Where a completion cannot be read, the model is asked once more with another seed and the fault; a row that fails twice is
        rejected with the second fault. All raw texts are in the origin of the row, with their cost in dollars (None: unknown).
        Finished completions are stored, so that an interrupted call resumes.
        """
        template = self.template(asking)
        done: dict[int, Row] = {}
        raw: dict[int, list[str]] = {place: [] for place in range(len(rows))}
        spent: dict[int, float | None] = dict.fromkeys(raw, 0.0)
        faults: dict[int, str] = {}
        for attempt in range(ATTEMPTS):
            places = [place for place in raw if place not in done]
            for place, completion in zip(
                places, self._completions(asking, template, rows, places, faults, attempt), strict=True
            ):
                raw[place].append(completion.text)
                before = spent[place]
                spent[place] = None if before is None or completion.cost is None else before + completion.cost
                origin = {**self._origin(asking, template), "raw": raw[place], "cost": spent[place]}
                row = rows[place].with_origin(asking.name, **origin)
                try:
                    done[place] = row.with_fields(**asking.read(rows[place], completion.text))
                except UnreadableError as error:
                    faults[place] = str(error)
                    if attempt == ATTEMPTS - 1:
                        done[place] = row.reject(str(error))
        return [done[place] for place in range(len(rows))]

    def _completions(
        self,
        asking: Asking,
        template: PromptTemplate,
        rows: Sequence[Row],
        places: Sequence[int],
        faults: Mapping[int, str],
        attempt: int,
    ) -> list[Completion]:
        values = [dict(asking.values(rows[place])) for place in places]
        if attempt:
            template = _insisting(template)
            values = [{**slots, "Fault": faults[place]} for slots, place in zip(values, places, strict=True)]
        return self.cache.complete(
            self.model,
            template,
            values,
            max_tokens=asking.max_tokens,
            temperature=asking.temperature,
            top_p=asking.top_p,
            seed=asking.seed + attempt,
            progress=self.progress,
        )

    def _origin(self, asking: Asking, template: PromptTemplate) -> dict[str, Any]:
        return {
            "prompt": template.name,
            "prompt_version": template.version,
            "model": self.model.name,
            "model_version": self.model.version,
            "temperature": asking.temperature,
            "top_p": asking.top_p,
            "seed": asking.seed,
        }


def _insisting(template: PromptTemplate) -> PromptTemplate:
    """The prompt of the second attempt, which names the fault of the first completion."""
    *before, last = template.messages
    content = f"{last.content}\n\n{_AGAIN}"
    return replace(template, name=f"{template.name}-again", messages=(*before, last._replace(content=content)))
