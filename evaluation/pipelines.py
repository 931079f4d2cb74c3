"""Pipelines with their context: the workspace and the detectors."""

from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label_function
from berdseye.retrieval.pipeline import Pipeline
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import PipelineContext


def pipeline_of(workspace: Workspace, text: str) -> Pipeline:
    """Parse the text of a pipeline (see `parse_pipeline`) in the context of the workspace and its detectors."""
    return parse_pipeline(text, PipelineContext(workspace, label_function(workspace)))
