"""Language models behind an OpenAI-compatible API as detectors: `api(MODEL)`."""

import hashlib
from collections.abc import Sequence

import numpy as np

from berdseye.data.grammar import Call
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.choosing import MAX_TOKENS, choose
from berdseye.data.language_models.cost import HighestCost, highest_cost
from berdseye.data.language_models.model_registry import open_language_model
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.local.windows import Title, passage_text, readable
from berdseye.detectors.prompts import MOST_CHARACTERS, detection_prompt, detection_slots
from berdseye.detectors.protocol import UNTUNED, Bools, Floats

_PREPROCESSING = "1"


class ApiDetector:
    """P(Yes) / (P(Yes) + P(No)) from the log-probabilities of the first token, otherwise 1 or 0 from the written answer.

    Texts are cut off after 12,000 characters. Answers are stored in the workspace, so that no pair is paid for twice.
    """

    threshold = 0.5
    threshold_source = UNTUNED
    measured = ""
    pairs_at_once = 256

    def __init__(
        self, model: str, workspace: Workspace, *, shots: float = 0, prompt: str | None = None, title: Title = "none"
    ) -> None:
        self.model = open_language_model(Call("api", (model,)), workspace)
        self.cache = CompletionCache(workspace)
        self.prompt = detection_prompt(shots, prompt, workspace)
        self.title = title
        chosen = ({"shots": shots} if shots else {}) | ({"prompt": prompt} if prompt else {})
        chosen |= {"title": title} if title != "none" else {}
        self.name = str(Call("api", (model,), chosen))

    @property
    def version(self) -> str:
        """A hash of the model's name, the server, the prompt and the title's place; it cannot show a change of the weights."""
        made_of = f"{_PREPROCESSING} {self.model.version} {self.prompt.version} {self.title}"
        return hashlib.sha256(made_of.encode()).hexdigest()[:12]

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports), float32[n_pairs]; pairs with an empty text get 0 without a request.

        Raises `UnavailableError` or `BadInputError` if the server fails or answers neither Yes nor No; its valid answers are
        stored, and not requested again.
        """
        out = np.zeros(len(pairs), dtype=np.float32)
        places = readable(pairs)
        slots = [detection_slots(self._shown(pairs[at])) for at in places]
        out[places] = choose(self.model, self.cache, self.prompt, slots, what="pairs")
        return out

    def cut(self, pairs: Sequence[Pair]) -> Bools:
        """Return for which pairs a text is cut off after 12,000 characters, bool[n_pairs]."""
        out = np.zeros(len(pairs), dtype=np.bool_)
        places = readable(pairs)
        shown = [self._shown(pairs[at]) for at in places]
        out[places] = [max(len(pair.passage), len(pair.perspective)) > MOST_CHARACTERS for pair in shown]
        return out

    def highest_cost(self, pairs: Sequence[Pair]) -> HighestCost:
        """Return what one answer for each pair costs at most. A pair whose answer is unclear is asked a second time, at a cost
        that is not included."""
        prompts = [self.prompt.fill(detection_slots(self._shown(pairs[at]))) for at in readable(pairs)]
        return highest_cost(self.model, prompts, MAX_TOKENS)

    def _shown(self, pair: Pair) -> Pair:
        """Return the pair with the title inside the passage, or without it."""
        return pair._replace(passage=passage_text(pair, self.title), title="")
