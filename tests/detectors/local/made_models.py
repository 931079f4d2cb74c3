"""Models of two tiny layers with random weights: classifiers of two texts, a chat model, a base model and a T5."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

SIZE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
WORDS = ["zoos", "are", "good", "bad", "trams", "cities", "should", "be", "banned", "the", "of", "cars", "and"]
LETTERS = [chr(n) for n in range(33, 127)]
ANSWERS = ["Yes", "No", "yes", "no", "▁Yes", "▁No", "▁yes", "▁no", "1", "0", "▁1", "▁0"]
CHAT = "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}</s>{% endfor %}<s>assistant: "
LENGTH = 64
WINDOW = 2048


def classifier(folder: Path, labels: Mapping[int, str], seed: int = 0) -> Path:
    """A BERT of `LENGTH` tokens with outputs of these names."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    core = Tokenizer(models.WordPiece({word: n for n, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=LENGTH, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip
    config = BertConfig(
        vocab_size=len(vocabulary), max_position_embeddings=LENGTH, **SIZE, num_labels=len(labels),
        id2label=dict(labels), label2id={name: n for n, name in labels.items()},
    )  # fmt: skip
    return _saved(BertForSequenceClassification(config), tokenizer, folder, seed)


def chat_model(folder: Path, *, template: str | None = CHAT, answers: bool = True, seed: int = 0) -> Path:
    """A Llama over pieces of words; without `answers` its Yes and No are several tokens."""
    tokenizer = _pieces(answers)
    tokenizer.chat_template = template
    config = LlamaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=WINDOW, bos_token_id=1, eos_token_id=2, **SIZE
    )
    return _saved(LlamaForCausalLM(config), tokenizer, folder, seed)


def sliding_model(folder: Path, seed: int = 0) -> Path:
    """A Mistral whose tokens see the 400 tokens before them."""
    tokenizer = _pieces(True)
    tokenizer.chat_template = CHAT
    config = MistralConfig(
        vocab_size=len(tokenizer), max_position_embeddings=WINDOW, bos_token_id=1, eos_token_id=2, sliding_window=400,
        num_key_value_heads=1, **SIZE,
    )  # fmt: skip
    return _saved(MistralForCausalLM(config), tokenizer, folder, seed)


def t5(folder: Path, seed: int = 0) -> Path:
    """A T5 that ends its texts, and has tokens for 1 and 0."""
    tokenizer = _pieces(True, ends=True)
    config = T5Config(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=2,
    )  # fmt: skip
    tokenizer.model_max_length = LENGTH
    return _saved(T5ForConditionalGeneration(config), tokenizer, folder, seed)


def _pieces(answers: bool, *, ends: bool = False) -> PreTrainedTokenizerFast:
    """Pieces of words in the manner of SentencePiece: a blank is written ▁."""
    words = [*(ANSWERS if answers else []), *WORDS, *(f"▁{word}" for word in WORDS), "▁", "\n", *LETTERS]
    pieces = [(name, 0.0) for name in ("<pad>", "<s>", "</s>", "<unk>")]
    pieces += [(word, -1.0 * (5 if len(word) == 1 else 2)) for word in dict.fromkeys(words)]
    core = Tokenizer(models.Unigram(pieces, unk_id=3))
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    core.decoder = decoders.Metaspace(prepend_scheme="never")
    if ends:
        core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    return PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>",
        model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip


def _saved(model: PreTrainedModel, tokenizer: Any, folder: Path, seed: int) -> Path:
    """Write both, with weights large enough for texts to differ clearly."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.copy_(torch.randn(weights.shape, generator=generator) * 0.3)
    folder.mkdir(parents=True)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
