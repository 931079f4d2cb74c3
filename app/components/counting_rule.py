"""The rule for which questions count, in the words of the pages that show measures."""

from berdseye.data.workspace import Workspace
from berdseye.evaluation.scores.unjudged import Unjudged, in_words, unjudged_of

_EVERY_RUN = "A question counts for every run if the label source has a label for it."


def questions_that_count(workspace: Workspace) -> str:
    """Return a sentence on which questions count for a run, under the workspace's rule for unjudged questions."""
    rule = unjudged_of(workspace)
    return in_words(rule) if rule is Unjudged.LEFT_OUT else f"{_EVERY_RUN} {in_words(rule)}"
