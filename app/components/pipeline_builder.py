"""A pipeline put together from parts by choosing, with the name that results."""

from collections.abc import Sequence

import streamlit as st

from berdseye.app.access.session import workspace
from berdseye.app.components.plain_text import escaped
from berdseye.data.runs.stored import list_runs
from berdseye.detectors.trained import detector_names
from berdseye.evaluation.pipelines import pipeline_of
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES
from berdseye.retrieval.projection.forms import FORMS

BUILD = "Build a pipeline…"
_BUILT = "built_pipelines"
_COLBERT = ("colbert-ir/colbertv2.0", "lightonai/GTE-ModernColBERT-v1")
EXPANSIONS = {
    "": "The question alone",
    "llm": "Perspectives from a language model",
    "manual": "Perspectives written on Explore",
}
RETRIEVERS = {
    "bm25": "BM25: words in common",
    "qld": "Query likelihood: words in common",
    "dense(static)": "Static vectors: similar meaning, no download",
    "dense": "Vectors of a model",
    "sparse": "Learned word weights of a model (uniCOIL, SPLADE)",
    "colbert": "Vectors of each token of a model (ColBERT)",
    "hybrid": "BM25 and vectors together",
}
STAGES = {
    "": "None",
    "mmr": "MMR: avoid passages that resemble earlier ones",
    "cover": "Cover: next the passage with the most new perspectives",
    "crossencoder": "Cross-encoder: score each passage with the question",
    "colbert": "ColBERT: compare the tokens of each passage with those of the question",
}


def offered_pipelines() -> list[str]:
    """Return the pipelines to offer: the defaults, those of stored runs, and those built in this session."""
    stored = [run.pipeline for run in list_runs(workspace())]
    built: list[str] = st.session_state.get(_BUILT, [])
    return list(dict.fromkeys([*DEFAULT_PIPELINES, *built, *stored]))


def chosen_pipeline(key: str) -> str | None:
    """Draw the choice of a pipeline or of the parts of a new one, and return its canonical name, or None while parts are missing.

    Raises `BadInputError` for a name typed by hand that is not a pipeline's.
    """
    chosen = st.selectbox(
        "Pipeline",
        [*offered_pipelines(), BUILD],
        key=key,
        accept_new_options=True,
        help="Choose one, build one from parts, or type one, for example hybrid(bm25,dense(static),alpha=0.1).",
    )
    if chosen != BUILD:
        return str(pipeline_of(workspace(), chosen)) if chosen else None
    return _build(key)


def pipeline_name(
    retriever: str, *, expansion: str = "", projection: str = "", stage: str = "", keep: int | None = None
) -> str:
    """Return the name of a pipeline from the texts of its parts. `keep` is the number of passages that the stage reads."""
    parts = [f"expand({expansion})"] if expansion else []
    parts.append(retriever)
    if projection:
        parts.append(projection)
    if stage:
        parts[-1] += f"%{keep}" if keep is not None else ""
        parts.append(stage)
    return " >> ".join(parts)


def _build(key: str) -> str | None:
    left, middle, right = st.columns(3)
    with left:
        expansion = _one("Search for", EXPANSIONS, f"{key}-expansion")
    with middle:
        retriever = _retriever(_one("Retriever", RETRIEVERS, f"{key}-retriever"), key)
        projection = _projection(key) if retriever is not None and retriever.startswith("dense") else ""
    with right:
        stage, keep = _stage(_one("Rerank", STAGES, f"{key}-stage"), key)
    if retriever is None or stage is None:
        st.caption("Name the model to complete the pipeline.")
        return None
    name = str(
        pipeline_of(
            workspace(), pipeline_name(retriever, expansion=expansion, projection=projection, stage=stage, keep=keep)
        )
    )
    st.markdown(f"This pipeline is **{escaped(name)}**.")
    built: list[str] = st.session_state.setdefault(_BUILT, [])
    if name not in built:
        built.append(name)
    return name


def _one(label: str, options: dict[str, str], key: str) -> str:
    chosen: str | None = st.selectbox(label, list(options), format_func=options.__getitem__, key=key)
    return chosen or next(iter(options))


def _model(key: str, examples: Sequence[str]) -> str | None:
    """Draw the choice of a model, by its name on a model hub or its folder, and return it."""
    return st.selectbox(
        "Model",
        examples,
        index=None,
        key=key,
        accept_new_options=True,
        placeholder="Choose, or type a name or a folder",
    )


def _retriever(kind: str, key: str) -> str | None:
    """Draw the settings of a retriever and return its text, or None while its model is missing."""
    if kind == "bm25":
        columns = st.columns(2)
        k1 = columns[0].number_input("k1", 0.0, 10.0, 1.2, 0.1, key=f"{key}-k1")
        b = columns[1].number_input("b", 0.0, 1.0, 0.75, 0.05, key=f"{key}-b")
        return f"bm25(k1={k1:g},b={b:g})"
    if kind == "qld":
        return f"qld(mu={st.number_input('mu', 1.0, 100_000.0, 1000.0, 100.0, key=f'{key}-mu'):g})"
    if kind == "dense":
        model = _model(f"{key}-encoder", ("facebook/contriever-msmarco", "WhereIsAI/UAE-Large-V1"))
        return None if model is None else f"dense({model})"
    if kind == "sparse":
        model = _model(f"{key}-sparse", ("castorini/unicoil-noexp-msmarco-passage",))
        return None if model is None else f"sparse({model})"
    if kind == "colbert":
        model = _model(f"{key}-colbert", _COLBERT)
        return None if model is None else f"colbert({model})"
    if kind == "hybrid":
        alpha = st.slider("Weight of BM25 (alpha)", 0.0, 1.0, 0.1, 0.05, key=f"{key}-alpha")
        return f"hybrid(bm25,dense(static),alpha={alpha:g})"
    return kind


def _projection(key: str) -> str:
    """Draw the choice of one of PIR's projections and return its text, empty for none."""
    names = {"": "No projection", **{form: form for form in FORMS}}
    return _one("Projection of the perspective (PIR)", names, f"{key}-projection")


def _stage(kind: str, key: str) -> tuple[str | None, int | None]:
    """Draw the settings of a stage and return its text (None while its model is missing) and how many passages it reads."""
    if not kind:
        return "", None
    stage: str | None
    if kind == "mmr":
        weight = st.slider("Weight of relevance (lambda)", 0.0, 1.0, 0.9, 0.05, key=f"{key}-lambda")
        stage = f"mmr({weight:g})"
    elif kind == "cover":
        stage = f"cover({st.selectbox('Detector', detector_names(workspace()), key=f'{key}-cover')})"
    else:
        models = _COLBERT if kind == "colbert" else ("cross-encoder/ms-marco-MiniLM-L-6-v2",)
        model = _model(f"{key}-{'late' if kind == 'colbert' else 'cross'}", models)
        stage = None if model is None else f"{kind}({model})"
    keep = st.number_input("Passages to rerank", 1, 10_000, 100, 10, key=f"{key}-keep")
    return stage, int(keep)
