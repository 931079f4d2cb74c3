"""The tables and figures of BERDS by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from berdseye.data.given_options import only_with
from berdseye.evaluation.studies.by_name.of_runs import of_runs
from berdseye.evaluation.studies.by_name.options import Between
from berdseye.retrieval.expansion.protocol import Queries

if TYPE_CHECKING:
    from berdseye.data.language_models.prompts import PromptTemplate
    from berdseye.data.language_models.protocol import LanguageModel
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.studies.gathering import Gatherer, Selection
    from berdseye.evaluation.studies.result import StudyResult

Depth = Annotated[int, Between(1)]


@of_runs
def base(gatherer: "Gatherer", selection: "Selection", *, k: Sequence[int] | None = None) -> "StudyResult":
    """Compute tables 3 and 17, at the cutoffs `k`, by default 5 and 10."""
    from berdseye.evaluation.studies.berds.base import KS
    from berdseye.evaluation.studies.berds.base import base as study

    return study(gatherer, selection, k or KS)


@of_runs
def diversity(
    gatherer: "Gatherer",
    selection: "Selection",
    *,
    k: int = 5,
    weight: str = "0.95",
    dev: Sequence[str] | None = None,
    embedder: str = "static",
    expansion: str | None = None,
    queries: Queries = "released",
) -> "StudyResult":
    """Compute table 4; `dev` names the data sets on which the weight of MMR is tuned, instead of `weight`."""
    from berdseye.evaluation.studies.berds.diversity import diversity as study

    return study(
        gatherer,
        selection,
        k=k,
        weight=weight,
        dev=dev or (),
        embedder=embedder,
        expansion=expansion,
        queries=queries,
    )


@of_runs
def weights(
    gatherer: "Gatherer", selection: "Selection", *, measure: str = "MRecall@5", embedder: str = "static"
) -> "StudyResult":
    """Compute table 8, and store the weights."""
    from berdseye.evaluation.studies.berds.diversity import tuning

    return tuning(gatherer, selection, measure=measure, embedder=embedder)


@of_runs
def coverage(gatherer: "Gatherer", selection: "Selection", *, depth: Depth = 100) -> "StudyResult":
    """Compute table 5."""
    from berdseye.evaluation.studies.berds.depth import coverage as study

    return study(gatherer, selection, depth=depth)


@of_runs
def union(gatherer: "Gatherer", selection: "Selection", *, depth: Depth = 100) -> "StudyResult":
    """Compute table 6."""
    from berdseye.evaluation.studies.berds.depth import union as study

    return study(gatherer, selection, depth=depth)


@of_runs
def leaning(
    gatherer: "Gatherer", selection: "Selection", *, k: int = 5, model: str | None = None, prompt: Path | None = None
) -> "StudyResult":
    """Compute figure 2."""
    from berdseye.evaluation.studies.berds.sides import leaning as study

    only_with("--model", model, "prompt")
    return study(gatherer, selection, k=k, model=_model(gatherer.workspace, model), prompt=_sides_prompt(prompt))


@of_runs
def sycophancy(
    gatherer: "Gatherer", selection: "Selection", *, k: int = 5, model: str | None = None, prompt: Path | None = None
) -> "StudyResult":
    """Compute figure 3."""
    from berdseye.evaluation.studies.berds.sides import following

    only_with("--model", model, "prompt")
    return following(gatherer, selection, k=k, model=_model(gatherer.workspace, model), prompt=_sides_prompt(prompt))


def _sides_prompt(file: Path | None) -> "PromptTemplate":
    from berdseye.detectors.sides import SIDES, read_sides_prompt

    return SIDES if file is None else read_sides_prompt(file)


def _model(workspace: "Workspace", name: str | None) -> "LanguageModel | None":
    from berdseye.data.language_models.model_registry import open_language_model

    return None if name is None else open_language_model(name, workspace)
