"""Labelled pairs whose label tiny models can learn, and a tiny chat model that answers Yes or No."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from berdseye.data.datasets.labelled_pairs import LabelledPair, Split
from berdseye.data.records import Pair
from berdseye.detectors.prompts import ZERO_SHOT
from berdseye.detectors.training.training_set import TrainingSet, training_set

WORDS = ("cars", "trams", "zoos", "schools", "uniforms", "cities")
SPLITS: tuple[Split, ...] = ("train", "train", "train", "train", "dev", "test")


def made_pairs(per_question: int = 8) -> list[LabelledPair]:
    """Six questions, one a word; a passage supports its word's perspective when it says 'should'."""
    pairs = []
    for word, split in zip(WORDS, SPLITS, strict=True):
        for n in range(per_question):
            verb = "should be" if n % 4 == 0 else "are not"
            passage = f"the {word} of the city {n} {verb} banned from zoo {n % 3} to tram {n // 3}"
            pair = Pair(passage, f"{word} should be banned")
            pairs.append(LabelledPair(pair, n % 4 == 0, f"What of {word}?", "", split))
    return pairs


def made_set(per_question: int = 8) -> TrainingSet:
    pairs = made_pairs(per_question)
    return training_set(pairs, "made.tsv", f"{per_question:012x}")


def yes_no_model(folder: Path) -> Path:
    """A Llama of two tiny layers that knows the words of the prompt and of the made pairs."""
    text = " ".join(m.content for m in ZERO_SHOT.messages) + " ".join(p.pair.passage for p in made_pairs())
    split = pre_tokenizers.Whitespace()
    words = ["<unk>", "<s>", "</s>", "Yes", "No", "user", "assistant", "system"]
    words += sorted({word for word, _ in split.pre_tokenize_str(text)} - set(words))
    core = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    core.pre_tokenizer = split
    template = "{% for m in messages %}<s> {{ m.role }} {{ m.content }} </s>{% endfor %}<s> assistant"
    PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="<unk>", chat_template=template
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=512, initializer_range=0.2, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
