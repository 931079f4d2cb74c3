"""Checkpoints of published layouts with a few random weights, as small as a test can load at once."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram, WordPiece
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    DPRConfig,
    DPRContextEncoder,
    DPRQuestionEncoder,
    MPNetConfig,
    MPNetModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5EncoderModel,
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    "the", "a", "is", "are", "should", "cars", "car", "trams", "tram", "be",
    "banned", "from", "city", "cities", "school", "uniforms", "zoo", "zoos", "of", "and",
    "to", "for", "what",
]  # fmt: skip
LETTERS = list("abcdefghijklmnopqrstuvwxyz0123456789[]:?.,!-'")
VOCABULARY = [*SPECIAL, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS if letter.isalnum())]
LENGTH = 192
SIZE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def wordpiece() -> PreTrainedTokenizerFast:
    """A lower-casing WordPiece tokenizer over words, letters and pieces, with BERT's special tokens."""
    core = Tokenizer(WordPiece({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", SPECIAL.index("[CLS]")), ("[SEP]", SPECIAL.index("[SEP]"))],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=LENGTH, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip


def unigram() -> PreTrainedTokenizerFast:
    """A Unigram tokenizer over letters, ending texts as T5 does."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((f"▁{w}", -3.0) for w in WORDS), ("▁", -4.0)]
    core = Tokenizer(Unigram([*pieces, *((letter, -6.0) for letter in LETTERS)], unk_id=2))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="<unk>", pad_token="<pad>", eos_token="</s>",
        model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip


def spread(model: PreTrainedModel, seed: int = 0) -> PreTrainedModel:
    """Weights large enough for texts to differ clearly."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.ndim > 1 or name.endswith("bias"):
                weights.copy_(torch.randn(weights.shape, generator=generator) * 0.3)
    return model.eval()


def saved(model: Any, folder: Path, tokenizer: PreTrainedTokenizerFast | None = None) -> Path:
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    (tokenizer or wordpiece()).save_pretrained(folder)
    return folder


def bert_config(**changed: Any) -> BertConfig:
    return BertConfig(vocab_size=len(VOCABULARY), max_position_embeddings=LENGTH, **{**SIZE, **changed})


def bert(folder: Path, seed: int = 0) -> Path:
    return saved(spread(BertModel(bert_config()), seed), folder)


def roberta(folder: Path, tokenizer: PreTrainedTokenizerFast | None = None) -> Path:
    config = RobertaConfig(vocab_size=len(VOCABULARY), max_position_embeddings=LENGTH + 1, pad_token_id=0, **SIZE)
    return saved(spread(RobertaModel(config)), folder, tokenizer)


def mpnet(folder: Path) -> Path:
    config = MPNetConfig(vocab_size=len(VOCABULARY), max_position_embeddings=LENGTH + 1, pad_token_id=0, **SIZE)
    return saved(spread(MPNetModel(config)), folder)


def masked_bert(folder: Path) -> Path:
    return saved(spread(BertForMaskedLM(bert_config())), folder)


def classifying_bert(folder: Path, labels: int = 1) -> Path:
    return saved(spread(BertForSequenceClassification(bert_config(num_labels=labels))), folder)


def dpr(root: Path, questions: str, passages: str) -> None:
    config = DPRConfig(vocab_size=len(VOCABULARY), max_position_embeddings=LENGTH, **SIZE)
    saved(spread(DPRQuestionEncoder(config), 1), root / questions)
    saved(spread(DPRContextEncoder(config), 2), root / passages)


def t5_config(tokenizer: PreTrainedTokenizerFast, **changed: Any) -> T5Config:
    return T5Config(vocab_size=len(tokenizer) + 4, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, **changed)


def t5(folder: Path) -> Path:
    tokenizer = unigram()
    return saved(spread(T5EncoderModel(t5_config(tokenizer))), folder, tokenizer)


def unicoil(folder: Path) -> tuple[BertModel, torch.Tensor, torch.Tensor]:
    """A checkpoint as Pyserini reads it, and the parts it was made of: BERT, the layer's weight and its bias."""
    model = spread(BertModel(bert_config(), add_pooling_layer=False))
    weight, bias = torch.randn(1, SIZE["hidden_size"], generator=torch.Generator().manual_seed(3)), torch.tensor([5.0])
    saved(model, folder)
    (folder / "model.safetensors").unlink()
    state = {f"coil_encoder.bert.{name}": value for name, value in model.state_dict().items()}
    torch.save(
        {**state, "coil_encoder.tok_proj.weight": weight, "coil_encoder.tok_proj.bias": bias},
        folder / "pytorch_model.bin",
    )
    return model, weight, bias


def stanford_colbert(
    folder: Path, *, query_length: int = 8, document_length: int = 16
) -> tuple[BertModel, torch.Tensor]:
    """A checkpoint of Stanford's library, and the parts it was made of: BERT, and the projection to 6 numbers.

    The markers of queries and passages are tokens that no text gives, as [unused0] and [unused1] are in the published ones.
    """
    model = spread(BertModel(bert_config(architectures=["HF_ColBERT"]), add_pooling_layer=False))
    projection = torch.randn(6, SIZE["hidden_size"], generator=torch.Generator().manual_seed(5))
    saved(model, folder)
    config = json.loads((folder / "config.json").read_text()) | {"architectures": ["HF_ColBERT"]}
    (folder / "config.json").write_text(json.dumps(config))
    state = {f"bert.{name}": value.contiguous() for name, value in model.state_dict().items()}
    save_file({**state, "linear.weight": projection}, folder / "model.safetensors", metadata={"format": "pt"})
    settings = {"query_token_id": "##0", "doc_token_id": "##1", "query_maxlen": query_length}
    settings |= {"doc_maxlen": document_length, "mask_punctuation": True, "attend_to_mask_tokens": False}
    (folder / "artifact.metadata").write_text(json.dumps(settings))
    return model, projection


def tart(folder: Path) -> tuple[T5EncoderModel, torch.Tensor, torch.Tensor]:
    """A checkpoint as the authors publish it, and the parts it was made of: T5's encoder, the layer's weight and bias."""
    tokenizer = unigram()
    tokenizer.add_special_tokens({"bos_token": "<s>"})
    config = t5_config(tokenizer, num_labels=2, architectures=["EncT5ForSequenceClassification"])
    model = spread(T5EncoderModel(config))
    generator = torch.Generator().manual_seed(4)
    weight, bias = torch.randn(2, config.d_model, generator=generator), torch.randn(2, generator=generator)
    saved(model, folder, tokenizer)
    (folder / "model.safetensors").unlink()
    torch.save(
        {**model.state_dict(), "classifier.weight": weight, "classifier.bias": bias}, folder / "pytorch_model.bin"
    )
    path = folder / "config.json"
    held = json.loads(path.read_text())
    held |= {
        "id2label": {"0": 0, "1": 1},
        "label2id": {"0": 0, "1": 1},
        "architectures": ["EncT5ForSequenceClassification"],
    }
    path.write_text(json.dumps(held))
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tokenizer_class": "EncT5Tokenizer"}))
    return model, weight, bias


def publish_tokenizer(folder: Path, sentencepiece: Any, scratch: Path) -> Any:
    """Put the files in `folder` that TART's authors publish in place of its tokenizer; gives the SentencePiece model."""
    lines = [" ".join(WORDS[(n * 7 + i * 3) % len(WORDS)] for i in range(12)) for n in range(300)]
    (scratch / "text.txt").write_text("\n".join(lines))
    sentencepiece.SentencePieceTrainer.train(
        input=str(scratch / "text.txt"), model_prefix=str(folder / "spiece"), vocab_size=60, hard_vocab_limit=False,
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1, minloglevel=2,
    )  # fmt: skip
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
    (folder / "tokenizer.json").unlink()
    count = pieces.get_piece_size()
    extra = [f"<extra_id_{i}>" for i in range(100)]
    named = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    named |= {"additional_special_tokens": extra}
    (folder / "added_tokens.json").write_text(json.dumps({"<s>": count + 100}))
    (folder / "special_tokens_map.json").write_text(json.dumps(named))
    said = {"extra_ids": 100, "model_max_length": 512, "sp_model_kwargs": {}, "tokenizer_class": "EncT5Tokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(named | said))
    config = json.loads((folder / "config.json").read_text()) | {"vocab_size": count + 128}
    (folder / "config.json").write_text(json.dumps(config))
    weights = torch.load(folder / "pytorch_model.bin")
    for name in weights:
        if name == "shared.weight" or "embed_tokens" in name:
            weights[name] = torch.randn(count + 128, config["d_model"])
    torch.save(weights, folder / "pytorch_model.bin")
    return pieces
