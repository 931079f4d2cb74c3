"""Tiny BERT and MPNet models with random weights and a small table of words, for tests of `stance`."""

from collections.abc import Sequence
from pathlib import Path
from string import ascii_letters, digits, punctuation

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel, WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer, Whitespace
from tokenizers.processors import BertProcessing
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel, PreTrainedModel, PreTrainedTokenizerFast

WORDS = [
    "zoos",
    "cars",
    "trams",
    "are",
    "is",
    "should",
    "not",
    "be",
    "banned",
    "good",
    "bad",
    "cruel",
    "clean",
    "the",
    "a",
    "for",
    "cities",
    ".",
    ",",
    "because",
]
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
TEXTS = [
    ("zoos are cruel .", ["zoos should be banned", "zoos are good", "cars are bad because the a"]),
    ("the trams are clean .", ["trams are good"]),
]

PIECE_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PIECE_CHARACTERS = [prefix + one for one in ascii_letters + digits + punctuation for prefix in ("", "##")]
PIECE_WORDS = ["zebra", "zoos", "quagga", "are", "cruel", "é", "##oos"]
FEWEST = len(PIECE_SPECIAL) + len(PIECE_CHARACTERS)


def tiny_bert(folder: Path) -> Path:
    """Write a BERT of two layers whose words are `WORDS`, and return its folder."""
    config = BertConfig(vocab_size=len(WORDS) + 4, max_position_embeddings=512, **SIZES)
    return made_base(folder, BertModel(config), ["[PAD]", "[CLS]", "[SEP]", "[UNK]"])


def tiny_mpnet(folder: Path, layers: int = 2) -> Path:
    """Write an MPNet of width 64 whose words are `WORDS`, and return its folder."""
    sizes = SIZES | {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": layers}
    config = MPNetConfig(vocab_size=len(WORDS) + 4, max_position_embeddings=514, **sizes)
    return made_base(folder, MPNetModel(config), ["<s>", "<pad>", "</s>", "<unk>"])


def made_base(folder: Path, model: PreTrainedModel, special: list[str], words: Sequence[str] = WORDS) -> Path:
    """Write a model with a tokenizer of `words`; the fourth of its `special` tokens is for unknown words."""
    ids = {word: number for number, word in enumerate([*special, *words])}
    tokenizer = Tokenizer(WordLevel(ids, unk_token=special[3]))
    tokenizer.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=next(name for name in special if "pad" in name.lower())
    ).save_pretrained(folder)
    torch.manual_seed(0)
    model.apply(model._init_weights)
    model.save_pretrained(folder)
    return folder


def varied(network: torch.nn.Module) -> None:
    """Give biases and norms random values, so that each of them matters and no two are equal, which a file would keep once."""
    torch.manual_seed(1)
    for one in network.parameters():
        if one.ndim == 1:
            torch.nn.init.normal_(one, mean=1.0, std=0.3)


def tiny_wordpiece(folder: Path, layers: int = 1, width: int = 32) -> Path:
    """Write a BERT whose table of word pieces has `PIECE_WORDS` and all characters, and return its folder."""
    tokens = [*PIECE_SPECIAL, *PIECE_WORDS[:3], *PIECE_CHARACTERS, *PIECE_WORDS[3:]]
    ids = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), PIECE_SPECIAL, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = SIZES | {"hidden_size": width, "num_hidden_layers": layers, "intermediate_size": 2 * width}
    BertModel(BertConfig(vocab_size=len(tokens), max_position_embeddings=512, **sizes)).save_pretrained(folder)
    return folder
