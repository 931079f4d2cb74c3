"""BARTScore (Yuan et al., 2021) as in DebateQA: the probability of an answer, given a partial answer, under an encoder-decoder
model."""

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
_STORED_AS = "BARTScore of the answer"
"""The name of stored values; those under `BARTScore` are probabilities of the partial answers, given the answer."""


@dataclass(frozen=True)
class BartScorer:
    """The mean over partial answers of the mean log P of the answer's tokens (nats), given the partial answer (DebateQA).

    Higher is better. The model can be any encoder-decoder model of transformers. Texts longer than its window lose their ends. An
    empty answer is scored as its end-of-text token.
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
        store = ValueStore(workspace, _STORED_AS, self.version)
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
        answer = tokenizer(text_target=item.answer, verbose=False)["input_ids"] or [tokenizer.eos_token_id]
        labels = torch.tensor([answer[:window]], device=model.device)
        means, longest = [], len(answer)
        with torch.inference_mode():
            for partial in item.question.perspectives:
                ids = tokenizer(joined(partial), verbose=False)["input_ids"]
                longest = max(longest, len(ids))
                source = torch.tensor([ids[:window]], device=model.device)
                means.append(-float(model(input_ids=source, labels=labels).loss))
        return StoredValue(float(np.mean(means)), longest > window)
