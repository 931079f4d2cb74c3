"""Train `stance` further: the biases and norms of a stored network, which an adaptation then keeps."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.records import Pair
from berdseye.data.texts.passages import clean
from berdseye.detectors.protocol import Floats
from berdseye.detectors.stance.adaptation import write_numbers
from berdseye.detectors.stance.detector import MOST_PASSAGE_TOKENS, MOST_PERSPECTIVE_TOKENS, StanceDetector
from berdseye.detectors.stance.examples import STANCES, SUPPORTS
from berdseye.detectors.stance.network import Packed, PairTokenizer, packed
from berdseye.detectors.stance.network_files import TOKENIZER_FILE, card_of
from berdseye.detectors.stance.reasons import claim_and_reason, readings_of
from berdseye.detectors.stance.stored_network import stored_network
from berdseye.detectors.training.cards import Curve
from berdseye.detectors.training.loop import half_precision, run
from berdseye.detectors.training.settings import STANCE_SETTINGS


class StanceLearner:
    """The biases and norms of a network of `stance` in training, 1 in 600 of its numbers; its matrices stay.

    The logit of a pair is the calibrated log-odds of support, as the detector has them. A passage is read once for all of its
    perspectives in a batch; of a long one, its first window. The end of the training counts, and not the best moment on dev:
    with few pairs in dev that moment is chance. The means of the numbers before and after the training are kept, since they judge
    new texts better than either (WiSE-FT, Wortsman et al., CVPR 2022); the curve is that of the training itself.
    """

    positive_weight = 1.0
    by_passage, best_on_dev = True, False
    max_length = MOST_PASSAGE_TOKENS + MOST_PERSPECTIVE_TOKENS

    def __init__(self, folder: Path) -> None:
        self.network = stored_network(folder)
        self.tokenizer = PairTokenizer(Tokenizer.from_file(str(folder / TOKENIZER_FILE)))
        card = card_of(folder)
        self.calibrations = (card.calibration, card.reason_calibration)
        self.network.requires_grad_(False)
        self.trained = {name: one for name, one in self.network.named_parameters() if one.ndim == 1}
        for name, one in self.network.named_parameters():
            if name in self.trained:
                one.requires_grad_(True)
            elif half_precision():  # otherwise they would be rounded at every step
                one.data = one.data.bfloat16()
        self.before = {name: one.detach().clone() for name, one in self.trained.items()}
        self.model = nn.ParameterList(self.trained.values())

    def batch(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        """Return packed passages with their perspectives, for each reading the number of its pair, int64[n_readings], and for
        each pair its calibration, float32[n_pairs, 2]."""
        places: dict[str, list[int]] = {}
        for place, pair in enumerate(pairs):
            places.setdefault(clean(pair.passage), []).append(place)
        perspectives = [clean(pair.perspective) for pair in pairs]
        readings = [readings_of(text) for text in perspectives]
        rows = [self.tokenizer.row(text, [one for i in mine for one in readings[i]]) for text, mine in places.items()]
        return {
            **packed(rows)._asdict(),
            "owners": torch.tensor([i for mine in places.values() for i in mine for _ in readings[i]]),
            "calibrations": torch.tensor([self.calibrations[claim_and_reason(t) is not None] for t in perspectives]),
        }

    def logits(self, batch: dict[str, Any]) -> Tensor:
        """Return the calibrated log-odds of support, float32[n_pairs]."""
        self.network.to(batch["ids"].device)  # the loop places the trained numbers alone
        read = self.network(Packed(batch["ids"], batch["places"], batch["segments"]))
        owners, (slopes, offsets) = batch["owners"], batch["calibrations"].unbind(-1)
        sums = torch.zeros(len(slopes), len(STANCES), device=read.device)
        sums = sums.index_add(0, owners, torch.log_softmax(read.float(), dim=-1))
        means = sums / torch.bincount(owners).unsqueeze(-1)
        odds = means[:, SUPPORTS] - torch.logsumexp(means[:, SUPPORTS + 1 :], dim=-1)
        logits: Tensor = slopes * odds + offsets
        return logits

    def truncated(self, pairs: Sequence[Pair]) -> int:
        """Return how many pairs have a text that is cut."""
        return sum(self.tokenizer.is_cut(clean(pair.passage), readings_of(clean(pair.perspective))) for pair in pairs)

    def numbers(self) -> dict[str, Floats]:
        """Return the means of the biases and norms before and after the training, by their names, float32."""
        return {name: ((one.detach().cpu() + self.before[name]) / 2).numpy() for name, one in self.trained.items()}

    def save(self, folder: Path) -> None:
        """Save what `numbers` returns."""
        folder.mkdir(parents=True, exist_ok=True)
        write_numbers(folder, self.numbers())


def numbers_learned(start: StanceDetector, pairs: Sequence[Pair], targets: Floats) -> dict[str, Floats]:
    """Return the biases and norms of a detector's network, by their names, after a training on pairs with their probabilities,
    float32[n_pairs]; nothing is stored."""
    learner = StanceLearner(start.folder)
    examples = [LabelledPair(pair, supports) for pair, supports in zip(pairs, (targets >= 0.5).tolist(), strict=True)]
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run(learner, examples, targets, (), STANCE_SETTINGS, folder, Curve(folder, 0))
    return learner.numbers()
