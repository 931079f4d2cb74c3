"""The names of encoders, and how they are opened; large libraries are imported only when an encoder is opened."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.extras import needing, require
from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.models.weights import loading
from berdseye.retrieval.encoders.known_models import (
    CROSS,
    DENSE,
    DPR_ROW,
    LATE,
    SPARSE,
    DensePooling,
    Kind,
    KnownModel,
    find_known,
)
from berdseye.retrieval.encoders.model_folders import REMOTE_CODE_VARIABLE, ModelFolder, find_folder
from berdseye.retrieval.encoders.protocol import CrossEncoder, Encoder, SparseEncoder, TokenEncoder
from berdseye.retrieval.encoders.static import StaticEncoder

_API = re.compile(r'api\("?([^"()]+)"?\)')
_KEPT_OPEN = 8


def known_encoders() -> tuple[KnownModel, ...]:
    """All models in the tables: dense, sparse, late interaction and cross-encoders."""
    return DENSE + SPARSE + LATE + CROSS


@lru_cache(maxsize=_KEPT_OPEN)
def open_encoder(name: str, pooling: DensePooling | None = None) -> Encoder:
    """Open a bi-encoder: `static`, `api(MODEL)`, a folder, the short name of a known model, or a name on the Hub.

    `pooling` replaces the pooling that the table of known models or the model's files specify. Raises `UnknownNameError` with
    the closest names, `UnavailableError` if the model does not exist or cannot be loaded, and `BadInputError` for a model of
    another kind, or one without the chosen pooling.
    """
    if pooling and (name == "static" or _API.fullmatch(name)):
        raise BadInputError(
            f"The pooling of the encoder '{name}' cannot be chosen.", hint="Remove pooling, or use a transformer."
        )
    if name == "static":
        return StaticEncoder(static_embedding())
    if api := _API.fullmatch(name):
        from berdseye.retrieval.encoders.endpoint import EndpointEncoder

        return EndpointEncoder(api[1], find_known("dense", api[1]))
    full, known = _resolved("dense", name)
    queries = _folder("encoder", full, DENSE)
    known = known or _dpr(full, queries)
    passages = _passage_folder(known.passage_tower, queries) if known and known.passage_tower else queries
    with _loaded(full):
        from berdseye.retrieval.encoders.transformer import TransformerEncoder

        return TransformerEncoder(full, known, queries, passages, pooling)


@lru_cache(maxsize=_KEPT_OPEN)
def open_sparse_encoder(name: str) -> SparseEncoder:
    """Open a learned sparse encoder; raises `UnknownNameError`, `UnavailableError` or `BadInputError`."""
    full, known = _resolved("sparse", name)
    folder = _folder("sparse encoder", full, SPARSE)
    with _loaded(full):
        from berdseye.retrieval.encoders.sparse import LearnedSparseEncoder

        return LearnedSparseEncoder(full, known, folder)


@lru_cache(maxsize=_KEPT_OPEN)
def open_token_encoder(name: str) -> TokenEncoder:
    """Open a late interaction encoder; raises `UnknownNameError`, `UnavailableError` or `BadInputError`."""
    full, _ = _resolved("late", name)
    folder = _folder("late interaction encoder", full, LATE)
    with _loaded(full):
        from berdseye.retrieval.encoders.late_interaction import LateInteractionEncoder

        return LateInteractionEncoder(full, folder)


@lru_cache(maxsize=_KEPT_OPEN)
def open_cross_encoder(name: str) -> CrossEncoder:
    """Open a cross-encoder; raises `UnknownNameError`, `UnavailableError` or `BadInputError`."""
    full, known = _resolved("cross", name)
    folder = _folder("cross-encoder", full, CROSS)
    with _loaded(full):
        from berdseye.retrieval.encoders.cross import PairEncoder

        return PairEncoder(full, known, folder)


def _resolved(kind: Kind, name: str) -> tuple[str, KnownModel | None]:
    """The canonical name (for the short name of a known model, its name on the Hub), and the row of a known model."""
    known = find_known(kind, name)
    if known and name == known.short_name and not Path(name).is_dir():
        return known.name, known
    return name, known


def _folder(kind: str, name: str, rows: tuple[KnownModel, ...]) -> ModelFolder:
    if "/" in name:  # other names may be misspelled ones
        require(f"Model '{name}'", "sentence_transformers")
    return find_folder(name, kind, [*(["static"] if rows is DENSE else []), *(row.name for row in rows)])


def _dpr(name: str, folder: ModelFolder) -> KnownModel | None:
    """The row of a DPR tower that the table lacks, such as those of Sphere, by the class that its files name.

    The passage tower is the folder beside it whose name has `ctx` in the place of `question` or `query`; otherwise itself.
    """
    try:
        config = json.loads((folder.path / "config.json").read_text(encoding="utf-8"))
        [architecture] = config["architectures"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if folder.has_modules or architecture not in ("DPRQuestionEncoder", "DPRContextEncoder"):
        return None
    other = folder.path.with_name(re.sub("question|query", "ctx", folder.path.name))
    passage_tower = str(other) if other != folder.path and other.is_dir() else ""
    return replace(DPR_ROW, name=name, passage_tower=passage_tower)


def _passage_folder(name: str, queries: ModelFolder) -> ModelFolder:
    """The folder of the passage tower: next to the query tower, or the folder found by its name."""
    neighbour = queries.path.parent / name.rpartition("/")[2]
    return _folder("encoder", str(neighbour) if neighbour.is_dir() else name, DENSE)


@contextmanager
def _loaded(name: str) -> Iterator[None]:
    """Load a model without output, and with one-line errors."""
    with needing(f"Model '{name}'"):
        from berdseye.retrieval.encoders.running import without_output

    with ExitStack() as stack:
        stack.enter_context(loading(name))
        stack.enter_context(without_output())
        try:
            yield
        except ValueError as error:
            if "trust_remote_code" not in str(error):
                raise
            raise UnavailableError(
                f"Model '{name}' requires running code from its repository.",
                hint=f"Review that code, then allow it with {REMOTE_CODE_VARIABLE}={name}.",
            ) from error
