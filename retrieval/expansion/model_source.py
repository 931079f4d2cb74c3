"""Perspectives that a language model writes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from berdseye.data.grammar import parse
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.progress import Progress, silent
from berdseye.retrieval.expansion.parsing import parse_statements
from berdseye.retrieval.expansion.prompts import EXPANSION, QUESTION
from berdseye.retrieval.expansion.protocol import Failed, Failure, question_key, warn

MAX_TOKENS = 1024


@dataclass(frozen=True)
class ModelSource:
    """`expand(MODEL)`, or with a prompt file of one's own `expand(api(NAME,prompt=PATH))`."""

    model: LanguageModel
    cache: CompletionCache
    prompt: PromptTemplate = EXPANSION
    written_prompt: str | None = None

    @property
    def name(self) -> str:
        call = parse(self.model.name)[0]
        return str(replace(call, kwargs={"prompt": self.written_prompt}) if self.written_prompt else call)

    @property
    def version(self) -> str:
        return f"{self.model.version} {self.prompt.version}"

    def perspectives(
        self, questions: Sequence[str], progress: Progress = silent, failed: Failed = warn
    ) -> list[tuple[str, ...]]:
        """As `ExpansionSource.perspectives`; an answer that lists nothing is asked for once more, at temperature 0.7."""
        found = self._ask(questions, progress)
        again = [place for place, texts in enumerate(found) if not texts]
        second = self._ask([questions[place] for place in again], progress, temperature=0.7, seed=1)
        for place, texts in zip(again, second, strict=True):
            found[place] = texts
            if not texts:
                failed(Failure(questions[place], f"nothing {self.model.name} wrote, in two tries, is a list."))
        return found

    def _ask(
        self, questions: Sequence[str], progress: Progress, temperature: float = 0.0, seed: int = 0
    ) -> list[tuple[str, ...]]:
        written = self.cache.complete(
            self.model,
            self.prompt,
            [{QUESTION: question} for question in questions],
            max_tokens=MAX_TOKENS,
            temperature=temperature,
            seed=seed,
            progress=progress,
        )
        return [
            tuple(text for text in parse_statements(completion.text) if question_key(text) != question_key(question))
            for question, completion in zip(questions, written, strict=True)
        ]
