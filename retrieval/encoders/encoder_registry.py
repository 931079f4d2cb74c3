"""Names of encoders to encoders. Nothing heavy is imported before one is opened."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path

from berdseye.data.errors import UnavailableError
from berdseye.data.extras import needing, require
from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.models.weights import loading
from berdseye.retrieval.encoders.endpoint import EndpointEncoder
from berdseye.retrieval.encoders.known_models import CROSS, DENSE, SPARSE, Kind, KnownModel, find_known
from berdseye.retrieval.encoders.model_folders import REMOTE_CODE_VARIABLE, ModelFolder, find_folder
from berdseye.retrieval.encoders.protocol import CrossEncoder, Encoder, SparseEncoder
from berdseye.retrieval.encoders.static import StaticEncoder

_API = re.compile(r'api\("?([^"()]+)"?\)')
_KEPT_OPEN = 8


def known_encoders() -> tuple[KnownModel, ...]:
    """Every model in the tables: dense, sparse and cross-encoders."""
    return DENSE + SPARSE + CROSS


@lru_cache(maxsize=_KEPT_OPEN)
def open_encoder(name: str) -> Encoder:
    """The bi-encoder of a name: `static`, `api(MODEL)`, a folder, a known model's short name, or a name on the hub.

    Raises `UnknownNameError` with the nearest names, `UnavailableError` where there is no such model or it cannot be loaded,
    and `BadInputError` for a model of another kind.
    """
    if name == "static":
        return StaticEncoder(static_embedding())
    if api := _API.fullmatch(name):
        return EndpointEncoder(api[1], find_known("dense", api[1]))
    full, known = _resolved("dense", name)
    queries = _folder("encoder", full, DENSE)
    passages = _passage_folder(known.passage_tower, queries) if known and known.passage_tower else queries
    with _loaded(full):
        from berdseye.retrieval.encoders.transformer import TransformerEncoder

        return TransformerEncoder(full, known, queries, passages)


@lru_cache(maxsize=_KEPT_OPEN)
def open_sparse_encoder(name: str) -> SparseEncoder:
    """The learned sparse encoder of a name; raises as `open_encoder` does."""
    full, known = _resolved("sparse", name)
    folder = _folder("sparse encoder", full, SPARSE)
    with _loaded(full):
        from berdseye.retrieval.encoders.sparse import LearnedSparseEncoder

        return LearnedSparseEncoder(full, known, folder)


@lru_cache(maxsize=_KEPT_OPEN)
def open_cross_encoder(name: str) -> CrossEncoder:
    """The cross-encoder of a name; raises as `open_encoder` does."""
    full, known = _resolved("cross", name)
    folder = _folder("cross-encoder", full, CROSS)
    with _loaded(full):
        from berdseye.retrieval.encoders.cross import PairEncoder

        return PairEncoder(full, known, folder)


def _resolved(kind: Kind, name: str) -> tuple[str, KnownModel | None]:
    """The canonical name, which of a known model's short name is its name on the hub, and its row."""
    known = find_known(kind, name)
    if known and name == known.short_name and not Path(name).is_dir():
        return known.name, known
    return name, known


def _folder(kind: str, name: str, rows: tuple[KnownModel, ...]) -> ModelFolder:
    if "/" in name:  # other names may be misspelled ones
        require(f"Model '{name}'", "sentence_transformers")
    return find_folder(name, kind, [*(["static"] if rows is DENSE else []), *(row.name for row in rows)])


def _passage_folder(name: str, queries: ModelFolder) -> ModelFolder:
    """The passage tower: beside the query tower, or wherever a model of its name is."""
    beside = queries.path.parent / name.rpartition("/")[2]
    return _folder("encoder", str(beside) if beside.is_dir() else name, DENSE)


@contextmanager
def _loaded(name: str) -> Iterator[None]:
    """Loading without a word on the screen, and with errors of one line."""
    with needing(f"Model '{name}'"):
        from berdseye.retrieval.encoders.running import quietly

    with ExitStack() as stack:
        stack.enter_context(loading(name))
        stack.enter_context(quietly())
        try:
            yield
        except ValueError as error:
            if "trust_remote_code" not in str(error):
                raise
            raise UnavailableError(
                f"Model '{name}' wants to run code of its own.",
                hint=f"Read that code first; then allow it with {REMOTE_CODE_VARIABLE}={name}.",
            ) from error
