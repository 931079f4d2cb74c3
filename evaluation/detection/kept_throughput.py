"""What detectors took when they were last measured on this machine, kept in the workspace; and what models were paid so far."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from berdseye.data.atomic import write_json
from berdseye.data.errors import BerdseyeError
from berdseye.data.grammar import Call, parse
from berdseye.data.json_files import read_json
from berdseye.data.language_models.cache import CompletionCache, Spent
from berdseye.data.workspace import Workspace, file_stem
from berdseye.evaluation.detection.throughput import Throughput, per_1000_calls


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
