"""Batches that settle which of two runs is better are put in order anew while people judge, off the page that they judge on."""

from threading import Lock, Thread

from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace

EVERY = 10
"""Words after which the order is made anew; `study decision` tells what a longer wait costs."""
_lock = Lock()
_given: dict[tuple[str, int], int] = {}
_renewing: set[tuple[str, int]] = set()


def word_given(workspace: Workspace, judgments: Judgments, batch: Batch | None) -> Thread | None:
    """Count a word on a batch, and begin to renew its order when it is time; gives the thread that does."""
    if batch is None or batch.order != "decision":
        return None
    place = (workspace.judgments_url, batch.id)
    with _lock:
        _given[place] = _given.get(place, 0) + 1
        if _given[place] < EVERY or place in _renewing:
            return None
        _given[place] = 0
        _renewing.add(place)
    thread = Thread(target=_renew, args=(workspace, judgments, batch, place), daemon=True)
    thread.start()
    return thread


def _renew(workspace: Workspace, judgments: Judgments, batch: Batch, place: tuple[str, int]) -> None:
    from berdseye.evaluation.selection.decision import deciding_batch, renew_order

    try:
        renew_order(judgments, batch, deciding_batch(workspace, judgments, batch))
    except BerdseyeError:
        pass  # a run is gone: the order stays as it was, and `batch show` says why
    finally:
        with _lock:
            _renewing.discard(place)
