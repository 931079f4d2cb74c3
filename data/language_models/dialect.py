"""What a server takes of the OpenAI protocol, learnt from what it refuses, and what it tells of the first token."""

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from berdseye.data.language_models.prompts import without_system
from berdseye.data.language_models.protocol import Alternative, Prompt

if TYPE_CHECKING:
    import openai

_FEWER = {20: 5, 5: 0}
"""How many alternatives servers agree to: OpenAI and vLLM 20, others 5, many none."""
_NO_SYSTEM = re.compile(r"system (?:role|message|prompt)s? (?:is |are )?not", re.IGNORECASE)


class Dialect(NamedTuple):
    """How a request is written: the name of its length limit, whether it may set a temperature and hold a system turn,
    and how many alternatives it may ask for."""

    limit: str = "max_tokens"
    temperature: bool = True
    system: bool = True
    most_alternatives: int = 20

    def request(
        self, prompt: Prompt, max_tokens: int, temperature: float, seed: int, alternatives: int
    ) -> dict[str, Any]:
        """The request but for its model."""
        turns = prompt if self.system else without_system(prompt)
        asked: dict[str, Any] = {
            "messages": [{"role": m.role, "content": m.content} for m in turns],
            self.limit: max_tokens,
        }
        if self.temperature:
            asked["temperature"] = temperature
        if temperature > 0:
            asked["seed"] = seed
        if count := min(alternatives, self.most_alternatives):
            asked |= {"logprobs": True, "top_logprobs": count}
        return asked

    def after(self, error: "openai.APIStatusError", alternatives: int) -> "Dialect | None":
        """What to try once a server has refused a request; None where nothing is left to try."""
        said = f"{error.param} {error.message}"
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return self._replace(limit="max_completion_tokens")
        if self.temperature and error.param == "temperature":
            return self._replace(temperature=False)
        if self.system and _NO_SYSTEM.search(said):
            return self._replace(system=False)
        # Servers refuse log-probabilities in many words, so whatever they say the request is tried without.
        if alternatives and self.most_alternatives:
            return self._replace(most_alternatives=_FEWER[self.most_alternatives])
        return None


def first_token(choice: Mapping[str, Any]) -> tuple[Alternative, ...] | None:
    """The alternatives to the first token that is more than white space, the likeliest first; None where none are told."""
    match choice:
        case {"logprobs": {"content": list() as tokens}}:
            for token in tokens:
                match token:
                    case {"token": str() as text} if text.strip():
                        return _alternatives(token)
    return None


def _alternatives(token: Mapping[str, Any]) -> tuple[Alternative, ...] | None:
    top = token.get("top_logprobs")
    found: dict[str, float] = {}
    for entry in [token, *(top if isinstance(top, list) else [])]:
        match entry:
            case {"token": str() as text, "logprob": int() | float() as value} if math.isfinite(value):
                found.setdefault(text, min(float(value), 0.0))
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return tuple(Alternative(text, value) for text, value in ordered) or None
