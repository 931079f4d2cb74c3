"""How things stand between the judgments here and Label Studio, for the page and the command line alike."""

from berdseye.annotation.doctor.examine import examine
from berdseye.annotation.doctor.finding import Finding
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.label_studio.connection import connect
from berdseye.annotation.label_studio.doctor import examine_exchange
from berdseye.annotation.label_studio.drift import Drift, find_drift
from berdseye.annotation.label_studio.purpose import exchanged_projects
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.workspace import Workspace


def drifts(workspace: Workspace, judgments: Judgments) -> list[Drift]:
    """What differs, project by project; raises `UnavailableError` when Label Studio does not answer."""
    connection = connect(workspace)
    return [find_drift(judgments, connection, project) for project in exchanged_projects(judgments, connection)]


def check_health(workspace: Workspace, judgments: Judgments) -> tuple[list[Finding], str]:
    """What is wrong here and, where it answers, in Label Studio; and why that could not be looked at."""
    found = examine(judgments)
    try:
        return found + examine_exchange(judgments, connect(workspace)), ""
    except (UnavailableError, BadInputError) as error:
        return found, str(error)
