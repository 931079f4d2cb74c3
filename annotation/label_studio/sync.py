"""A whole exchange: receive, then send."""

from collections.abc import Sequence

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.exchange_state import waiting_pairs
from berdseye.annotation.label_studio.form import check_config
from berdseye.annotation.label_studio.project import Project, reload_project
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.purpose import purpose_of
from berdseye.annotation.label_studio.push import ExtraData, Labels, Progress, push
from berdseye.annotation.label_studio.report import ExchangeReport
from berdseye.data.errors import BadInputError


def sync(
    judgments: Judgments,
    connection: Connection,
    project: Project,
    pairs: Sequence[str] = (),
    labels: Labels | None = None,
    model_version: str = "",
    *,
    more: ExtraData | None = None,
    progress: Progress | None = None,
) -> ExchangeReport:
    """Pull, then push `pairs` and every pair on which something waits; afterwards both sides hold the same.

    A labeling interface without our choices is reported as a problem: what can be received is, and nothing is
    sent. Raises what `pull` and `push` raise.
    """
    with connection.exclusively():
        received = pull(judgments, connection, project, progress=progress)
        try:
            now = reload_project(connection, project)
            check_config(now.config, now.title, purpose_of(judgments, now.key).task)
        except BadInputError as error:
            return received + ExchangeReport(problems=(str(error),))
        keys = [*pairs, *waiting_pairs(judgments, project.key)]
        return received + push(
            judgments, connection, project, keys, labels, model_version, more=more, progress=progress
        )
