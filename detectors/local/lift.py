"""Support as likelihood lift: how much more likely a perspective is after a passage than without it."""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from berdseye.data.records import Pair
from berdseye.data.texts.passages import clean
from berdseye.detectors.local.answers import Answerer, Doubles, Ids, finite
from berdseye.detectors.local.language_model import AnsweringModel
from berdseye.detectors.local.pair_model import version_of
from berdseye.detectors.local.prompted import checked_length
from berdseye.detectors.local.windows import Title, passage_text, readable, tokens_of
from berdseye.detectors.protocol import UNTUNED, Bools, Floats

_PERSPECTIVE_SHARE = 4  # a perspective may take a quarter of what the model reads
_SEPARATOR = "\n\n"


class LiftDetector:
    """sigmoid of log P(perspective | passage) - log P(perspective), in nats per token of the perspective.

    It needs no prompt, so that a model that does not follow instructions can be used too. A passage that is too long is cut at
    its end. The order of the pairs is meaningful, but the values are not calibrated probabilities: tune a threshold first.
    """

    threshold = 0.5
    threshold_source = UNTUNED
    measured = ""
    pairs_at_once = 64

    def __init__(
        self,
        name: str,
        model: AnsweringModel,
        answerer: Answerer,
        *,
        title: Title = "none",
        max_length: int | None = None,
    ) -> None:
        self.name = name
        self.title = title
        self.answerer = answerer
        self.length = checked_length(max_length, answerer)
        (start,) = answerer.encode([""])
        candidates = (answerer.tokenizer.bos_token_id, answerer.tokenizer.eos_token_id, 0)
        # Every text needs a token before it, and all texts get an equal one.
        self.start: Ids = [] if start else [next(token for token in candidates if token is not None)]
        self._extra = len(self.start) + len(answerer.encode([_SEPARATOR])[0]) + 1
        self.version = version_of("lift", *model.made_of, _SEPARATOR, title, self.length)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports), float32[n_pairs]; 0 if a text is empty."""
        out = np.zeros(len(pairs), dtype=np.float32)
        places = readable(pairs)
        statements = [self._statement(clean(pairs[at].perspective)) for at in places]
        passages = self._before([passage_text(pairs[at], self.title) for at in places], statements)
        distinct = list(dict.fromkeys(map(tuple, statements)))
        (alone,) = self.answerer.encode([""])
        plain = dict(zip(distinct, self._means([self.start + alone] * len(distinct), distinct), strict=True))
        after = self._means(passages, statements)
        lift = after - np.array([plain[tuple(s)] for s in statements])
        out[places] = finite(np.asarray(expit(lift)), self.answerer.name)
        return out

    def cut(self, pairs: Sequence[Pair]) -> Bools:
        """Return for which pairs the passage or the perspective is cut, bool[n_pairs]."""
        out = np.zeros(len(pairs), dtype=np.bool_)
        places = readable(pairs)
        whole = [self.answerer.encode_answer(clean(pairs[at].perspective)) for at in places]
        passages = tokens_of(self.answerer.tokenizer, [passage_text(pairs[at], self.title) for at in places])
        out[places] = [
            len(statement) > self._perspective_room
            or len(passage.offsets) > self._passage_room(statement[: self._perspective_room])
            for passage, statement in zip(passages, whole, strict=True)
        ]
        return out

    def _means(self, before: Sequence[Ids], statements: Sequence[Sequence[int]]) -> Doubles:
        """Return log P of each statement, in nats per token."""
        sums, counts = self.answerer.likelihoods(
            [(ids, list(statement)) for ids, statement in zip(before, statements, strict=True)]
        )
        return np.asarray(sums / np.maximum(counts, 1), dtype=np.float64)

    def _statement(self, text: str) -> Ids:
        return self.answerer.encode_answer(text)[: self._perspective_room]

    def _before(self, passages: Sequence[str], statements: Sequence[Ids]) -> list[Ids]:
        tokens = tokens_of(self.answerer.tokenizer, passages)
        shortened = [k.first(self._passage_room(s)).text for k, s in zip(tokens, statements, strict=True)]
        return [self.start + ids for ids in self.answerer.encode([text + _SEPARATOR for text in shortened])]

    @property
    def _perspective_room(self) -> int:
        """The number of tokens that are read of a perspective."""
        return self.length // _PERSPECTIVE_SHARE

    def _passage_room(self, statement: Ids) -> int:
        """The number of tokens that are read of a passage before this perspective."""
        return self.length - self._extra - len(statement)
