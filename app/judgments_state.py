"""Whether the judgments of a workspace are sound, without making a database where there is none."""

from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError

from berdseye.annotation.doctor.examine import examine
from berdseye.annotation.doctor.finding import Finding
from berdseye.annotation.judgments import Judgments
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace


def examine_judgments(workspace: Workspace) -> list[Finding]:
    """The faults that `berdseye judgments doctor` finds here, Label Studio aside."""
    url = workspace.judgments_url
    database = make_url(url).database if make_url(url).get_backend_name() == "sqlite" else None
    if database is not None and not Path(database).exists():
        return []
    try:
        return examine(Judgments.open(url))
    except (BerdseyeError, DatabaseError) as error:
        said = " ".join(str(error).split())
        return [Finding("database", f"It cannot be opened: {said}", "restore the last backup: `berdseye restore`.")]
