"""P.D.: hand-worked on a model whose probabilities are known, and equal to the plain way on others."""

from math import exp, log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.language_models.local import LocalModel
from berdseye.data.records import Perspective
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.items import Answered
from berdseye.evaluation.answer_measures.losses import shared_beginning, shared_losses, whole_losses
from berdseye.evaluation.answer_measures.perspective_diversity import PerspectiveDiversityScorer, recovery_ratio
from berdseye.evaluation.answer_measures.reading import WRAPS, Reader, joined
from tests.evaluation.answer_measures.answer_models import TEXTS, item, partial_answers, smollm_model, tiny_model


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    return tiny_model(tmp_path_factory.mktemp("models") / "chat")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    return tiny_model(tmp_path_factory.mktemp("models") / "plain", template=None)


class Known:
    """A 'model' over three tokens: the next is the same as the last with probability 1/2, each other with 1/4."""

    device = torch.device("cpu")

    def __call__(self, ids: Any, **_: Any) -> SimpleNamespace:
        logits = torch.full((*ids.shape, 3), log(0.25)).scatter(2, ids[..., None], log(0.5))
        return SimpleNamespace(logits=logits)


def test_the_loss_by_hand() -> None:
    # 0 0 | 1 1 2: after 0 comes 1 (1/4), then 1 (1/2), then 2 (1/4): 1/32 together; from the fourth token on 1/8.
    found = whole_losses(Known(), [[0, 0, 1, 1, 2], [0, 0, 1, 1, 2]], [2, 3])
    assert found == pytest.approx([log(32), log(8)])


def test_pd_sums_perplexities_and_the_released_one_takes_their_mean(plain: LocalModel, workspace: Workspace) -> None:
    items = [item("a b", partial_answers("c", "d"))]
    for variant, combine in (("paper", np.sum), ("released", np.mean)):
        scorer = PerspectiveDiversityScorer(plain, variant)  # type: ignore[arg-type]
        each, _ = scorer.perplexities(items[0])
        assert len(each) == 2
        assert scorer.values(workspace, items).values[0] == pytest.approx(combine(each))


def naive_perplexity(model: LocalModel, before: str, after: str) -> float:
    """By transformers' own loss, of one text after another."""
    tokenizer, network = model.load()
    head, tail = (tokenizer(t, add_special_tokens=False)["input_ids"] for t in (before, after))
    labels = torch.tensor([[-100] * len(head) + tail])
    with torch.inference_mode():
        return exp(float(network(torch.tensor([head + tail]), labels=labels).loss))


def test_the_paper_scores_only_the_partial_answer_after_the_wrapped_answer(chat: LocalModel, plain: LocalModel) -> None:
    one = item("yes zoo no", partial_answers())
    found, cut = PerspectiveDiversityScorer(chat).perplexities(one)
    before = "<s> user yes zoo no\n\nPlease restate. </s><s> assistant"
    assert found == pytest.approx([naive_perplexity(chat, before, f"{t}. a zoo b") for t in TEXTS], abs=1e-3)
    assert not cut
    found, _ = PerspectiveDiversityScorer(plain).perplexities(one)
    before = "yes zoo no\n\nPlease restate.\n\n"
    assert found == pytest.approx([naive_perplexity(plain, before, f"{t}. a zoo b") for t in TEXTS], abs=1e-3)


def released_by_hand(model: LocalModel, chat: str, text: str, masked: int) -> float:
    """Loss of the tokens from `masked` on, divided by all tokens but the first, as the released script divides it."""
    tokenizer, network = model.load()
    ids = tokenizer(chat + text)["input_ids"]
    with torch.inference_mode():
        odds = network(torch.tensor([ids])).logits[0].log_softmax(-1)
    losses = [-float(odds[at - 1, ids[at]]) for at in range(masked, len(ids))]
    return exp(sum(losses) / (len(ids) - 1))


def test_the_released_variant_divides_by_the_answers_tokens_too(plain: LocalModel) -> None:
    # Without a chat template: 'yes zoo no' and </s> are 4 tokens.
    found, _ = PerspectiveDiversityScorer(plain, "released").perplexities(item("yes zoo no", partial_answers()))
    by_hand = [released_by_hand(plain, "yes zoo no</s>", f"{t}. a zoo b", 4) for t in TEXTS]
    assert found == pytest.approx(by_hand, abs=1e-3)
    longer, _ = PerspectiveDiversityScorer(plain, "released").perplexities(item("yes zoo no " * 9, partial_answers()))
    assert (longer < found).all(), "the longer answer has the same words, and is rewarded for its length"


def test_padding_on_the_left_lets_the_released_mask_slip(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "left")
    config = tmp_path / "left" / "tokenizer_config.json"
    config.write_text(config.read_text().replace('"backend"', '"padding_side": "left", "backend"', 1))
    assert '"padding_side": "left"' in config.read_text()
    reading = Reader(model).released("a b", partial_answers("c", "c d e"))
    # '<s> user a b </s><s> assistant' are 7 tokens.
    # The first text is two tokens shorter than the second, so that two fewer are masked.
    assert reading.starts == [5, 7]


def test_sharing_changes_nothing(chat: LocalModel, plain: LocalModel) -> None:
    one = item("yes zoo no a b c d", partial_answers(*TEXTS, *TEXTS))
    for model in (chat, plain):
        for variant in ("paper", "released"):
            scorer = PerspectiveDiversityScorer(model, variant)  # type: ignore[arg-type]
            shared, naive = (scorer.perplexities(one, losses)[0] for losses in (shared_losses, whole_losses))
            assert shared == pytest.approx(naive, abs=1e-3)
            assert len(set(np.round(shared, 6))) == len(TEXTS)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_sharing_changes_nothing_wherever_sequences_part(chat: LocalModel, data: st.DataObject) -> None:
    ids = st.integers(3, 30)
    head = data.draw(st.lists(ids, min_size=1, max_size=8))
    tails = data.draw(st.lists(st.lists(ids, max_size=6), min_size=1, max_size=5))
    sequences = [head + tail for tail in tails]
    starts = [data.draw(st.integers(1, len(s))) for s in sequences]
    model = chat.load().model
    assert shared_losses(model, sequences, starts) == pytest.approx(whole_losses(model, sequences, starts), abs=1e-4)


def test_what_is_shared() -> None:
    assert shared_beginning([[1, 2, 3, 4], [1, 2, 3, 5]], [3, 3]) == 3
    assert shared_beginning([[1, 2, 3, 4], [1, 2, 3, 5]], [2, 3]) == 2  # the third token of the first is scored
    assert shared_beginning([[1, 2], [3, 2]], [1, 1]) == 1  # see test_sharing_changes_nothing for equal beginnings


def test_a_long_answer_loses_its_end_and_that_is_reported(chat: LocalModel, workspace: Workspace) -> None:
    long = "a b c d e f g h " * 20  # 160 tokens for a window of 64
    items = [item(long, partial_answers()), item("a", partial_answers())]
    reading = Reader(chat).paper(long, items[0].question.perspectives, "[Answer] x")
    assert reading.cut
    assert max(map(len, reading.sequences)) == 64, "what fits is used"
    assert (
        reading.sequences[0][2:8]
        == Reader(chat).paper("a b c d e f", partial_answers(), "[Answer] x").sequences[0][2:8]
    )
    found = PerspectiveDiversityScorer(chat).values(workspace, items)
    assert np.isfinite(found.values).all()
    (note,) = found.notes
    assert note.startswith("1 of 2 answers or partial answers were longer than the window of local(")


def test_a_partial_answer_as_long_as_the_window_is_cut_to_half_of_it(chat: LocalModel) -> None:
    reading = Reader(chat).paper("a", (Perspective("b " * 90),), "[Answer] x")
    assert reading.cut
    assert reading.counts == [32]
    with pytest.raises(BadInputError, match="too small"):
        Reader(chat).paper("a", partial_answers(), "[Answer]" + " x" * 80)


def test_empty_answers_and_questions_without_partial_answers(chat: LocalModel, workspace: Workspace) -> None:
    items = [item("", partial_answers()), item("a", ()), item("a", partial_answers())]
    for variant in ("paper", "released"):
        found = PerspectiveDiversityScorer(chat, variant).values(workspace, items)  # type: ignore[arg-type]
        assert np.isnan(found.values).tolist() == [False, True, False]
        assert [note.split(" and ")[0] for note in found.notes] == [
            "1 of 3 questions have no partial answers",
            "1 of 3 answers are empty",
        ]


def test_a_killed_run_goes_on(chat: LocalModel, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [item(text, partial_answers()) for text in ("a", "b", "a", "c")]
    whole = PerspectiveDiversityScorer(chat).values(Workspace.create(workspace.folder / "other"), items).values
    scorer, asked = PerspectiveDiversityScorer(chat), []
    compute = scorer.value

    def dies(asking: Answered) -> Any:
        asked.append(asking.answer)
        if asking.answer == "b" and len(asked) == 2:
            raise KeyboardInterrupt
        return compute(asking)

    monkeypatch.setattr(scorer, "value", dies)
    with pytest.raises(KeyboardInterrupt):
        scorer.values(workspace, items)
    told: list[tuple[int, int | None]] = []
    found = scorer.values(workspace, items, progress=lambda done, _, total=None: told.append((done, total)))
    assert asked == ["a", "b", "b", "c"], "equal answers are computed once, and what was finished not again"
    assert found.values.tolist() == whole.tolist()
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_another_wrap_variant_or_partial_answer_is_another_value(chat: LocalModel, workspace: Workspace) -> None:
    def value(asking: Answered, *settings: Any) -> float:
        return float(PerspectiveDiversityScorer(chat, *settings).values(workspace, [asking]).values[0])

    one, other = item("a", partial_answers()), item("a", partial_answers("a", "b"))
    assert len({value(one), value(one, "released"), value(one, "paper", "views"), value(other)}) == 4


def test_the_bare_wrap_is_the_answer_alone(chat: LocalModel) -> None:
    found, _ = PerspectiveDiversityScorer(chat, wrap="bare").perplexities(item("yes zoo no", partial_answers("c")))
    before = "<s> user yes zoo no </s><s> assistant"
    assert found == pytest.approx([naive_perplexity(chat, before, "c. a zoo b")], abs=1e-3)


def test_the_wraps_begin_with_the_definitions_instruction_and_the_bare_response() -> None:
    assert list(WRAPS.items())[:2] == [("restate", "[Answer]\n\nPlease restate."), ("bare", "[Answer]")]
    assert len(set(WRAPS.values())) == 6
    assert all(text.count("[Answer]") == 1 for text in WRAPS.values())


def test_wraps(chat: LocalModel, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean restate"):
        PerspectiveDiversityScorer(chat, wrap="restat")
    path = tmp_path / "wrap.txt"
    path.write_text("Here: [Answer] Go on.")
    assert PerspectiveDiversityScorer(chat, wrap=str(path)).wrap == "Here: [Answer] Go on."
    path.write_text("Here: Go on.")
    with pytest.raises(BadInputError, match=r"must contain \[Answer\] exactly once"):
        PerspectiveDiversityScorer(chat, wrap=str(path))


def test_joining() -> None:
    assert joined(Perspective("Zoos teach", None, "They show animals.")) == "Zoos teach. They show animals."
    assert joined(Perspective("Zoos teach!", None, "They show animals.")) == "Zoos teach! They show animals."
    assert joined(Perspective("Zoos teach")) == "Zoos teach"


def test_reading_a_change() -> None:
    # Two answers to questions of 4 partial answers, P.D. 1 apart: e^(1/4) = 1.284.
    assert recovery_ratio(-1.0, 4) == pytest.approx(1.2840, abs=1e-4)
    assert recovery_ratio(0.0, 3) == 1.0
    with pytest.raises(BadInputError, match="partial answers"):
        recovery_ratio(1.0, 0)


@pytest.mark.slow
def test_real_weights_prefer_the_answer_that_holds_the_views() -> None:
    """SmolLM2: shared equals plain to 1e-3 in float32, and the right answer foresees its views better than another."""
    views = (
        Perspective(
            "Zoos protect species that are dying out", None, "They breed animals and bring them back to the wild."
        ),
        Perspective("Zoos are prisons for animals", None, "No cage can stand in for a life in freedom."),
    )
    answer = "Some say that zoos protect species by breeding them. Others hold that a cage is a prison."
    scorer = PerspectiveDiversityScorer(smollm_model())
    shared, _ = scorer.perplexities(item(answer, views))
    naive, _ = scorer.perplexities(item(answer, views), whole_losses)
    assert shared == pytest.approx(naive, abs=1e-3)
    empty, _ = scorer.perplexities(item("", views))
    assert (shared < empty).all()
