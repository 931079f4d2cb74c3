"""Bi-encoders: transformers and other models that sentence-transformers can load, used as their authors use them.

sentence-transformers sorts the texts of a call by length, forms batches, and returns the vectors in the original order.
"""

import hashlib
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from threading import Lock
from typing import Any, get_args

import numpy as np
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.checks import checked, encodable, titled, unit
from berdseye.retrieval.encoders.known_models import INSTRUCTED, DensePooling, KnownModel
from berdseye.retrieval.encoders.known_models import Pooling as PoolingName
from berdseye.retrieval.encoders.model_folders import ModelFolder
from berdseye.retrieval.encoders.protocol import Similarity, Vectors
from berdseye.retrieval.encoders.running import batch_size, move_to_device, one_at_a_time
from berdseye.retrieval.encoders.towers import limit_length, open_tower, text_for_empty


class TransformerEncoder:
    """A bi-encoder with one tower, or with one tower each for queries and passages.

    A model that is not in the table of known models is used as its files specify. `pooling` replaces the pooling of both.
    """

    def __init__(
        self,
        name: str,
        known: KnownModel | None,
        queries: ModelFolder,
        passages: ModelFolder,
        pooling: DensePooling | None = None,
    ) -> None:
        self.name = name
        self._lock = Lock()
        self.known = known = replace(known, pooling=pooling) if known and pooling else known
        self.query_tower = _open(queries, known, pooling)
        self.passage_tower = self.query_tower if passages == queries else _open(passages, known, pooling)
        self.query_length = limit_length(self.query_tower, known)
        self.passage_length = limit_length(self.passage_tower, known)
        self.blank = text_for_empty(self.query_tower)
        if known and known.query_length:
            self.query_length = min(self.query_length, known.query_length)
        self.similarity = _similarity(self.query_tower, known, queries)
        self.version = wiring_version(known, queries, passages, pooling=pooling)
        self.dimension = self._encode(self.query_tower, [""], query=True).shape[1]

    def unscaled(self) -> "TransformerEncoder":
        """This encoder with vectors at the lengths that its model computes, compared by inner product."""
        other = copy(self)
        other.similarity = "dot"
        return other

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Query vectors, float32[n_texts, dimension]; raises `BadInputError` for a vector that is not finite."""
        return self._finished(self.query_tower, texts, query=True)

    def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
        """Vectors of titles and texts, float32[n_passages, dimension]; raises `BadInputError` if one is not finite."""
        separator = self.known.title_separator if self.known else " "
        return self._finished(self.passage_tower, [titled(p, separator) for p in passages], query=False)

    def encode_instructed(self, texts: Sequence[str], instructions: Sequence[str]) -> Vectors:
        """Query vectors, float32[n_texts, dimension], each after its own instruction.

        An empty instruction stands for the model's usual one. Raises `BadInputError` for a model that reads no instructions, and
        for a vector that is not finite.
        """
        if self.known is None or self.known.name not in INSTRUCTED:
            raise BadInputError(
                f"{self.name} was not trained to read an instruction before each query.",
                hint=f"Use one of {', '.join(sorted(INSTRUCTED))}, or leave out the instruction.",
            )
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        by_instruction: dict[str, list[int]] = {}
        for place, instruction in enumerate(instructions):
            by_instruction.setdefault(instruction.strip(), []).append(place)
        for instruction, places in by_instruction.items():
            own = [texts[place] for place in places]
            prompt = f"{instruction.removesuffix(':')}: " if instruction else None
            vectors[places] = self._finished(self.query_tower, own, query=True, prompt=prompt)
        return vectors

    def _finished(self, tower: Any, texts: Sequence[str], *, query: bool, prompt: str | None = None) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = checked(self._encode(tower, texts, query=query, prompt=prompt), texts, self.name)
        return unit(vectors) if self.similarity == "cosine" else vectors

    def _encode(self, tower: Any, texts: Sequence[str], *, query: bool, prompt: str | None = None) -> Vectors:
        known, most = self.known, self.query_length if query else self.passage_length
        prepared = [text if text.strip() else self.blank for text in encodable(texts, most)]
        options: dict[str, Any] = {"batch_size": batch_size(tower), "show_progress_bar": False}
        if known:
            suffix = known.query_suffix if query else known.passage_suffix
            prepared = [text + suffix for text in prepared]
            usual = known.query_prefix if query else known.passage_prefix
            options["prompt"] = usual if prompt is None else prompt
            if query and known.query_length:
                options["processing_kwargs"] = {"text": {"max_length": most}}
        encode = tower.encode_query if query else tower.encode_document
        with one_at_a_time(self._lock):
            return np.asarray(encode(prepared, **options), dtype=np.float32)


def wiring_version(known: KnownModel | None, *folders: ModelFolder, pooling: DensePooling | None = None) -> str:
    """A hash, 12 hex digits, of the files' versions and of all settings in the table that change a vector.

    `pooling` is that of a model outside the table, if it is not the model's own.

    The device and its precision are not part of it, so that an index built on a GPU can be searched without one.
    """
    wiring = replace(known, name="", licence="", source="", remark="") if known else None
    chosen = [pooling] if pooling and known is None else []
    text = " ".join([*(folder.version for folder in folders), repr(wiring), *chosen])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _open(folder: ModelFolder, known: KnownModel | None, chosen: DensePooling | None) -> SentenceTransformer:
    if folder.has_modules:
        if chosen == "pooler":
            raise BadInputError(
                "The model's files use modules of sentence-transformers, which have no pooler.",
                where=folder.path,
                hint="Write pooling=mean or pooling=cls.",
            )
        folder.expect("SentenceTransformer")
        model = SentenceTransformer(
            str(folder.path), device="cpu", trust_remote_code=folder.remote_code, local_files_only=True
        )
        for module in model:
            if isinstance(module, Pooling):
                if known and known.pooling in ("mean", "cls"):
                    module.include_prompt, module.pooling_mode = known.pools_prefix, known.pooling
                elif chosen:
                    module.pooling_mode = chosen
    else:
        pooling: PoolingName = known.pooling if known and known.pooling != "own" else chosen or "mean"
        tower = open_tower(
            folder.path,
            pooling,
            special_tokens=known.special_tokens if known else True,
            remote_code=folder.remote_code,
        )
        modules: list[Any] = [tower]
        if pooling != "pooler":
            modules.append(
                Pooling(tower.get_embedding_dimension(), pooling, include_prompt=known.pools_prefix if known else True)
            )
        model = SentenceTransformer(modules=modules, device="cpu")
    return move_to_device(model)


def _similarity(model: SentenceTransformer, known: KnownModel | None, folder: ModelFolder) -> Similarity:
    if known:
        return known.similarity
    similarity = model.similarity_fn_name
    if similarity not in get_args(Similarity):
        raise BadInputError(
            f"The model compares vectors by '{similarity}', which Berdseye's indexes do not support.",
            where=folder.path,
            hint="Use a model for cosine, dot product or euclidean distance.",
        )
    return similarity  # type: ignore[return-value]
