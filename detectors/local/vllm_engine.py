"""Prompted detectors through vLLM, where it is installed and has its GPU."""

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

_ALTERNATIVES = 20  # as many as vLLM gives unless it is started otherwise
_WRITTEN = 12


class VllmModel(AnsweringModel):
    """A model that vLLM holds; its tokenizer is used here, and its engine stands in the model's place."""

    encoder_decoder = False

    def load(self) -> Loaded:
        """The engine, started once."""
        engine = _start(str(self.found), self.version)
        tokenizer = engine.get_tokenizer()
        if self.template == "none":
            tokenizer.chat_template = None
        return Loaded(tokenizer, engine)


class VllmAnswerer(Answerer):
    """Answers by the log-probabilities of the likeliest first tokens."""

    def __init__(self, model: VllmModel) -> None:
        self.name = model.name
        self.tokenizer, self.model = model.load()
        self.window = int(self.model.llm_engine.model_config.max_model_len)

    def preferences(self, prompts: Sequence[Ids], answers: Answers, temperature: float = 1.0) -> Floats:
        """As `Answerer`; an answer that is not among the likeliest 20 counts nothing, and 0.5 is said where neither is."""
        first, second = (set(spellings(self.tokenizer, answer)) for answer in answers)
        if not (first and second):
            raise BadInputError(f"{self.name} has no single token for {answers.first}.", hint="Leave engine=vllm out.")
        odds = np.zeros(len(prompts))
        for place, found in enumerate(self._generated(prompts, 1, _ALTERNATIVES)):
            likely = {token: float(np.exp(said.logprob)) for token, said in found.logprobs[0].items()}
            yes, no = (sum(p for token, p in likely.items() if token in side) for side in (first, second))
            if yes + no > 0:
                odds[place] = logit(yes / (yes + no))
        return np.asarray(expit(odds / temperature), dtype=np.float32)

    def written(self, prompts: Sequence[Ids]) -> list[str]:
        """As `Answerer`."""
        return [str(found.text) for found in self._generated(prompts, _WRITTEN, None)]

    def _generated(self, prompts: Sequence[Ids], most: int, alternatives: int | None) -> list[Any]:
        from vllm import SamplingParams

        asked = [{"prompt_token_ids": ids} for ids in prompts]
        settings = SamplingParams(temperature=0.0, max_tokens=most, logprobs=alternatives)
        return [found.outputs[0] for found in self.model.generate(asked, settings, use_tqdm=False)]


def vllm_answerer(model: str, template: Template, bits: int) -> tuple[VllmModel, VllmAnswerer]:
    """The model in vLLM; raises `UnavailableError` where vLLM is missing."""
    if find_spec("vllm") is None:
        raise UnavailableError("engine=vllm needs the package vllm.", hint="pip install vllm, or leave engine out.")
    if bits:
        raise BadInputError("vLLM takes its bits from the model's files.", hint="Leave bits out, or engine=vllm.")
    asked = VllmModel(model, template=template)
    return asked, VllmAnswerer(asked)


@lru_cache(maxsize=1)
def _start(found: str, version: str) -> Any:
    del version
    with loading(found):
        from vllm import LLM

        return LLM(model=found)
