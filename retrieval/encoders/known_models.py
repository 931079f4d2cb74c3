"""The settings of published models, as used by their authors and Pyserini; `remark` says what could not be verified."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from berdseye.retrieval.encoders.protocol import Similarity

Kind = Literal["dense", "sparse", "late", "cross"]

Pooling = Literal["mean", "cls", "pooler", "own", "splade", "unicoil", "tokens", "classifier", "tart"]
"""The pooling of token states: their mean, the first one, the first one through the model's pooler, or the model's own
modules; all of them (`tokens`) for late interaction; for sparse and cross-encoders, the head that reads them."""
DensePooling = Literal["mean", "cls", "pooler"]
"""The pooling that the name of a dense retriever can choose, as in `dense(sup-simcse-bert-base-uncased,pooling=mean)`."""
DENSE_POOLINGS: tuple[DensePooling, ...] = get_args(DensePooling)
_UNSTATED = "not stated on the Hub"
_CONTRIEVER = "Izacard et al. 2022, Unsupervised Dense Information Retrieval with Contrastive Learning"
_DPR = "Karpukhin et al. 2020, Dense Passage Retrieval for Open-Domain Question Answering"
_SIMCSE = "Gao et al. 2021, SimCSE"
_TART = "Asai et al. 2023, Task-aware Retrieval with Instructions"
_TCT = "Lin et al. 2021, In-Batch Negatives for Knowledge Distillation with Tightly-Coupled Teachers"
_CONDENSER = "Gao and Callan 2022, Unsupervised Corpus Aware Language Model Pre-training"
_RETROMAE = "Xiao et al. 2022, RetroMAE"
_INSTRUCTOR = "Su et al. 2023, One Embedder, Any Task"
_BGE = "Xiao et al. 2024, C-Pack"
_E5 = "Wang et al. 2022, Text Embeddings by Weakly-Supervised Contrastive Pre-training"
_SBERT = "Reimers and Gurevych 2019, Sentence-BERT"
_SPLADE = "Formal et al. 2021, SPLADE v2"
_SPLADE_PP = "Formal et al. 2022, From Distillation to Hard Negative Sampling"
_POOLER = "The trained dense layer is part of the vector. The authors' tool cuts at 128 tokens, not 512."
_CLS = "The dense layer is for training only. The authors' tool cuts at 128 tokens, not 512."
_UNVERIFIED_TITLE = "How title and text are joined was not verified."
_FILES = "Lengths, prefixes and masks are those of the model's files."
_SEP = " [SEP] "
_SEARCH = "Represent this sentence for searching relevant passages: "
_TASK = "retrieve a passage that answers this question"
_QUESTION = "Represent the question for retrieving supporting documents: "
_DOCUMENT = "Represent the document for retrieval: "
_TASK_REMARK = "The instruction is free text; this is the common one for questions."
_DPR_QUESTION, _DPR_PASSAGE = "facebook/dpr-question_encoder", "facebook/dpr-ctx_encoder"
_NV_TASK = "Instruct: Given a question, retrieve passages that answer the question\nQuery: "


@dataclass(frozen=True)
class KnownModel:
    """A published model; `name` is its name on the Hugging Face Hub, or that of the query tower if it has two.

    Lengths are in tokens; `dimension` is the size of the output for a text (the numbers of a vector, the terms of a vocabulary)
    or for a pair. A prefix that pooling excludes (`pools_prefix=False`) still affects the other tokens.
    """

    name: str
    kind: Kind
    pooling: Pooling
    similarity: Similarity
    dimension: int
    max_length: int
    licence: str
    source: str
    passage_tower: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""
    pools_prefix: bool = True
    query_suffix: str = ""
    passage_suffix: str = ""
    query_length: int | None = None
    special_tokens: bool = True
    title_separator: str = " "
    remark: str = ""

    @property
    def short_name(self) -> str:
        """The name without its owner: `contriever-msmarco`."""
        return self.name.rpartition("/")[2]


# fmt: off
_SIMCSE_ROW = KnownModel("", "dense", "cls", "cosine", 768, 512, _UNSTATED, _SIMCSE)
DPR_ROW = KnownModel("", "dense", "pooler", "dot", 768, 256, "CC BY-NC 4.0", _DPR, title_separator=_SEP)
_TCT_ROW = KnownModel(
    "", "dense", "mean", "dot", 768, 512, _UNSTATED, _TCT, query_prefix="[CLS] [Q] ", passage_prefix="[CLS] [D] ",
    pools_prefix=False, special_tokens=False, query_suffix="[MASK]" * 36, query_length=36,
    remark="Queries are padded with [MASK] to 36 tokens, and the mean begins at the fifth token.",
)
_INSTRUCTOR_ROW = KnownModel(
    "", "dense", "mean", "cosine", 768, 512, "Apache-2.0", _INSTRUCTOR,
    query_prefix=_QUESTION, passage_prefix=_DOCUMENT, pools_prefix=False, remark=f"{_TASK_REMARK} Licence from memory.",
)
_UNICOIL_ROW = KnownModel(
    "", "sparse", "unicoil", "dot", 30_522, 512, _UNSTATED,
    "Lin and Ma 2021, A Few Brief Notes on DeepImpact, COIL, and a Conceptual Framework", query_length=128,
)
_BGE_ROW = KnownModel("", "dense", "cls", "cosine", 768, 512, "MIT", _BGE, query_prefix=_SEARCH)
_E5_ROW = KnownModel("", "dense", "mean", "cosine", 768, 512, "MIT", _E5, query_prefix="query: ", passage_prefix="passage: ")

DENSE: tuple[KnownModel, ...] = (
    KnownModel("facebook/contriever", "dense", "mean", "dot", 768, 512, _UNSTATED, _CONTRIEVER),
    KnownModel("facebook/contriever-msmarco", "dense", "mean", "dot", 768, 512, _UNSTATED, _CONTRIEVER),
    replace(DPR_ROW, name=f"{_DPR_QUESTION}-single-nq-base", passage_tower=f"{_DPR_PASSAGE}-single-nq-base"),
    replace(DPR_ROW, name=f"{_DPR_QUESTION}-multiset-base", passage_tower=f"{_DPR_PASSAGE}-multiset-base"),
    replace(_SIMCSE_ROW, name="princeton-nlp/sup-simcse-bert-base-uncased", pooling="pooler", remark=_POOLER),
    replace(_SIMCSE_ROW, name="princeton-nlp/sup-simcse-bert-large-uncased", pooling="pooler", dimension=1024, remark=_POOLER),
    replace(_SIMCSE_ROW, name="princeton-nlp/sup-simcse-roberta-base", pooling="pooler", remark=_POOLER),
    replace(_SIMCSE_ROW, name="princeton-nlp/sup-simcse-roberta-large", pooling="pooler", dimension=1024, remark=_POOLER),
    replace(_SIMCSE_ROW, name="princeton-nlp/unsup-simcse-bert-base-uncased", remark=_CLS),
    replace(_SIMCSE_ROW, name="princeton-nlp/unsup-simcse-bert-large-uncased", dimension=1024, remark=_CLS),
    replace(_SIMCSE_ROW, name="princeton-nlp/unsup-simcse-roberta-base", remark=_CLS),
    replace(_SIMCSE_ROW, name="princeton-nlp/unsup-simcse-roberta-large", dimension=1024, remark=_CLS),
    KnownModel(
        "orionweller/tart-dual-contriever-msmarco", "dense", "mean", "dot", 768, 512, _UNSTATED, _TART,
        query_prefix=f"{_TASK}{_SEP}", remark=f"A copy: the authors publish it outside the Hub. {_TASK_REMARK}",
    ),
    replace(_TCT_ROW, name="castorini/tct_colbert-v2-msmarco"),
    replace(_TCT_ROW, name="castorini/tct_colbert-v2-hn-msmarco"),
    replace(_TCT_ROW, name="castorini/tct_colbert-v2-hnp-msmarco"),
    KnownModel(
        "Luyu/co-condenser-marco-retriever", "dense", "cls", "dot", 768, 128, _UNSTATED, _CONDENSER,
        query_length=32, title_separator=_SEP, remark=f"Trained on MS MARCO by the authors. {_UNVERIFIED_TITLE}",
    ),
    KnownModel(
        "Luyu/co-condenser-wiki", "dense", "cls", "dot", 768, 256, _UNSTATED, _CONDENSER, title_separator=_SEP,
        remark=f"Pre-trained on Wikipedia and not trained to retrieve; for Natural Questions, train it and name your folder. "
        f"{_UNVERIFIED_TITLE}",
    ),
    KnownModel(
        "sentence-transformers/msmarco-bert-co-condensor", "dense", "cls", "dot", 768, 256, _UNSTATED, _CONDENSER,
        remark="Trained on MS MARCO by sentence-transformers. The settings are from memory.",
    ),
    KnownModel(
        "Shitao/RetroMAE_MSMARCO_finetune", "dense", "cls", "dot", 768, 150, _UNSTATED, _RETROMAE,
        query_length=32, title_separator=_SEP, remark=_UNVERIFIED_TITLE,
    ),
    KnownModel(
        "Shitao/RetroMAE_MSMARCO_distill", "dense", "cls", "dot", 768, 150, "Artistic-2.0", _RETROMAE,
        query_length=32, title_separator=_SEP, remark=_UNVERIFIED_TITLE,
    ),
    KnownModel(
        "Shitao/RetroMAE_BEIR", "dense", "cls", "dot", 768, 512, _UNSTATED, _RETROMAE,
        title_separator=_SEP, remark=f"{_UNVERIFIED_TITLE} The length was not verified.",
    ),
    KnownModel(
        "nvidia/NV-Embed-v2", "dense", "own", "cosine", 4096, 32_768, "CC BY-NC 4.0", "Lee et al. 2025, NV-Embed",
        query_prefix=_NV_TASK, query_suffix="</s>", passage_suffix="</s>",
        remark=f"Runs its own code from the Hub, written for transformers 4; not tested. {_TASK_REMARK}",
    ),
    replace(_INSTRUCTOR_ROW, name="hkunlp/instructor-base"),
    replace(_INSTRUCTOR_ROW, name="hkunlp/instructor-large"),
    replace(_INSTRUCTOR_ROW, name="hkunlp/instructor-xl"),
    KnownModel(
        "WhereIsAI/UAE-Large-V1", "dense", "cls", "cosine", 1024, 512, "MIT", "Li and Li 2024, AnglE-optimized Text Embeddings",
        query_prefix=_SEARCH, remark="Passages have no prompt, which is also how BERDS compares them.",
    ),
    replace(_BGE_ROW, name="BAAI/bge-small-en-v1.5", dimension=384),
    replace(_BGE_ROW, name="BAAI/bge-base-en-v1.5"),
    replace(_BGE_ROW, name="BAAI/bge-large-en-v1.5", dimension=1024),
    replace(_E5_ROW, name="intfloat/e5-small-v2", dimension=384),
    replace(_E5_ROW, name="intfloat/e5-base-v2"),
    replace(_E5_ROW, name="intfloat/e5-large-v2", dimension=1024),
    KnownModel("sentence-transformers/all-MiniLM-L6-v2", "dense", "mean", "cosine", 384, 256, "Apache-2.0", _SBERT),
    KnownModel("sentence-transformers/all-mpnet-base-v2", "dense", "mean", "cosine", 768, 384, "Apache-2.0", _SBERT),
)

SPARSE: tuple[KnownModel, ...] = (
    KnownModel("naver/splade-cocondenser-ensembledistil", "sparse", "splade", "dot", 30_522, 256, "CC BY-NC-SA 4.0", _SPLADE_PP),
    KnownModel("naver/splade-cocondenser-selfdistil", "sparse", "splade", "dot", 30_522, 256, "CC BY-NC-SA 4.0", _SPLADE_PP),
    KnownModel("naver/splade_v2_distil", "sparse", "splade", "dot", 30_522, 256, "CC BY-NC-SA 4.0", _SPLADE),
    KnownModel("naver/splade_v2_max", "sparse", "splade", "dot", 30_522, 256, "CC BY-NC-SA 4.0", _SPLADE),
    replace(
        _UNICOIL_ROW, name="castorini/unicoil-noexp-msmarco-passage",
        remark="Trained on passages without expansions, as they are here. Weights are not quantised.",
    ),
    replace(
        _UNICOIL_ROW, name="castorini/unicoil-msmarco-passage",
        remark="Trained on passages with doc2query-T5 expansions, which are not added here.",
    ),
)

LATE: tuple[KnownModel, ...] = (
    KnownModel(
        "colbert-ir/colbertv2.0", "late", "tokens", "dot", 128, 180, "MIT", "Santhanam et al. 2022, ColBERTv2",
        query_length=32, remark=f"{_FILES} Those shown here were not compared with them.",
    ),
    KnownModel(
        "lightonai/GTE-ModernColBERT-v1", "late", "tokens", "dot", 128, 300, "Apache-2.0", "Chaffin 2025, GTE-ModernColBERT",
        query_length=32, remark=_FILES,
    ),
    KnownModel(
        "answerdotai/answerai-colbert-small-v1", "late", "tokens", "dot", 96, 300, "Apache-2.0",
        "Clavié 2024, JaColBERTv2.5", query_length=32, remark=f"{_FILES} Those shown here were not compared with them.",
    ),
)

CROSS: tuple[KnownModel, ...] = (
    KnownModel(
        "facebook/tart-full-flan-t5-xl", "cross", "tart", "dot", 2, 512, "Apache-2.0", _TART,
        query_prefix=f"{_TASK}{_SEP}", remark=f"{_TASK_REMARK} Its tokenizer requires the package sentencepiece.",
    ),
    KnownModel(
        "cross-encoder/ms-marco-MiniLM-L6-v2", "cross", "classifier", "dot", 1, 512, "Apache-2.0", _SBERT,
        remark="Licence from memory.",
    ),
)
# fmt: on
INSTRUCTED = frozenset(row.name for row in DENSE if row.source == _INSTRUCTOR)
"""The names of models that were trained to read an instruction before each text."""


def find_known(kind: Kind, name: str) -> KnownModel | None:
    """The row of a model, found by its name, its short name, or the last folder of a path; None if it is not known."""
    last = name.rstrip("/").rpartition("/")[2]
    rows = {"dense": DENSE, "sparse": SPARSE, "late": LATE, "cross": CROSS}[kind]
    return next((row for row in rows if name == row.name or last == row.short_name), None)
