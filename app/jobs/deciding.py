"""Updates the order of batches of earlier versions that decide which of two runs is better, in the background while people
judge. Newer ones keep the weights of their draws."""

from threading import Lock, Thread

from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace

EVERY = 10
"""The number of judgments after which the order is updated."""
_lock = Lock()
_judgments_since: dict[tuple[str, int], int] = {}
_renewing: set[tuple[str, int]] = set()


def count_judgment(workspace: Workspace, judgments: Judgments, batch: Batch | None) -> Thread | None:
    """Count a judgment on a batch. When an update of its order is due, start it and return its thread, otherwise return
    None."""
    if batch is None or batch.keeps_weights:
        return None
    place = (workspace.judgments_url, batch.id)
    with _lock:
        _judgments_since[place] = _judgments_since.get(place, 0) + 1
        if _judgments_since[place] < EVERY or place in _renewing:
            return None
        _judgments_since[place] = 0
        _renewing.add(place)
    thread = Thread(target=_renew, args=(workspace, judgments, batch, place), daemon=True)
    thread.start()
    return thread


def _renew(workspace: Workspace, judgments: Judgments, batch: Batch, place: tuple[str, int]) -> None:
    from berdseye.evaluation.selection.decision import deciding_batch, renew_order

    try:
        renew_order(judgments, batch, deciding_batch(workspace, judgments, batch))
    except BerdseyeError:
        pass  # a run is gone: the order stays unchanged, and `batch show` reports the reason
    finally:
        with _lock:
            _renewing.discard(place)
