"""Throughput of detectors: speed, memory and costs, measured in a separate process; the last measurements on this machine, stored
in the workspace; and the costs of language models so far.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import numpy as np

from berdseye.data.errors import BerdseyeError
from berdseye.data.files.atomic import write_json
from berdseye.data.files.json_files import read_json
from berdseye.data.grammar import Call, parse
from berdseye.data.language_models.cache import CompletionCache, Spent
from berdseye.data.records import Pair
from berdseye.data.texts.chunkers import split_sentences
from berdseye.data.workspace import Workspace, file_stem
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.protocol import Detector, count_truncated
from berdseye.evaluation.detection.contrast import contrast_cases
from berdseye.evaluation.detection.own_process import in_own_process, peak_mib
from berdseye.evaluation.detection.tables import PAIRS_PER_SECOND, SECONDS_PER_DATASET

DEFAULT_PAIRS = 20_000
DEFAULT_SECONDS = 20.0
_PERSPECTIVES_PER_PASSAGE = 2
_WORDS = 100
_FIRST_BATCH = 16
_GROWTH = 4


@dataclass(frozen=True)
class Throughput:
    """The resources that a detector used for `pairs` pairs.

    `load_seconds` is the time until the first pair was labelled; `memory_mib` is the growth of the peak of resident memory from
    before the detector was opened (NaN if the system does not report it). Tokens and dollars are per 1,000 pairs sent to a
    language model, NaN if none was; `unpriced`: whether a price is unknown. `dataset_minutes` is the time that the published
    evaluation of a data set would take. `truncated` is the number of these pairs with a text that the detector cut (None: it does
    not report this, or an older release measured it).
    """

    detector: str
    version: str
    pairs: int
    load_seconds: float
    pairs_per_second: float
    memory_mib: float
    tokens_per_1000: float
    dollars_per_1000: float
    unpriced: bool
    dataset_minutes: float
    cores: int
    truncated: int | None = None


def measure_throughput(
    detector: str,
    workspace: Path | None = None,
    *,
    pairs: Sequence[Pair] | None = None,
    most: int = DEFAULT_PAIRS,
    seconds: float = DEFAULT_SECONDS,
) -> Throughput:
    """Measure a detector, given by name, on pairs (by default at most `most` synthetic ones) for about `seconds`.

    Raises `UnavailableError` if the measuring process ends unexpectedly.
    """
    if pairs is None:
        # A new seed after every call, because cached answers of an earlier measurement would distort the result.
        opened = None if workspace is None else Workspace.open(workspace)
        pairs = synthetic_pairs(most, seed=_spent(opened).calls)
    chosen = list(dict.fromkeys(pairs))
    return in_own_process(f"measured '{detector}'", _measured, detector, workspace, chosen, seconds)


def synthetic_pairs(count: int, seed: int = 0) -> list[Pair]:
    """Create distinct synthetic pairs: passages of about 100 words from sentences of the contrast cases, two perspectives
    each."""
    sentences = sorted({s for case in contrast_cases() for s in split_sentences(case.pair.passage)})
    perspectives = sorted({case.pair.perspective for case in contrast_cases()})
    rng = np.random.default_rng(seed)
    created: list[Pair] = []
    while len(created) < count:
        passage: list[str] = []
        while len(passage) < _WORDS:
            passage += sentences[int(rng.integers(len(sentences)))].split()
        chosen = rng.choice(len(perspectives), _PERSPECTIVES_PER_PASSAGE, replace=False)
        created += [Pair(" ".join(passage), perspectives[int(i)]) for i in chosen]
    return created[:count]


def per_1000_calls(before: Spent, after: Spent) -> tuple[float, float, bool]:
    """Return tokens and dollars per 1,000 calls between two counts, and whether the price of a call is unknown."""
    calls = after.calls - before.calls
    if not calls:
        return np.nan, np.nan, False
    tokens = after.prompt_tokens + after.completion_tokens - before.prompt_tokens - before.completion_tokens
    return 1000 * tokens / calls, 1000 * (after.cost - before.cost) / calls, after.unpriced > before.unpriced


def _measured(name: str, folder: Path | None, pairs: Sequence[Pair], seconds: float) -> Throughput:
    workspace = None if folder is None else Workspace.open(folder)
    before = peak_mib()
    began = perf_counter()
    detector = parse_detector(name, workspace)
    detector.predict(pairs[:1])
    loaded = perf_counter() - began
    spent = _spent(workspace)
    done, speed = _pace(detector, pairs[1:], seconds)
    tokens, dollars, unpriced = per_1000_calls(spent, _spent(workspace))
    memory = peak_mib() - before  # before texts are counted, which needs memory too
    return Throughput(
        detector=detector.name,
        version=detector.version,
        pairs=done,
        load_seconds=loaded,
        pairs_per_second=speed,
        memory_mib=memory,
        tokens_per_1000=tokens,
        dollars_per_1000=dollars,
        unpriced=unpriced,
        dataset_minutes=PAIRS_PER_SECOND * SECONDS_PER_DATASET / speed / 60,
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        truncated=count_truncated(detector, pairs[1 : 1 + done]),
    )


def _pace(detector: Detector, pairs: Sequence[Pair], seconds: float) -> tuple[int, float]:
    """Return the number of labelled pairs, at least one batch, and the number per second."""
    done, size = 0, min(_FIRST_BATCH, detector.pairs_at_once)
    began = perf_counter()
    # Batches grow, so that a slow detector stops in time and a fast one gets batches of its preferred size.
    while done < len(pairs) and (done == 0 or perf_counter() - began < seconds):
        done += len(detector.predict(pairs[done : done + size]))
        size = min(_GROWTH * size, detector.pairs_at_once)
    return done, done / max(perf_counter() - began, 1e-9) if done else np.nan


def _spent(workspace: Workspace | None) -> Spent:
    return Spent(0, 0, 0, 0.0, 0) if workspace is None else CompletionCache(workspace).spent()


@dataclass(frozen=True)
class StoredThroughput:
    """A stored measurement and its time (ISO 8601, UTC)."""

    throughput: Throughput
    at: str

    @property
    def seconds_per_1000(self) -> float:
        """Seconds for a thousand pairs, without loading."""
        return 1000 / self.throughput.pairs_per_second


@dataclass(frozen=True)
class ModelUse:
    """The use of a language model in this workspace so far, for all purposes: calls, tokens and dollars per 1,000 calls, and
    dollars in total; `unpriced`: whether the price of some calls is unknown and not included."""

    calls: int
    tokens_per_1000: float
    dollars_per_1000: float
    dollars: float
    unpriced: bool


def folder_of(workspace: Workspace, detector: str) -> Path:
    """Return the folder with the measurements of a detector, given by its canonical name."""
    return workspace.detectors_folder / ".throughput" / file_stem(detector)


def save_throughput(workspace: Workspace, measured: Throughput) -> None:
    """Store a measurement in place of an older one of the same detector."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(folder_of(workspace, measured.detector) / "measured.json", asdict(measured) | {"at": at})


def load_throughput(workspace: Workspace, detector: str, version: str) -> StoredThroughput | None:
    """Return the last measurement of this version of a detector; None if there is none that can be read."""
    path = folder_of(workspace, detector) / "measured.json"
    if not path.exists():
        return None
    try:
        stored = dict(read_json(path))
        at = str(stored.pop("at"))
        throughput = Throughput(**stored)
    except (BerdseyeError, TypeError, ValueError, KeyError):
        return None  # written by another release: measured again
    return StoredThroughput(throughput, at) if throughput.version == version else None


def model_use(workspace: Workspace, detector: str) -> ModelUse | None:
    """Return the use so far of the language model behind `api(MODEL)`; None for other detectors, and without calls."""
    call = parse(detector)[0]
    if call.name != "api" or not call.args:
        return None
    spent = CompletionCache(workspace).spent(str(Call("api", call.args[:1])))
    if not spent.calls:
        return None
    tokens, dollars, unpriced = per_1000_calls(Spent(0, 0, 0, 0.0, 0), spent)
    return ModelUse(spent.calls, tokens, dollars, spent.cost, unpriced)
