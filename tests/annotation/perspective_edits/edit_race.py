"""A person of a process or thread of their own who accepts an edit at a given moment."""

import time
from pathlib import Path

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace


def accept_at(folder: Path, url: str, edit: int, moment: float) -> str:
    """Accept an edit of the data set `made` at `moment` (seconds since 1970); the outcome as a word."""
    judgments = Judgments.open(url)
    person, log = judgments.sign_in("Bo"), EditLog(Workspace.open(folder), judgments, "made")
    time.sleep(max(moment - time.time(), 0))
    try:
        return log.accept(person, edit).status
    except BerdseyeError as error:
        return type(error).__name__
    finally:
        judgments.engine.dispose()
