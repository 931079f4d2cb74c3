"""A language model whose answers a test writes, and which counts what it is asked."""

from collections.abc import Callable, Sequence

from berdseye.data.language_models.protocol import Completion, Prompt, Ready, unused
from berdseye.data.progress import Progress, silent


class ScriptedModel:
    """Answers by a function of the last message; a function that raises stops the batch there."""

    def __init__(self, answer: Callable[[str], str], version: str = "1", cost: float | None = 0.5) -> None:
        self.answer = answer
        self.version = version
        self.cost = cost
        self.name = "api(scripted)"
        self.asked: list[str] = []

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        alternatives: int = 0,
        progress: Progress = silent,
        ready: Ready = unused,
    ) -> list[Completion]:
        del max_tokens, temperature, top_p, seed, alternatives
        done: list[Completion] = []
        for place, prompt in enumerate(prompts):
            self.asked.append(prompt[-1].content)
            done.append(Completion(self.answer(prompt[-1].content), 10, 2, self.cost))
            ready(place, done[-1])
            progress(len(done), "completions")
        return done
