"""LoRA adapters (Hu et al. 2021) over causal language models that answer Yes or No to the detection prompt."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.local import Loaded, context_window
from berdseye.data.models.weights import find_model, loading
from berdseye.data.records import Pair
from berdseye.detectors.local.answers import YES_NO, Answerer, spellings
from berdseye.detectors.local.language_model import AnsweringModel
from berdseye.detectors.local.prompted import FittedPrompts
from berdseye.detectors.local.windows import passage_text, title_place
from berdseye.detectors.prompts import ZERO_SHOT
from berdseye.detectors.training.loop import half_precision
from berdseye.detectors.training.settings import Settings
from berdseye.retrieval.encoders.running import without_output


class LoraLearner:
    """A LoRA adapter in training; the logit of a pair is log P(Yes) - log P(No), each over its spellings, as in the detector.

    The base is never changed, so that each of its weights takes 16 bits where bfloat16 is fast. All pairs have equal weight: the
    answer has no bias from which a weight could be removed again, and the threshold is chosen on dev anyway.
    """

    positive_weight = 1.0
    by_passage, best_on_dev = False, True

    def __init__(self, base: str, settings: Settings) -> None:
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM, AutoTokenizer

        source = find_model(base)
        with loading(base), without_output():
            self.tokenizer: Any = AutoTokenizer.from_pretrained(source, padding_side="left")
            dtype = torch.bfloat16 if half_precision() else torch.float32
            plain: Any = AutoModelForCausalLM.from_pretrained(source, dtype=dtype)
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.answers = [spellings(self.tokenizer, answer) for answer in YES_NO]
        if not all(self.answers):
            raise BadInputError(
                f"'{base}' has no single token for {' or '.join(YES_NO)}.", hint="Use a model whose tokenizer has both."
            )
        config = LoraConfig(
            task_type="CAUSAL_LM",
            r=settings.rank,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules="all-linear",
        )
        self.max_length = min(settings.max_length, context_window(plain.config, self.tokenizer) or settings.max_length)
        self.model: Any = get_peft_model(plain, config)
        opened = _Opened(base, Loaded(self.tokenizer, plain))
        self.prompts = FittedPrompts(Answerer(opened), opened, ZERO_SHOT, self.max_length)
        self.title = title_place(settings.title)

    def batch(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        """Return the token ids of the prompts, padded on the left; the prompts are those of the detector."""
        rows = self.prompts.ids([(passage_text(p, self.title), p.perspective) for p in pairs])
        return dict(self.tokenizer.pad({"input_ids": rows}, return_tensors="pt"))

    def truncated(self, pairs: Sequence[Pair]) -> int:
        """Return how many pairs have a text that is cut to fit into the prompt."""
        return int(self.prompts.cut([(passage_text(p, self.title), p.perspective) for p in pairs]).sum())

    def logits(self, batch: dict[str, Any]) -> Tensor:
        """Return one logit per pair, float[n_pairs]."""
        positions = (batch["attention_mask"].cumsum(-1) - 1).clamp(min=0)
        last = self.model(**batch, position_ids=positions, use_cache=False, logits_to_keep=1).logits[:, -1].float()
        yes, no = (last[:, ids].logsumexp(-1) for ids in self.answers)
        odds: Tensor = yes - no
        return odds

    def save(self, folder: Path) -> None:
        """Save the adapter in the format of PEFT, with the tokenizer."""
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))


class _Opened(AnsweringModel):
    """A model that is loaded already, as `FittedPrompts` needs it to build prompts."""

    def __init__(self, model: str, loaded: Loaded) -> None:
        super().__init__(model)
        self._opened = loaded

    def load(self) -> Loaded:
        return self._opened
