"""Pipelines with all that they may ask for: the workspace's texts and the detectors."""

from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label_function
from berdseye.retrieval.pipeline import Pipeline
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import PipelineContext


def pipeline_of(workspace: Workspace, text: str) -> Pipeline:
    """The pipeline of a name, as `parse_pipeline` reads it."""
    return parse_pipeline(text, PipelineContext(workspace, label_function(workspace)))
