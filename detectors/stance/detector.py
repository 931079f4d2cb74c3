"""The detector `stance`, which ships with Berdseye: P(supports), P(opposes) and P(neither) of a pair, on a processor.

It needs ONNX Runtime and a tokenizer, and not PyTorch. Every pair is computed alone: in 8-bit integers a batch would share the
scale of its activations, and a pair's label would depend on its neighbours.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from berdseye.data.errors import UnavailableError
from berdseye.data.records import Pair
from berdseye.data.texts.passages import clean
from berdseye.detectors.local.windows import readable
from berdseye.detectors.protocol import Floats

MODEL_FILE, TOKENIZER_FILE, CARD_FILE = "stance.onnx", "stance_tokenizer.json", "stance.json"
MAX_LENGTH = 192
"""The tokens that the network reads of both texts; a longer passage is read in windows that overlap by a quarter."""
_RETRAIN = "Install Berdseye again, or train it: `python -m berdseye.detectors.stance.train DATA_FOLDER`."
_THREADS = 2


class StanceDetector:
    """A cross-encoder that was trained on inference and on arguments; `detectors/weights/stance.md` is its card."""

    name = "stance"
    pairs_at_once = 64

    def __init__(self, folder: Path | None = None) -> None:
        self.model = _opened(folder or Path(str(files("berdseye.detectors") / "weights")))
        card = self.model.card
        self.threshold = float(card["threshold"])
        self.threshold_source = str(card["threshold_source"])
        self.measured = str(card["measured"])
        self.version = self.model.version

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports) of each pair, float32[n_pairs]."""
        return self.stances(pairs)[:, 0]

    def stances(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports), P(opposes) and P(neither) of each pair, float32[n_pairs, 3].

        A long passage has the stance of the window that supports the perspective most, or else opposes it most. A pair with an
        empty text has the stance "neither".
        """
        out = np.tile(np.array([0, 0, 1], dtype=np.float32), (len(pairs), 1))
        places = readable(pairs)
        texts = [(clean(pairs[at].passage), clean(pairs[at].perspective)) for at in places]
        with ThreadPoolExecutor(_THREADS) as threads:
            out[places] = list(threads.map(self.model.stance, texts))
        return out


class _Model:
    """The opened files: a session of ONNX Runtime, the tokenizer and the card."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        try:
            content = (folder / MODEL_FILE).read_bytes()
            self.card: Mapping[str, Any] = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
            self.tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1  # two pairs at a time are faster than one pair on two cores
            options.inter_op_num_threads = 1
            self.session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the libraries' errors share no class
            raise UnavailableError(
                f"The detector `stance` cannot be opened ({error}).", where=folder, hint=_RETRAIN
            ) from error
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.version = blake2b(content, digest_size=6).hexdigest()

    def stance(self, texts: tuple[str, str]) -> Floats:
        """Return the three probabilities of a passage and a perspective, float32[3]."""
        windows = self._windows(*texts)
        return max((self._probabilities(ids, types) for ids, types in windows), key=lambda p: (p[0], p[1]))

    def _windows(self, passage: str, perspective: str) -> list[tuple[list[int], list[int]]]:
        whole = self.tokenizer.encode(passage, perspective)
        if len(whole.ids) <= MAX_LENGTH:
            return [(whole.ids, whole.type_ids)]
        statement = self.tokenizer.encode(perspective, add_special_tokens=False).ids[: MAX_LENGTH // 2]
        room = MAX_LENGTH - 3 - len(statement)
        tokens = self.tokenizer.encode(passage, add_special_tokens=False).ids
        first, separator = (self.tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        starts = range(0, max(1, len(tokens) - room + room // 4), room - room // 4)
        out = []
        for start in starts:
            head = [first, *tokens[start : start + room], separator]
            tail = [*statement, separator]
            out.append((head + tail, [0] * len(head) + [1] * len(tail)))
        return out

    def _probabilities(self, ids: list[int], types: list[int]) -> Floats:
        rows = {"ids": [ids], "mask": [[1] * len(ids)], "types": [types]}
        (scores,) = self.session.run(None, {name: np.array(row, dtype=np.int64) for name, row in rows.items()})
        return np.asarray(scores, dtype=np.float32)[0]


@lru_cache(maxsize=2)
def _opened(folder: Path) -> _Model:
    return _Model(folder)
