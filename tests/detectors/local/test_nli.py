"""NLI models against transformers itself: entailment by its name, windows, precision, and what is refused."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import made_models
import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoModelForSequenceClassification, AutoTokenizer

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.records import Pair
from berdseye.detectors.detector_registry import parse_detector

LABELS = {0: "contradiction", 1: "Entailment", 2: "neutral"}
PAIRS = [
    Pair("zoos are good", "zoos should be banned"),
    Pair("trams and cars of the cities", "cars are bad", "the trams"),
    Pair("the zoos", "the zoos are bad and be banned"),
]
LONG = Pair("zoos are bad and good of trams " * 3_000, "zoos be banned")


def entailments(folder: Path, texts: list[tuple[str, str]], place: int = 1) -> list[float]:
    """One pair at a time, as the library has it."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = [model(**tokenizer(*text, truncation=True, return_tensors="pt")).logits[0] for text in texts]
    return [float(row.softmax(-1)[place]) for row in logits]


def test_probability_is_the_library_s_entailment(models: Path) -> None:
    folder = made_models.classifier(models / "mine", LABELS)
    detector = parse_detector("nli(mine)")
    found = detector.predict(PAIRS)
    assert found.dtype == np.float32
    assert np.allclose(found, entailments(folder, [(p.passage, p.perspective) for p in PAIRS]), atol=1e-5)
    assert len(set(found.round(4))) == len(PAIRS)
    assert (detector.threshold, detector.measured) == (0.5, "")


def test_titles_are_included_where_they_are_asked_for(models: Path) -> None:
    folder = made_models.classifier(models / "mine", LABELS)
    versions = set()
    for title, text in (("none", PAIRS[1].passage), ("before", f"the trams {PAIRS[1].passage}"),
                        ("after", f"{PAIRS[1].passage} the trams")):  # fmt: skip
        detector = parse_detector(f"nli(mine,title={title})")
        assert np.allclose(detector.predict([PAIRS[1]]), entailments(folder, [(text, PAIRS[1].perspective)]), atol=1e-5)
        versions.add(detector.version)
    assert len(versions) == 3


def test_long_passages_are_read_in_windows(models: Path) -> None:
    """A passage of two windows: the largest, the first or the mean of what each gives."""
    folder = made_models.classifier(models / "mine", LABELS)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    words = ["zoos", "bad", "trams", "cities", "banned", "good", "cars"] * 11
    perspective = "zoos are bad"
    size = made_models.LENGTH - 3 - 3
    stride = size - size // 4
    parts = [" ".join(words[:size]), " ".join(words[stride : stride + size])]
    assert len(tokenizer(*[parts[0], perspective])["input_ids"]) == made_models.LENGTH
    assert stride + size >= len(words) > size
    each = entailments(folder, [(part, perspective) for part in parts])
    pair = Pair(" ".join(words), perspective)
    for how, wanted in (("max", max(each)), ("first", each[0]), ("mean", sum(each) / 2)):
        assert np.allclose(parse_detector(f"nli(mine,windows={how})").predict([pair]), wanted, atol=1e-5)
    assert abs(each[0] - each[1]) > 1e-3


def test_a_pair_is_worth_the_same_beside_any_others(models: Path) -> None:
    made_models.classifier(models / "mine", LABELS)
    detector = parse_detector("nli(mine)")
    odd = [Pair("", "zoos"), Pair("zoos", " \x00"), Pair("\ud800 zoos", "zoos " * 500), LONG]
    assert len(LONG.passage) > 90_000
    pairs = [*odd, *(Pair("zoos " * (1 + 7 * n % 40), PAIRS[n % 3].perspective) for n in range(60))]
    together = detector.predict(pairs)
    assert ((together >= 0) & (together <= 1)).all()
    assert together[:2].tolist() == [0, 0]
    assert np.allclose(together, [detector.predict([pair])[0] for pair in pairs], atol=1e-5)
    assert detector.predict([]).shape == (0,)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(detector.predict, [pairs[4:]] * 4):
            assert np.allclose(found, together[4:], atol=1e-5)


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_lower_precision_is_near(models: Path, precision: str) -> None:
    made_models.classifier(models / "mine", LABELS)
    whole, low = parse_detector("nli(mine)"), parse_detector(f"nli(mine,precision={precision})")
    assert whole.version != low.version
    wanted, found = whole.predict(PAIRS), low.predict(PAIRS)
    assert np.allclose(found, wanted, atol=0.05)
    assert not np.array_equal(found, wanted)
    beside = low.predict([*PAIRS, Pair("zoos are " * 20, "cars are bad")])
    assert np.allclose(beside[:3], found, atol=1e-5 if precision == "int8" else 0.01)


def test_versions_follow_the_weights_and_the_settings(models: Path) -> None:
    made_models.classifier(models / "mine", LABELS)
    made_models.classifier(models / "other", LABELS, seed=1)
    names = ["nli(mine)", "nli(other)", "nli(mine,windows=mean)", "nli(mine,max_length=32)", "nli(mine,entailment=0)"]
    assert len({parse_detector(name).version for name in names}) == len(names)
    for name in names:
        assert parse_detector(name).name == name


def test_models_without_entailment_are_refused(models: Path) -> None:
    folder = made_models.classifier(models / "mine", {0: "LABEL_0", 1: "not_entailment"})
    with pytest.raises(BadInputError, match="no output for entailment: 0 = LABEL_0, 1 = not_entailment"):
        parse_detector("nli(mine)")
    found = parse_detector("nli(mine,entailment=0)").predict(PAIRS)
    assert np.allclose(found, entailments(folder, [(p.passage, p.perspective) for p in PAIRS], 0), atol=1e-5)
    with pytest.raises(BadInputError, match="no output 2"):
        parse_detector("nli(mine,entailment=2)")
    with pytest.raises(BadInputError, match="and 64 for"):
        parse_detector("nli(mine,max_length=65)")


def test_damaged_weights_are_reported_with_the_model_and_a_hint(models: Path) -> None:
    folder = made_models.classifier(models / "mine", LABELS)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:200])
    with pytest.raises(UnavailableError, match=r"mine' cannot be loaded: .") as caught:
        parse_detector("nli(mine)")
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def test_t5_answers_one_or_zero(models: Path) -> None:
    """P(1) against P(0), summed over both spellings, at the decoder's first step (TRUE)."""
    folder = made_models.t5(models / "true")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    one, zero = (tokenizer.convert_tokens_to_ids([word, f"▁{word}"]) for word in "10")

    def wanted(pair: Pair) -> float:
        ids = tokenizer(f"premise: {pair.passage} hypothesis: {pair.perspective}", return_tensors="pt").input_ids
        with torch.inference_mode():
            likely = model(input_ids=ids, decoder_input_ids=torch.tensor([[0]])).logits[0, 0].softmax(-1)
        return float(likely[one].sum() / likely[[*one, *zero]].sum())

    detector = parse_detector("nli(true)")
    found = detector.predict([*PAIRS, LONG, Pair("", "zoos")])
    assert np.allclose(found[:3], [wanted(pair) for pair in PAIRS], atol=1e-5)
    assert len(set(found.round(4))) == 5
    assert found[4] == 0 < found[3] <= 1
    with pytest.raises(BadInputError, match="precision and entailment do not apply"):
        parse_detector("nli(true,precision=int8)")
