"""The settings of a training, and the grid of settings that BERDS searched."""

from collections.abc import Mapping
from dataclasses import dataclass

from berdseye.data.errors import BadInputError

GRID: Mapping[str, tuple[float, ...]] = {
    "learning_rate": (1e-5, 2e-5, 3e-5, 5e-5, 1e-4, 2e-4),
    "warmup": (0.1, 0.3, 0.5),
    "epochs": (0.5, 1.0, 2.0, 3.0, 4.0),
    "weight_decay": (0.0, 1e-4, 0.001, 0.01),
}
"""The values that BERDS tried for its evaluator, in 360 combinations; the best were 1e-4, 0.1, 2 and 0.001."""


@dataclass(frozen=True)
class Settings:
    """Hyperparameters of a training with AdamW and a linear schedule; `warmup` is a share of all steps.

    `max_length` is in tokens, including perspective and prompt: the prompt with a passage of 100 words has up to 400; `title` is
    the place of a passage's title (none, before or after). The training stops after `patience` consecutive evaluations on dev
    without a better F1; there are `evaluations` per epoch. `rank`, `alpha` and `dropout` are those of LoRA, as in the release of
    BERDS. Raises `BadInputError` for a value out of its range.
    """

    learning_rate: float = 1e-4
    warmup: float = 0.1
    epochs: float = 2.0
    weight_decay: float = 0.001
    batch: int = 16
    max_length: int = 512
    rank: int = 64
    alpha: int = 16
    dropout: float = 0.1
    title: str = "none"
    evaluations: int = 4
    patience: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        bounds = {
            "learning_rate": (1e-8, 1.0),
            "warmup": (0.0, 1.0),
            "epochs": (0.01, 1000.0),
            "weight_decay": (0.0, 1.0),
            "batch": (1, 4096),
            "max_length": (16, 32_768),
            "rank": (1, 1024),
            "alpha": (1, 10_000),
            "dropout": (0.0, 0.99),
            "evaluations": (1, 1000),
            "patience": (1, 1000),
            "seed": (0, 2**31),
        }
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise BadInputError(f"{name} must be between {low:g} and {high:g}, got {getattr(self, name):g}.")


STANCE_SETTINGS = Settings(learning_rate=1e-3, epochs=4.0, weight_decay=0.0, evaluations=1)
"""Those of the biases and norms of `stance`, which can bear a higher rate than matrices."""
STANCE_NEEDS = ("torch", "transformers", "accelerate", "onnx")
"""The modules with which `stance` is trained, and which using it does not need."""
