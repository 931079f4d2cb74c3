"""Pipelines with all that they may ask for: the workspace's texts and the detectors."""

from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import judge
from berdseye.retrieval.pipeline import Pipeline
from berdseye.retrieval.protocol import Surroundings
from berdseye.retrieval.registry import parse_pipeline


def pipeline_of(workspace: Workspace, text: str) -> Pipeline:
    """The pipeline of a name, as `parse_pipeline` reads it."""
    return parse_pipeline(text, Surroundings(workspace, judge(workspace)))
