"""A whole chat model, made in a moment: a Llama of two tiny layers with random weights, and a tokenizer of few words."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

WORDS = [
    "<unk>", "<s>", "</s>", "user", "assistant", "system", *"abcdefghijklmnopqrstuvwxyz", "zoo", "yes", "no", "<", "/", ">"
]  # fmt: skip
TEMPLATE = "{% for m in messages %}<s> {{ m.role }} {{ m.content }} </s>{% endfor %}<s> assistant"


def save_small_model(folder: Path, *, seed: int = 0, template: str | None = TEMPLATE) -> Path:
    """Write the model into a folder, in the format of transformers; `seed` says which weights it has."""
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>", chat_template=template
    )
    fast.save_pretrained(folder)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
        initializer_range=0.5,
        bos_token_id=1,
        eos_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
