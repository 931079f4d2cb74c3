"""How fast a detector is, how much memory it takes, and what it costs, measured in a process of its own.

What detectors took when they were last measured on this machine, kept in the workspace; and what models were paid so far.
"""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import numpy as np

from berdseye.data.errors import BerdseyeError, UnavailableError
from berdseye.data.files.atomic import write_json
from berdseye.data.files.json_files import read_json
from berdseye.data.grammar import Call, parse
from berdseye.data.language_models.cache import CompletionCache, Spent
from berdseye.data.records import Pair
from berdseye.data.texts.chunkers import split_sentences
from berdseye.data.workspace import Workspace, file_stem
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.detection.contrast import contrast_cases
from berdseye.evaluation.detection.tables import PAIRS_PER_SECOND, SECONDS_PER_DATASET

DEFAULT_PAIRS = 20_000
DEFAULT_SECONDS = 20.0
_PERSPECTIVES_PER_PASSAGE = 2
_WORDS = 100
_FIRST_BATCH = 16
_GROWTH = 4


@dataclass(frozen=True)
class Throughput:
    """What a detector took for `pairs` pairs.

    `load_seconds` is until the first pair was answered; `memory_mib` is by how much the peak of resident memory grew from
    before the detector was opened (NaN where the system does not tell). Tokens and dollars are per 1,000 pairs that a language
    model was asked, NaN where none was; `unpriced` says that a price is not known. `dataset_minutes` is how long the published
    evaluation of a data set would take.
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


def measure_throughput(
    detector: str,
    workspace: Path | None = None,
    *,
    pairs: Sequence[Pair] | None = None,
    most: int = DEFAULT_PAIRS,
    seconds: float = DEFAULT_SECONDS,
) -> Throughput:
    """Measure the detector of a name on pairs (at most `most` made ones, where none are given) for about `seconds`."""
    if pairs is None:
        # Another seed after every call: answers of an earlier measurement, which are cached, would be no measurement.
        held = None if workspace is None else Workspace.open(workspace)
        pairs = made_pairs(most, seed=_spent(held).calls)
    chosen = list(dict.fromkeys(pairs))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as own:
        try:
            return own.submit(_measured, detector, workspace, chosen, seconds).result()
        except BrokenProcessPool as error:
            raise UnavailableError(
                f"The process that measured '{detector}' ended.", hint="It may need more memory than there is."
            ) from error


def made_pairs(count: int, seed: int = 0) -> list[Pair]:
    """Distinct pairs of passages of about 100 words, two perspectives each, put together from sentences of the contrast cases."""
    sentences = sorted({s for case in contrast_cases() for s in split_sentences(case.pair.passage)})
    perspectives = sorted({case.pair.perspective for case in contrast_cases()})
    rng = np.random.default_rng(seed)
    found: list[Pair] = []
    while len(found) < count:
        passage: list[str] = []
        while len(passage) < _WORDS:
            passage += sentences[int(rng.integers(len(sentences)))].split()
        chosen = rng.choice(len(perspectives), _PERSPECTIVES_PER_PASSAGE, replace=False)
        found += [Pair(" ".join(passage), perspectives[int(i)]) for i in chosen]
    return found[:count]


def per_1000_calls(before: Spent, after: Spent) -> tuple[float, float, bool]:
    """Tokens and dollars per 1,000 calls between two counts, and whether the price of any is unknown."""
    calls = after.calls - before.calls
    if not calls:
        return np.nan, np.nan, False
    tokens = after.prompt_tokens + after.completion_tokens - before.prompt_tokens - before.completion_tokens
    return 1000 * tokens / calls, 1000 * (after.cost - before.cost) / calls, after.unpriced > before.unpriced


def _measured(name: str, folder: Path | None, pairs: Sequence[Pair], seconds: float) -> Throughput:
    workspace = None if folder is None else Workspace.open(folder)
    before = _peak_mib()
    began = perf_counter()
    detector = parse_detector(name, workspace)
    detector.predict(pairs[:1])
    loaded = perf_counter() - began
    spent = _spent(workspace)
    done, speed = _pace(detector, pairs[1:], seconds)
    tokens, dollars, unpriced = per_1000_calls(spent, _spent(workspace))
    return Throughput(
        detector=detector.name,
        version=detector.version,
        pairs=done,
        load_seconds=loaded,
        pairs_per_second=speed,
        memory_mib=_peak_mib() - before,
        tokens_per_1000=tokens,
        dollars_per_1000=dollars,
        unpriced=unpriced,
        dataset_minutes=PAIRS_PER_SECOND * SECONDS_PER_DATASET / speed / 60,
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
    )


def _pace(detector: Detector, pairs: Sequence[Pair], seconds: float) -> tuple[int, float]:
    """How many pairs were answered, and how many a second; at least one batch."""
    done, size = 0, min(_FIRST_BATCH, detector.pairs_at_once)
    began = perf_counter()
    # Batches grow, so that a slow detector stops in time and a fast one is asked as it likes best.
    while done < len(pairs) and (done == 0 or perf_counter() - began < seconds):
        done += len(detector.predict(pairs[done : done + size]))
        size = min(_GROWTH * size, detector.pairs_at_once)
    return done, done / max(perf_counter() - began, 1e-9) if done else np.nan


def _spent(workspace: Workspace | None) -> Spent:
    return Spent(0, 0, 0, 0.0, 0) if workspace is None else CompletionCache(workspace).spent()


def _peak_mib() -> float:
    """The peak of this process's resident memory, which unlike `ru_maxrss` owes nothing to the parent; NaN where unknown."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return np.nan
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else np.nan


@dataclass(frozen=True)
class Kept:
    """A measurement and when it was taken (ISO 8601, UTC)."""

    throughput: Throughput
    at: str

    @property
    def seconds_per_1000(self) -> float:
        """Seconds for a thousand pairs, the loading not counted."""
        return 1000 / self.throughput.pairs_per_second


@dataclass(frozen=True)
class Paid:
    """All that a language model was asked from this workspace, for whatever purpose: calls, and tokens and dollars per 1,000
    of them; `unpriced` says that the price of some is not known, and not counted."""

    calls: int
    tokens_per_1000: float
    dollars_per_1000: float
    dollars: float
    unpriced: bool


def folder_of(workspace: Workspace, detector: str) -> Path:
    """Where what is known of a detector's speed lies, by its canonical name."""
    return workspace.detectors_folder / ".throughput" / file_stem(detector)


def keep(workspace: Workspace, measured: Throughput) -> None:
    """Keep a measurement in place of an older one of the same detector."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(folder_of(workspace, measured.detector) / "measured.json", asdict(measured) | {"at": at})


def kept(workspace: Workspace, detector: str, version: str) -> Kept | None:
    """The last measurement of this version of a detector; None where there is none that can be read."""
    path = folder_of(workspace, detector) / "measured.json"
    if not path.exists():
        return None
    try:
        held = dict(read_json(path))
        at = str(held.pop("at"))
        found = Throughput(**held)
    except (BerdseyeError, TypeError, ValueError, KeyError):
        return None  # of another release: it is measured anew
    return Kept(found, at) if found.version == version else None


def paid(workspace: Workspace, detector: str) -> Paid | None:
    """What the language model behind `api(MODEL)` was asked so far; None for other detectors, and where it was asked nothing."""
    call = parse(detector)[0]
    if call.name != "api" or not call.args:
        return None
    spent = CompletionCache(workspace).spent(str(Call("api", call.args[:1])))
    if not spent.calls:
        return None
    tokens, dollars, unpriced = per_1000_calls(Spent(0, 0, 0, 0.0, 0), spent)
    return Paid(spent.calls, tokens, dollars, spent.cost, unpriced)
