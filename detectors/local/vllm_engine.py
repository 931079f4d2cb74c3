"""Prompted detectors through vLLM, which must be installed and needs a GPU."""

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.special import expit, logit

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.language_models.local import Loaded
from berdseye.data.models.weights import loading
from berdseye.detectors.local.answers import Answerer, Answers, Ids, spellings
from berdseye.detectors.local.language_model import AnsweringModel, Template
from berdseye.detectors.protocol import Floats

_ALTERNATIVES = 20  # the most that vLLM returns by default
_WRITTEN = 12


class VllmModel(AnsweringModel):
    """A model loaded by vLLM; its tokenizer is used here, and its engine takes the place of the model."""

    encoder_decoder = False

    def load(self) -> Loaded:
        """Return the engine with its tokenizer; the engine is started once."""
        engine = _start(str(self.location), self.version)
        tokenizer = engine.get_tokenizer()
        if self.template == "none":
            tokenizer.chat_template = None
        return Loaded(tokenizer, engine)


class VllmAnswerer(Answerer):
    """Answers from the log-probabilities of the most likely first tokens."""

    def __init__(self, model: VllmModel) -> None:
        self.name = model.name
        self.tokenizer, self.model = model.load()
        self.window = int(self.model.llm_engine.model_config.max_model_len)

    def preferences(self, prompts: Sequence[Ids], answers: Answers, temperature: float = 1.0) -> Floats:
        """Return P(first) / (P(first) + P(second)), float32[n_prompts], from their log-odds divided by `temperature`.

        An answer that is not among the 20 most likely tokens has P = 0; the result is 0.5 if neither is. Raises `BadInputError`
        if an answer has no single token.
        """
        first, second = (set(spellings(self.tokenizer, answer)) for answer in answers)
        if not (first and second):
            raise BadInputError(
                f"{self.name} has no single token for {answers.first} or {answers.second}.", hint="Omit engine=vllm."
            )
        odds = np.zeros(len(prompts))
        for place, output in enumerate(self._generated(prompts, 1, _ALTERNATIVES)):
            likely = {token: float(np.exp(entry.logprob)) for token, entry in output.logprobs[0].items()}
            yes, no = (sum(p for token, p in likely.items() if token in side) for side in (first, second))
            if yes + no > 0:
                odds[place] = logit(yes / (yes + no))
        return np.asarray(expit(odds / temperature), dtype=np.float32)

    def written(self, prompts: Sequence[Ids]) -> list[str]:
        """Return the model's greedy continuation of each prompt, at most 12 tokens."""
        return [str(output.text) for output in self._generated(prompts, _WRITTEN, None)]

    def _generated(self, prompts: Sequence[Ids], most: int, alternatives: int | None) -> list[Any]:
        from vllm import SamplingParams

        requests = [{"prompt_token_ids": ids} for ids in prompts]
        settings = SamplingParams(temperature=0.0, max_tokens=most, logprobs=alternatives)
        return [result.outputs[0] for result in self.model.generate(requests, settings, use_tqdm=False)]


def vllm_answerer(model: str, template: Template, bits: int) -> tuple[VllmModel, VllmAnswerer]:
    """Open the model in vLLM; raises `UnavailableError` if vLLM is missing, `BadInputError` for `bits`."""
    if find_spec("vllm") is None:
        raise UnavailableError(
            "engine=vllm requires the package vllm, which is not installed.", hint="pip install vllm, or omit engine."
        )
    if bits:
        raise BadInputError(
            f"bits={bits} cannot be combined with engine=vllm, which takes the precision from the model's files.",
            hint="Omit bits, or engine=vllm.",
        )
    opened = VllmModel(model, template=template)
    return opened, VllmAnswerer(opened)


@lru_cache(maxsize=1)
def _start(location: str, version: str) -> Any:
    del version
    with loading(location):
        from vllm import LLM

        return LLM(model=location)
