"""Pipelines with all that they may ask for: the workspace's texts and the detectors."""

from data.workspace import Workspace
from detectors.labelling import judge
from retrieval.pipeline import Pipeline
from retrieval.protocol import Surroundings
from retrieval.registry import parse_pipeline


def pipeline_of(workspace: Workspace, text: str) -> Pipeline:
    """The pipeline of a name, as `parse_pipeline` reads it."""
    return parse_pipeline(text, Surroundings(workspace, judge(workspace)))
