"""The rule for which questions count, in the words of the pages that show measures."""

from berdseye.data.workspace import Workspace
from berdseye.evaluation.scores.counted import Unjudged, unjudged_of

EVERY_RUN = "A question counts for every run if the label source has a label for it."


def questions_that_count(workspace: Workspace) -> str:
    """Return a sentence on which questions count for a run, under the workspace's rule for unjudged questions."""
    if unjudged_of(workspace) is Unjudged.LEFT_OUT:
        return "A question without a label in a run's top k is left out of the run's mean (the setting *unjudged*)."
    return EVERY_RUN
