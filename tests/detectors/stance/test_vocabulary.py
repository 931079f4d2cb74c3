"""A network whose table of words became smaller, on a tiny BERT made here."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from berdseye.data.errors import BadInputError
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork, packed
from berdseye.detectors.stance.vocabulary import keep_words
from tests.detectors.tiny_bases import FEWEST, PIECE_SPECIAL, PIECE_WORDS, tiny_wordpiece


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_wordpiece(tmp_path_factory.mktemp("base"))


def test_texts_of_frequent_words_are_read_as_before(base: Path) -> None:
    network, tokenizer = StanceNetwork(base).eval(), PairTokenizer(base)
    row = "zoos are cruel", ["are zoos cruel", "cruel !"]
    before = network(packed([tokenizer.row(*row)]))
    keep_words(network, tokenizer, ["zoos are cruel", "zoos are cruel", "a zebra"], FEWEST + 3)
    assert np.allclose(network(packed([tokenizer.row(*row)])).detach(), before.detach(), atol=1e-6)
    assert tokenizer.tokenizer.get_vocab_size() == network.words.num_embeddings == FEWEST + 3


def test_a_word_that_left_is_read_as_its_pieces(base: Path) -> None:
    network, tokenizer = StanceNetwork(base), PairTokenizer(base)
    keep_words(network, tokenizer, ["zoos are cruel"], FEWEST + 3)

    def tokens(text: str) -> list[str]:
        return list(tokenizer.tokenizer.encode(text, add_special_tokens=False).tokens)

    assert tokens("zebra are") == ["z", "##e", "##b", "##r", "##a", "are"]
    assert tokens("é") == ["[UNK]"]


@pytest.mark.parametrize("texts", [["quagga", "quagga", "zebra"], ["zebra", "quagga", "quagga"]])
def test_the_most_frequent_words_stay_whatever_the_order_of_the_texts(base: Path, texts: list[str]) -> None:
    network, tokenizer = StanceNetwork(base), PairTokenizer(base)
    keep_words(network, tokenizer, texts, FEWEST + 1)
    kept = tokenizer.tokenizer.get_vocab()
    assert set(PIECE_WORDS) & set(kept) == {"quagga"}
    assert sorted(kept, key=kept.__getitem__)[:5] == [*PIECE_SPECIAL, "quagga"]  # in the order of the table


def test_what_must_stay_is_not_taken_away(base: Path) -> None:
    with pytest.raises(BadInputError, match=f"At least {FEWEST} entries must stay in the table of words, not 100"):
        keep_words(StanceNetwork(base), PairTokenizer(base), ["zoos"], 100)


def test_another_kind_of_table_is_refused(tmp_path: Path) -> None:
    tokenizer = Tokenizer(WordLevel({"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}, unk_token="[UNK]"))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]").save_pretrained(tmp_path)
    BertModel(BertConfig(vocab_size=4, hidden_size=32, num_hidden_layers=1, num_attention_heads=4)).save_pretrained(
        tmp_path
    )
    with pytest.raises(BadInputError, match="not one of the kind WordLevel"):
        keep_words(StanceNetwork(tmp_path), PairTokenizer(tmp_path), ["zoos"], 4)
