"""BARTScore (Yuan et al., 2021): the probability of a text, given another text, under an encoder-decoder model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from berdseye.data.language_models.local import context_window
from berdseye.data.models.weights import chosen_device, find_model, hub_commit, loading, model_version
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.items import Answered, Measured, StoredValue, ValueStore, counted
from berdseye.evaluation.answer_measures.reading import joined

_UNKNOWN_WINDOW = 1_000_000


@dataclass(frozen=True)
class BartScorer:
    """The recall form of BARTScore: the mean over partial answers of the mean log P of their tokens (nats), given the answer.

    Higher is better. The model can be any encoder-decoder model of transformers. Texts longer than its window lose their ends.
    """

    name: str

    @cached_property
    def location(self) -> str | Path:
        """The name of a model on the Hub, or the path of its files."""
        return find_model(self.name)

    @cached_property
    def version(self) -> str:
        return model_version(self.location)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from berdseye.retrieval.encoders.running import without_output

        with loading(self.name), without_output():
            import torch
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

            options: dict[str, Any] = {"revision": hub_commit(self.location)} if isinstance(self.location, str) else {}
            model: Any = AutoModelForSeq2SeqLM.from_pretrained(self.location, dtype=torch.float32, **options)
            return AutoTokenizer.from_pretrained(self.location, **options), model.eval().to(chosen_device())

    def values(self, workspace: Workspace, items: Sequence[Answered], *, progress: Progress = silent) -> Measured:
        """Compute BARTScore of each item and store each value at once; NaN if the question has no partial answers."""
        store = ValueStore(workspace, "BARTScore", self.version)
        keys = [store.key(i.answer, [joined(p) for p in i.question.perspectives]) for i in items]
        known = store.get(keys)
        for done, (key, item) in enumerate(zip(keys, items, strict=True), start=1):
            if item.question.perspectives and key not in known:
                known[key] = self._value(item)
                store.put(key, known[key])
            progress(done, "answers", len(items))
        values = [known[k].value if i.question.perspectives else nan for k, i in zip(keys, items, strict=True)]
        cut = sum(known[k].cut for k, i in zip(keys, items, strict=True) if i.question.perspectives)
        return Measured(
            np.array(values, dtype=np.float64),
            counted(
                len(items),
                (
                    sum(not i.question.perspectives for i in items),
                    "questions have no partial answers and therefore no BARTScore",
                ),
                (cut, f"answers or partial answers were longer than the window of {self.name} and lost their ends"),
            ),
        )

    def _value(self, item: Answered) -> StoredValue:
        import torch

        tokenizer, model = self._loaded
        window = context_window(model.config, tokenizer) or _UNKNOWN_WINDOW
        texts = [joined(partial) for partial in item.question.perspectives]
        with torch.inference_mode():
            source = tokenizer([item.answer], return_tensors="pt", truncation=True, max_length=window).to(model.device)
            # The answer is encoded once for all partial answers.
            read = model.get_encoder()(**{k: v for k, v in source.items() if k in ("input_ids", "attention_mask")})
            means, longest = [], len(tokenizer(item.answer, verbose=False)["input_ids"])
            for text in texts:
                ids = tokenizer(text_target=text, verbose=False)["input_ids"]
                longest = max(longest, len(ids))
                labels = torch.tensor([ids[:window]], device=model.device)
                loss = model(encoder_outputs=read, attention_mask=source["attention_mask"], labels=labels).loss
                means.append(-float(loss))
        return StoredValue(float(np.mean(means)), longest > window)
