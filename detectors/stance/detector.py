"""The detector `stance`, which ships with Berdseye: P(supports), P(opposes) and P(neither) of a pair, on a processor.

It needs ONNX Runtime and a tokenizer, and not PyTorch. A passage is read once for all of its perspectives; each perspective is
computed alone, since in 8-bit integers texts computed together would share the scale of their activations, and a pair's label
would depend on its neighbours.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.grammar import Call
from berdseye.data.records import Pair
from berdseye.data.texts.passages import clean
from berdseye.detectors.local.windows import readable
from berdseye.detectors.protocol import Bools, Floats
from berdseye.detectors.stance.adaptation import Adaptation
from berdseye.detectors.stance.network_files import (
    MODEL_FILE,
    TOKENIZER_FILE,
    State,
    card_of,
    shipped_folder,
    state_of,
    unavailable,
)
from berdseye.detectors.stance.reasons import claim_and_reason, readings_of

INPUTS = ("ids", "places", "kinds", "passage")
OUTPUTS = ("probabilities", "mean")
PAST = "past_"
"""The network's graph has these inputs and outputs beside those of `kept_outputs`."""
WITHIN = "network."
"""What the names of the network's parameters begin with in the graph."""
MOST_PASSAGE_TOKENS, MOST_PERSPECTIVE_TOKENS = 224, 64
"""A longer passage is read in windows that overlap by a quarter; a longer perspective is cut at its end."""
_MOST_THREADS = 8
_SLOWER = ("SkipLayerNormFusion",)
"""What ONNX Runtime does to a graph that makes this one slower: a passage takes 14.9 ms with it and 12.6 ms without."""
_MOST_KEPT = 4096
"""How many pairs that were read are kept: a training, its measuring, its grade and its comparison with another detector read the
same ones."""
_EDGE = 1e-6
_Odds = npt.NDArray[np.float64]


class StanceDetector:
    """A cross-encoder that was trained on inference and on arguments; `detectors/weights/README.md` has its card.

    With an `adaptation` it was trained further, on labels of a workspace.
    """

    pairs_at_once = 64
    quick = True

    def __init__(
        self, folder: Path | None = None, adaptation: Adaptation | None = None, trained: str | None = None
    ) -> None:
        self.folder = folder or shipped_folder()
        self._card = card_of(self.folder)
        self.name = str(Call("stance", () if trained is None else (trained,)))
        self.adaptation = adaptation
        if adaptation is None:
            self.threshold = self._card.threshold
            self.threshold_source, self.measured = self._card.threshold_source, self._card.measured
        else:
            self.threshold = adaptation.threshold
            self.threshold_source, self.measured = adaptation.threshold_source, adaptation.measured

    @cached_property
    def version(self) -> str:
        """A hash of the network and its calibration, and of the adaptation; computed when it is needed."""
        return self._card.version if self.adaptation is None else f"{self._card.version}-{self.adaptation.version}"

    @cached_property
    def model(self) -> "_Model":
        """The opened network, which is not needed to name the detector; raises `UnavailableError` if its files are damaged."""
        return _model_of(self.folder, state_of(self.folder), self.adaptation)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports) of each pair, float32[n_pairs]."""
        return self.stances(pairs)[:, 0]

    def stances(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports), P(opposes) and P(neither) of each pair, float32[n_pairs, 3].

        A long passage has the stance of the window that supports the perspective most, or else opposes it most. A pair with an
        empty text has the stance "neither".
        """
        out = np.tile(np.array([0, 0, 1], dtype=np.float32), (len(pairs), 1))
        places_by_passage: dict[str, list[int]] = {}
        for place in readable(pairs):
            places_by_passage.setdefault(clean(pairs[place].passage), []).append(place)

        def judge(passage: str) -> None:
            places = places_by_passage[passage]
            out[places] = self.model.read(passage, [clean(pairs[place].perspective) for place in places])

        with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as threads:
            list(threads.map(judge, places_by_passage))
        known = np.array([place for places in places_by_passage.values() for place in places], dtype=np.int64)
        with_reason = np.array([claim_and_reason(clean(pairs[place].perspective)) is not None for place in known], bool)
        for places, calibration in (
            (known[~with_reason], self._card.calibration),
            (known[with_reason], self._card.reason_calibration),
        ):
            out[places] = moved_stances(out[places], calibration, self._card.opposing_calibration)
        return out

    def cut(self, pairs: Sequence[Pair]) -> Bools:
        """Return for which pairs the perspective is cut at its end, bool[n_pairs]; passages are read whole, in windows."""
        out = np.zeros(len(pairs), dtype=np.bool_)
        places = readable(pairs)
        statements = [clean(pairs[place].perspective) for place in places]
        long = {text: self.model.is_cut(text) for text in dict.fromkeys(statements)}
        out[places] = [long[text] for text in statements]
        return out


def kept_outputs(layers: int) -> tuple[str, ...]:
    """Return the names of the outputs with the keys of each layer, then its values: each alone, since all together they would be
    copied at every reading. The input with those of an earlier text has `PAST` before the name."""
    return tuple(f"{part}_{layer}" for part in ("keys", "values") for layer in range(layers))


def moved_stances(stances: Floats, supporting: tuple[float, float], opposing: tuple[float, float]) -> Floats:
    """Return probabilities, float32[n, 3], whose log-odds of support are multiplied by the slope of `supporting`, with its offset
    added.

    P(opposes) and P(neither) share the rest by their own log-odds, moved by `opposing` in the same way.
    """
    from scipy.special import expit  # takes long to load

    supports = expit(_moved(supports_odds(stances), supporting))
    against = expit(_moved(opposing_odds(stances), opposing))
    return np.column_stack([supports, (1 - supports) * against, (1 - supports) * (1 - against)]).astype(np.float32)


def supports_odds(stances: Floats) -> _Odds:
    """Return the log-odds of support, float64[n], of probabilities, float32[n, 3]."""
    supports = np.clip(stances[:, 0].astype(np.float64), _EDGE, 1 - _EDGE)
    odds: _Odds = np.log(supports) - np.log1p(-supports)
    return odds


def opposing_odds(stances: Floats) -> _Odds:
    """Return the log-odds of opposition against neither, float64[n], of probabilities, float32[n, 3]."""
    opposes, neither = np.maximum(stances[:, 1:].astype(np.float64), _EDGE).T
    odds: _Odds = np.log(opposes) - np.log(neither)
    return odds


def _moved(odds: _Odds, calibration: tuple[float, float]) -> _Odds:
    slope, added = calibration
    return slope * odds + added


def session_options() -> Any:
    """Return the `SessionOptions` of ONNX Runtime for a network of `stance`.

    They ask for one thread, and for weights that are stored in 4 bits to be unpacked once, when the network is opened.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # passages are spread over the cores instead
    options.inter_op_num_threads = 1
    # Otherwise `DequantizeLinear` and `QuantizeLinear` of constants would be computed at every reading.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    return options


class _Read(NamedTuple):
    """A window of a passage that was read: its length in tokens, its mean vector, and the keys and values of its tokens, by the
    names of the inputs that take them."""

    length: int
    mean: Floats
    past: Mapping[str, Floats]


class _Model:
    """The opened files: a session of ONNX Runtime, perhaps with other numbers than the file has, and the tokenizer."""

    def __init__(self, folder: Path, numbers: Mapping[str, Floats]) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        try:
            options = session_options()
            # ONNX Runtime reads them for as long as the session is used.
            self.numbers = {name: onnxruntime.OrtValue.ortvalue_from_numpy(one) for name, one in numbers.items()}
            for name, value in self.numbers.items():
                options.add_initializer(WITHIN + name, value)
            self.tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
            self.session = onnxruntime.InferenceSession(
                (folder / MODEL_FILE).read_bytes(),
                options,
                providers=["CPUExecutionProvider"],
                disabled_optimizers=list(_SLOWER),
            )
            shapes = {entry.name: entry.shape for entry in self.session.get_inputs()}
        except Exception as error:  # the libraries' errors share no class
            raise unavailable(folder, error) from error
        self.kept = kept_outputs(sum(name.startswith(PAST) for name in shapes) // 2)
        if not self.kept or set(shapes) != {*INPUTS, *(PAST + name for name in self.kept)}:
            raise unavailable(folder, f"{MODEL_FILE} comes from another version of Berdseye")
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        vocabulary = self.tokenizer.get_vocab()
        self.first, self.last = ends(vocabulary)
        past = {PAST + name: _nothing(shapes[PAST + name]) for name in self.kept}
        self.nothing = _Read(0, np.zeros(shapes[INPUTS[-1]], dtype=np.float32), past)
        self._pairs_read: dict[tuple[str, str], Floats] = {}
        self._reading = Lock()

    def read(self, passage: str, perspectives: Sequence[str]) -> Floats:
        """Return the probabilities of each perspective, float32[n, 3]; those of the last pairs are kept, and not computed
        again."""
        with self._reading:
            found = {
                text: self._pairs_read[passage, text] for text in perspectives if (passage, text) in self._pairs_read
            }
        missing = [text for text in dict.fromkeys(perspectives) if text not in found]
        if missing:
            windows = [self._passage(ids) for ids in self._windows(passage)]
            found |= {text: self._most_telling(windows, text) for text in missing}
            self._keep({(passage, text): found[text] for text in missing})
        return np.stack([found[text] for text in perspectives])

    def _keep(self, read: Mapping[tuple[str, str], Floats]) -> None:
        with self._reading:
            self._pairs_read |= read
            for pair in list(islice(self._pairs_read, max(0, len(self._pairs_read) - _MOST_KEPT))):
                del self._pairs_read[pair]

    def _most_telling(self, windows: Sequence[_Read], perspective: str) -> Floats:
        """Return the probabilities of the window that supports the perspective most, or else opposes it most, float32[3].

        Those of a perspective with a reason are the geometric means of those of its `readings_of`.
        """
        readings = [self._tokens(text)[:MOST_PERSPECTIVE_TOKENS] for text in readings_of(perspective)]
        found: list[Floats] = [_mean_reading([self._perspective(w, ids) for ids in readings]) for w in windows]
        return found[max(range(len(found)), key=lambda place: tuple(found[place][:2]))]

    def is_cut(self, perspective: str) -> bool:
        """Return whether a perspective is longer than what is read of it."""
        return len(self._tokens(perspective)) > MOST_PERSPECTIVE_TOKENS

    def _windows(self, passage: str) -> list[list[int]]:
        tokens = self._tokens(passage)
        step = MOST_PASSAGE_TOKENS - MOST_PASSAGE_TOKENS // 4
        last = max(0, len(tokens) - MOST_PASSAGE_TOKENS)
        return [tokens[start : start + MOST_PASSAGE_TOKENS] for start in range(0, last + step, step)]

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _passage(self, tokens: Sequence[int]) -> _Read:
        ids = [self.first, *tokens, self.last]
        mean, *kept = self._run((OUTPUTS[1], *self.kept), ids, 0, self.nothing)
        return _Read(len(ids), mean, {PAST + name: one for name, one in zip(self.kept, kept, strict=True)})

    def _perspective(self, window: _Read, tokens: Sequence[int]) -> Floats:
        [stances] = self._run(OUTPUTS[:1], [*tokens, self.last], 1, window)
        found: Floats = np.asarray(stances, dtype=np.float32)[0]
        return found

    def _run(self, wanted: Sequence[str], ids: Sequence[int], kind: int, before: _Read) -> list[Any]:
        places = np.arange(before.length, before.length + len(ids), dtype=np.int64)[None]
        texts = (np.array([ids], dtype=np.int64), places, np.full_like(places, kind))
        inputs = {**dict(zip(INPUTS, (*texts, before.mean), strict=True)), **before.past}
        results: list[Any] = self.session.run(list(wanted), inputs)
        return results


def _nothing(shape: Sequence[Any]) -> Floats:
    """Return the keys or values of no tokens, of the shape of an input: [1, heads, any length, width / heads]."""
    return np.zeros((shape[0], shape[1], 0, shape[3]), dtype=np.float32)


def _mean_reading(readings: Sequence[Floats]) -> Floats:
    """Return the normalised geometric mean of probabilities, float32[3]."""
    if len(readings) == 1:
        return readings[0]
    mean = np.exp(np.log(np.maximum(np.stack(readings), np.finfo(np.float32).tiny)).mean(axis=0))
    normalised: Floats = (mean / mean.sum()).astype(np.float32)
    return normalised


def ends(vocabulary: Mapping[str, int]) -> tuple[int, int]:
    """Return the tokens that begin a text and end it, as BERT or MPNet calls them."""
    first, last = ("[CLS]", "[SEP]") if "[CLS]" in vocabulary else ("<s>", "</s>")
    return int(vocabulary[first]), int(vocabulary[last])


@lru_cache(maxsize=4)
def _model_of(folder: Path, state: State, adaptation: Adaptation | None) -> _Model:
    del state
    return _Model(folder, {} if adaptation is None else adaptation.numbers)
