"""What a GPU does with the heavy parts: exact search, encoders, cross-encoders and language models as judges.

    python -m pytest -m benchmark -s tests/benchmarks/bench_gpu.py

Each rate stands beside the rate that the arithmetic allows: the multiplications of the part, over those a second that this GPU
reaches in a large matrix product of the same precision (measured first), or the bytes that must be read, over those it reads a
second. All weights are random, in the shapes of published models; passages are made up. It needs a GPU with 40 GB, the extra
`gpu`, and takes less than 20 minutes. BERDSEYE_BENCH_TRIAL=1 runs it with tiny sizes on a processor, to see that it works.
"""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors, trainers
from tokenizers.models import WordPiece
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from berdseye.data.records import Pair, Passage
from berdseye.detectors.detector_registry import parse_detector
from berdseye.retrieval.dense.index import DenseIndex
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from tests.data.synthetic_passages import synthetic_passages, synthetic_queries

TRIAL = os.environ.get("BERDSEYE_BENCH_TRIAL") == "1"
DEVICE = "cpu" if TRIAL else "cuda"
VECTORS, DIMENSION, BLOCK = (20_000 if TRIAL else 10_000_000), 768, 100_000
PASSAGES, PAIRS, JUDGED = (64, 32, 4) if TRIAL else (20_000, 20_000, 2_000)
MATRIX = 512 if TRIAL else 8_192
DOCS, LONGEST = Path(__file__).parents[2] / "docs", 4_096
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MINI = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1_536}
BASE: dict[str, int] = MINI if TRIAL else {}  # BertConfig's own sizes are those of BERT base
JUDGE = {"hidden_size": 1_536, "num_hidden_layers": 28, "num_attention_heads": 12, "num_key_value_heads": 2,
         "intermediate_size": 8_960}  # fmt: skip
SMALL_JUDGE = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
               "intermediate_size": 128}  # fmt: skip

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.timeout(1_200),
    pytest.mark.skipif(not TRIAL and not torch.cuda.is_available(), reason="there is no GPU"),
]


def waited() -> None:
    if not TRIAL:
        torch.cuda.synchronize()


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The shortest of some times, after one that does not count."""
    taken = []
    for _ in range(times + 1):
        waited()
        began = time.perf_counter()
        work()
        waited()
        taken.append(time.perf_counter() - began)
    return min(taken[1:])


@pytest.fixture(scope="module")
def products() -> dict[torch.dtype, float]:
    """Multiplications and additions a second in a large matrix product, by precision."""
    found = {}
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        matrix = torch.randn(MATRIX, MATRIX, device=DEVICE).to(kind)
        found[kind] = 2 * MATRIX**3 / seconds(partial(torch.mm, matrix, matrix))
    print("\n| what | measured | the arithmetic allows | share |\n|---|---:|---:|---:|")
    return found


def row(what: str, rate: float, limit: float, unit: str) -> None:
    print(f"| {what} | {rate:,.0f} {unit} | {limit:,.0f} {unit} | {rate / limit:.2f} |", flush=True)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return next(synthetic_passages(max(PASSAGES, 10_000)))["text"].to_pylist()[:20_000]


@pytest.fixture(scope="module")
def tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """A WordPiece tokenizer of BERT's size, trained on made passages and on the English of the documentation."""
    english = [path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))]
    core = Tokenizer(WordPiece(unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.train_from_iterator([*texts, *english], trainers.WordPieceTrainer(vocab_size=30_522, special_tokens=SPECIAL))
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=LONGEST, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BERDSEYE_DEVICE", DEVICE)
    monkeypatch.setenv("BERDSEYE_CACHE", str(tmp_path / "cache"))


def saved(model: Any, tokenizer: PreTrainedTokenizerFast, folder: Path) -> str:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def inside(model: torch.nn.Module) -> int:
    """The weights that each token is multiplied with: all but the table of words and, in BERT, of places."""
    return sum(weights.numel() for name, weights in model.named_parameters() if "embed" not in name)


def test_exact_search(products: dict[torch.dtype, float]) -> None:
    def blocks() -> Iterator[Any]:
        generator = torch.Generator(DEVICE).manual_seed(0)
        for start in range(0, VECTORS, BLOCK):
            block = torch.randn(min(BLOCK, VECTORS - start), DIMENSION, device=DEVICE, generator=generator)
            yield torch.nn.functional.normalize(block).cpu().numpy()

    vectors = faiss.IndexFlatIP(DIMENSION)
    for block in blocks():
        vectors.add(block)
    index = DenseIndex(vectors, "dot", exact=True)
    queries = vectors.reconstruct_n(0, 1_000 if not TRIAL else 20)
    found = index.search(queries[:20], 100)
    assert [int(ranking.ids[0]) for ranking in found] == list(range(20)), "each query is one of the vectors"
    held = torch.empty(1 << (20 if TRIAL else 30), dtype=torch.float32, device=DEVICE)
    bytes_a_second = held.numel() * 4 / seconds(held.sum)
    del held
    shape = f"{VECTORS:,} x {DIMENSION}"
    one = 1 / seconds(lambda: index.search(queries[:1], 100))
    row(f"exact search, {shape}, one query at a time", one, bytes_a_second / (4 * VECTORS * DIMENSION), "queries/s")
    many = len(queries) / seconds(lambda: index.search(queries, 100))
    row(
        f"exact search, {shape}, {len(queries):,} at a time",
        many,
        products[torch.float32] / (2 * VECTORS * DIMENSION),
        "queries/s",
    )


def test_an_encoder(
    products: dict[torch.dtype, float], texts: list[str], tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    model = BertModel(BertConfig(vocab_size=30_522, max_position_embeddings=LONGEST, **BASE))
    encoder = open_encoder(saved(model, tokenizer, tmp_path / "encoder"))
    passages = [Passage(n, str(n), "", text) for n, text in enumerate(texts[:PASSAGES])]
    tokens = float(np.mean([len(ids) for ids in tokenizer(texts[:500])["input_ids"]]))
    rate = len(passages) / seconds(lambda: encoder.encode_passages(passages), 1)
    limit = products[torch.float16] / (2 * inside(model) * tokens)
    millions = sum(weights.numel() for weights in model.parameters()) / 1e6
    row(f"encoder of {millions:.0f} million weights, passages of {tokens:.0f} tokens", rate, limit, "passages/s")


@pytest.mark.parametrize("size", ["MiniLM", "BERT base"])
def test_a_cross_encoder(
    size: str,
    products: dict[torch.dtype, float],
    texts: list[str],
    tokenizer: PreTrainedTokenizerFast,
    tmp_path: Path,
) -> None:
    torch.manual_seed(0)
    shape = MINI if size == "MiniLM" else BASE
    model = BertForSequenceClassification(
        BertConfig(vocab_size=30_522, max_position_embeddings=LONGEST, num_labels=1, **shape)
    )
    judged(f"crossencoder({saved(model, tokenizer, tmp_path / 'cross')})", size, model, texts, tokenizer, products)


def test_stance(texts: list[str], products: dict[torch.dtype, float]) -> None:
    del products  # its table's head is printed before this row
    pairs = made_pairs(texts, PAIRS // 10)
    detector = parse_detector("stance")
    detector.predict(pairs[:1])  # opens the network; the others are read once, since pairs that were read are kept
    began = time.perf_counter()
    rate = len(detector.predict(pairs[1:])) / (time.perf_counter() - began)
    print(f"| `stance`, on the processor ({os.cpu_count()} cores) | {rate:,.0f} pairs/s | - | - |", flush=True)


def test_a_language_model_as_judge(
    products: dict[torch.dtype, float], texts: list[str], tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    shape = SMALL_JUDGE if TRIAL else JUDGE
    with torch.device(DEVICE):
        model = Qwen2ForCausalLM(Qwen2Config(vocab_size=151_936, tie_word_embeddings=True, **shape))
    model = model.to(torch.float32 if TRIAL else torch.bfloat16)
    name = saved(model, tokenizer, tmp_path / "judge")
    millions = sum(weights.numel() for weights in model.parameters()) / 1e6
    del model
    like = Qwen2ForCausalLM(Qwen2Config(vocab_size=16, tie_word_embeddings=True, **shape)) if TRIAL else None
    weights = inside(like) if like is not None else int(1.31e9)  # without the table of words
    judged(f"prompted({name})", f"language model of {millions:,.0f} million weights", weights, texts, tokenizer, products,
           JUDGED)  # fmt: skip


def made_pairs(texts: list[str], count: int) -> list[Pair]:
    claims = synthetic_queries(50)
    return [Pair(texts[n % len(texts)], claims[n % len(claims)]) for n in range(count)]


def judged(
    name: str,
    what: str,
    weights: torch.nn.Module | int,
    texts: list[str],
    tokenizer: PreTrainedTokenizerFast,
    products: dict[torch.dtype, float],
    count: int = PAIRS,
) -> None:
    """A row for a detector: pairs a second beside what the tokens of passage and perspective alone would allow."""
    pairs = made_pairs(texts, count)
    detector = parse_detector(name)
    read = tokenizer([pair.passage for pair in pairs[:500]], [pair.perspective for pair in pairs[:500]])["input_ids"]
    tokens = float(np.mean([len(ids) for ids in read]))
    rate = len(pairs) / seconds(lambda: detector.predict(pairs), 1)
    each = weights if isinstance(weights, int) else inside(weights)
    row(f"{what}, pairs of {tokens:.0f} tokens", rate, products[torch.float16] / (2 * each * tokens), "pairs/s")
