"""The network of `stance`, its losses, its batches, its training and its export, on a tiny BERT made here."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    DistilBertConfig,
    DistilBertModel,
    MPNetConfig,
    MPNetModel,
)

from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.detectors.stance import batches
from berdseye.detectors.stance import network as stance_network
from berdseye.detectors.stance.augmentation import drawn
from berdseye.detectors.stance.batches import Step, in_workers, mixed_batches
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.stance.examples import (
    CONTRADICTED,
    ENTAILED,
    NOT_SUPPORTED,
    UNRELATED,
    Allowed,
    Example,
    Statement,
)
from berdseye.detectors.stance.export import export
from berdseye.detectors.stance.network import Packed, PairTokenizer, StanceNetwork, packed
from berdseye.detectors.stance.train import main
from berdseye.detectors.stance.training import (
    CHECKPOINT,
    margin_loss,
    partial_loss,
    stance_probabilities,
    train,
)
from tests.detectors.tiny_bases import SIZES, TEXTS, WORDS, made_base, tiny_bert
from tests.detectors.tiny_training import SIDES, TRAINING, begun, labelled

CARD = '{"threshold": 0.5, "threshold_source": "none", "measured": "", "calibration": [1, 0]}'


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers and random weights, whose words are `WORDS`."""
    return tiny_bert(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def network(base: Path) -> StanceNetwork:
    torch.manual_seed(1)
    return StanceNetwork(base).eval()


def test_perspectives_of_a_passage_do_not_see_each_other(base: Path, network: StanceNetwork) -> None:
    tokenizer = PairTokenizer(base)
    together = network(packed([tokenizer.row(passage, perspectives) for passage, perspectives in TEXTS]))
    alone = [network(packed([tokenizer.row(p, [one])])) for p, perspectives in TEXTS for one in perspectives]
    assert together.shape == (4, 3)
    assert torch.allclose(together, torch.cat(alone), atol=1e-5)


def test_a_perspective_sees_its_passage(base: Path, network: StanceNetwork) -> None:
    tokenizer = PairTokenizer(base)
    one, other = (network(packed([tokenizer.row(p, ["zoos are good"])])) for p in ("zoos are cruel", "cars are clean"))
    assert not torch.allclose(one, other, atol=1e-3)


def test_texts_that_are_too_long_are_cut_and_counted(base: Path) -> None:
    tokenizer = PairTokenizer(base)
    ids, places, segments = tokenizer.row("zoos " * 300, ["cars " * 100, "cars"])
    assert tokenizer.cut == 2
    assert [segments.count(kind) for kind in (0, 1, 2)] == [226, 65, 2]
    assert places[:226] == list(range(226))
    assert places[226] == places[226 + 65] == 226
    assert len(ids) == len(places) == len(segments)


def test_the_exported_model_reads_as_the_network_does(base: Path, network: StanceNetwork, tmp_path: Path) -> None:
    tokenizer = PairTokenizer(base)
    export(network, tokenizer, tmp_path)
    (tmp_path / "stance.json").write_text(CARD)
    pairs = [Pair(passage, one) for passage, perspectives in TEXTS for one in perspectives]
    wanted = stance_probabilities(network, tokenizer, [(p.passage, p.perspective) for p in pairs])
    found = StanceDetector(tmp_path).stances(pairs)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)
    assert np.abs(found - wanted).max() < 0.05  # 8-bit weights


def test_mpnet_reads_as_transformers_does_and_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stance_network, "_MOST_HIDDEN", 16)  # fewer than the width, as in larger networks
    config = MPNetConfig(vocab_size=len(WORDS) + 4, max_position_embeddings=514, **SIZES)
    base = made_base(tmp_path / "base", MPNetModel(config), ["<s>", "<pad>", "</s>", "<unk>"])
    network, tokenizer = StanceNetwork(base).eval(), PairTokenizer(base)
    assert network.nearness is not None
    torch.nn.init.normal_(network.nearness.weight)  # the distances of positions should matter
    plain = MPNetModel.from_pretrained(base).eval()
    plain.encoder.relative_attention_bias.load_state_dict(network.nearness.state_dict())
    one = packed([tokenizer.row("zoos are cruel . cars are bad because trams are clean . " * 4, [])])
    one = Packed(*(part[:, : int((one.segments == 0).sum())] for part in one))  # without padding
    with torch.inference_mode():
        x, near = network.embedded(one.ids, one.places, one.segments), network.near(one.places, one.places)
        for layer in network.layers:
            x, _ = layer(x, near)
        assert torch.allclose(x, plain(one.ids).last_hidden_state, atol=1e-5)
    together = network(packed([tokenizer.row(passage, perspectives) for passage, perspectives in TEXTS]))
    alone = [network(packed([tokenizer.row(p, [one])])) for p, perspectives in TEXTS for one in perspectives]
    assert torch.allclose(together, torch.cat(alone), atol=1e-5)
    export(network, tokenizer, tmp_path, exact=True)
    (tmp_path / "stance.json").write_text(CARD)
    pairs = [Pair(passage, one) for passage, perspectives in TEXTS for one in perspectives]
    found = StanceDetector(tmp_path).stances(pairs)
    assert np.allclose(found, torch.softmax(together, -1).detach().numpy(), atol=1e-5)


def test_a_base_of_another_kind_is_refused(tmp_path: Path) -> None:
    config = DistilBertConfig(vocab_size=len(WORDS) + 4, dim=32, hidden_dim=64, n_layers=1, n_heads=4)
    base = made_base(tmp_path, DistilBertModel(config), ["[PAD]", "[CLS]", "[SEP]", "[UNK]"])
    with pytest.raises(BadInputError, match="BERT or MPNet model, not DistilBertModel"):
        StanceNetwork(base)


def test_a_device_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path), "base", "--device", "cuda:99"])
    assert stopped.value.code == 2
    assert "--device cuda:99 cannot be used" in capsys.readouterr().err


def test_batches_of_several_processes_come_from_seeds_of_their_own(base: Path) -> None:
    examples = {"snli": [Example(f"{p} {extra}", (Statement(q, ENTAILED),)) for p, qs in TEXTS for q in qs
                         for extra in WORDS]}  # fmt: skip
    tokenizer = PairTokenizer(base)

    def made(seed: int) -> Iterator[Step]:
        return ((batch,) for batch in mixed_batches(examples, tokenizer, Random(seed), 192))

    batches = in_workers(made, 5, 2)
    found = [next(batches) for _ in range(4)]
    wanted = [made(5 * 1_009), made(5 * 1_009 + 1)]
    for number, (batch,) in enumerate(found):
        assert torch.equal(batch.packed.ids, next(wanted[number % 2])[0].packed.ids)
    assert torch.equal(next(in_workers(made, 5, 0))[0].packed.ids, next(made(5))[0].packed.ids)


def test_a_partial_label_asks_for_any_of_its_stances() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]))
    allowed = torch.tensor([[True, False, False], [False, True, True]])
    assert float(partial_loss(logits, allowed)) == pytest.approx((-np.log(0.5) - np.log(0.9)) / 2)


def test_the_margin_compares_perspectives_of_one_passage() -> None:
    # Odds of support: 1 for the first and 1/3 for the second, of one passage; the third is of another passage.
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.9, 0.05, 0.05]]))
    allowed = torch.tensor([[True, False, False], [False, True, True], [False, True, False]])
    found = margin_loss(logits, allowed, torch.tensor([0, 0, 1]))
    assert float(found) == pytest.approx(np.log1p(1 / 3))
    assert float(margin_loss(logits, allowed, torch.tensor([0, 1, 2]))) == 0


def test_a_denial_is_opposed_where_its_perspective_is_supported() -> None:
    statements = (
        Statement("Zoos should be banned.", ENTAILED),
        Statement("Zoos are good for animals.", CONTRADICTED),
        Statement("Trams are clean.", UNRELATED),
        Statement("Cars are bad.", NOT_SUPPORTED),
    )
    found = {s.text: s.allowed for s in drawn(Example("Zoos are cruel.", statements), 1.0, Random(0)).statements}
    assert found["Zoos should not be banned."] == CONTRADICTED
    assert found["Zoos are not good for animals."] == ENTAILED
    assert found["Trams are not clean."] == UNRELATED
    assert "Cars are not bad." not in found  # what a partial label's denial allows is unknown


@given(st.lists(st.sampled_from([ENTAILED, CONTRADICTED, NOT_SUPPORTED]), min_size=1, max_size=12), st.integers(0, 99))
def test_what_is_kept_is_always_drawn(labels: list[Allowed], seed: int) -> None:
    statements = tuple(Statement(f"text {n}", allowed, n % 4 == 0) for n, allowed in enumerate(labels))
    chosen = drawn(Example("passage", statements), 0.0, Random(seed)).statements
    assert set(chosen) <= set(statements)
    assert {s for s in statements if s.kept} <= set(chosen)
    assert len(chosen) <= 5 + sum(s.kept for s in statements)


def test_a_batch_holds_every_label_of_its_passages(base: Path) -> None:
    examples = {"snli": [Example(p, tuple(Statement(q, ENTAILED) for q in qs)) for p, qs in TEXTS]}
    batch, allowed, owners, _ = next(mixed_batches(examples, PairTokenizer(base), Random(0)))
    statements = [int(row.max()) for row in batch.segments]
    assert len(allowed) == len(owners) == sum(statements)
    assert owners.tolist() == [number for number, count in enumerate(statements) for _ in range(count)]


@pytest.mark.parametrize("half", [False, True], ids=["full precision", "half precision"])
def test_training_learns_and_resumes_from_its_checkpoint(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: bool
) -> None:
    monkeypatch.setattr(batches, "_POOL", 32)
    examples, settings = labelled(), TRAINING._replace(half=half)
    network, tokenizer = begun(base)
    assert train(network, tokenizer, examples, settings, tmp_path) == 200
    texts = [(p, text) for p, no, yes in SIDES for text in (no, yes)]
    found = stance_probabilities(network, tokenizer, texts)
    assert found.argmax(axis=1).tolist() == [1, 0, 1, 0]

    made = (tmp_path / CHECKPOINT).stat().st_mtime_ns
    again = begun(base)[0]
    assert train(again, tokenizer, {}, settings, tmp_path) == 200  # finished: nothing is drawn
    assert (tmp_path / CHECKPOINT).stat().st_mtime_ns == made
    assert np.allclose(stance_probabilities(again, tokenizer, texts), found)
    assert (
        train(again, tokenizer, examples, settings._replace(steps=203), tmp_path) == 203
    )  # a finished training goes on
    assert not np.allclose(stance_probabilities(again, tokenizer, texts), found, atol=1e-7)
    assert train(begun(base)[0], tokenizer, examples, settings._replace(steps=2, seed=1), tmp_path) == 2
