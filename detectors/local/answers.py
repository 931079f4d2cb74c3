"""The probabilities of two answers as the next words of a text, from their first tokens if these differ, otherwise from the
whole answers."""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.local import context_window
from berdseye.detectors.local.language_model import AnsweringModel
from berdseye.detectors.local.shared_reading import shared_logits
from berdseye.detectors.local.windows import by_length
from berdseye.detectors.protocol import Floats

Ids = list[int]
Doubles = npt.NDArray[np.float64]

_BATCH = 16
_BATCH_TOKENS = 4_096
_UNTOLD = 512
_WRITTEN = 12

_OPENING = Lock()


class Answers(NamedTuple):
    """Two answers, such as Yes and No."""

    first: str
    second: str


YES_NO = Answers("Yes", "No")
ONE_ZERO = Answers("1", "0")


class Answerer:
    """A loaded model, used by one thread at a time. `window` is the number of tokens that it reads and writes in total."""

    def __init__(self, model: AnsweringModel) -> None:
        self.name = model.name
        self.tokenizer, self.model = model.load()
        self.encoder_decoder = model.encoder_decoder
        self.window = context_window(self.model.config, self.tokenizer) or _UNTOLD
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Return the token ids of each text; without special tokens if a chat template writes them itself."""
        plain = self.tokenizer.chat_template is None
        encoding = self.tokenizer(list(texts), add_special_tokens=plain, verbose=False) if texts else {"input_ids": []}
        return [list(ids) for ids in encoding["input_ids"]]

    def preferences(self, prompts: Sequence[Ids], answers: Answers, temperature: float = 1.0) -> Floats:
        """Return P(first) / (P(first) + P(second)), float32[n_prompts], from their log-odds divided by `temperature`.

        The probability of an answer is the sum over its spellings that are one token: in capitals, capitalised or not, after a
        blank or not. If an answer has no such spelling, both are scored as they are written, over all their tokens.
        """
        spelled = [spellings(self.tokenizer, answer) for answer in answers]
        if all(spelled):
            odds = self._first_token_odds(prompts, *spelled)
        else:
            blank = " " if self.tokenizer.chat_template is None else ""
            first, second = (self.encode_answer(blank + answer) for answer in answers)
            prompt_answer_pairs = [(prompt, answer) for prompt in prompts for answer in (first, second)]
            sums, _ = self.likelihoods(prompt_answer_pairs)
            odds = sums[0::2] - sums[1::2]
        return finite(expit(odds / temperature), self.name)

    def encode_answer(self, text: str) -> Ids:
        """Return the token ids of a text that follows a prompt."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def likelihoods(self, pairs: Sequence[tuple[Ids, Ids]]) -> tuple[Doubles, npt.NDArray[np.int64]]:
        """Return log P of each second text after the first, in nats and summed over its tokens, and the numbers of tokens."""
        import torch

        sums = np.zeros(len(pairs))
        counts = np.array([len(answer) for _, answer in pairs], dtype=np.int64)
        for places, logits in self._all_logits(pairs):
            part = [pairs[at] for at in places]
            logits = logits.float().log_softmax(-1)
            for at, (_, answer), row in zip(places, part, logits, strict=True):
                if answer:
                    last = row[: len(answer)] if self.encoder_decoder else row[-len(answer) :]
                    taken = last.gather(1, torch.tensor(answer, device=row.device)[:, None])
                    sums[at] = float(taken.double().sum())
        return sums, counts

    def written(self, prompts: Sequence[Ids]) -> list[str]:
        """Return the model's greedy continuation of each prompt, at most 12 tokens."""
        import torch

        from berdseye.retrieval.encoders.running import one_at_a_time

        out = [""] * len(prompts)
        for places in by_length([len(p) for p in prompts], _BATCH, _BATCH_TOKENS):
            ids, mask = self._padded([prompts[at] for at in places])
            with one_at_a_time(self._lock), torch.inference_mode():
                generated = self.model.generate(
                    input_ids=ids, attention_mask=mask, max_new_tokens=_WRITTEN, do_sample=False,
                    temperature=None, top_p=None, top_k=None, pad_token_id=self.tokenizer.pad_token_id,
                )  # fmt: skip
            new = generated if self.encoder_decoder else generated[:, ids.shape[1] :]
            for at, text in zip(places, self.tokenizer.batch_decode(new, skip_special_tokens=True), strict=True):
                out[at] = text
        return out

    def _first_token_odds(self, prompts: Sequence[Ids], first: Ids, second: Ids) -> Doubles:
        odds = np.zeros(len(prompts))
        for places, logits in self._all_logits([(prompt, []) for prompt in prompts]):
            last = logits[:, -1].double()
            odds[places] = (last[:, first].logsumexp(-1) - last[:, second].logsumexp(-1)).cpu().numpy()
        return odds

    def _all_logits(self, pairs: Sequence[tuple[Ids, Ids]]) -> Iterator[tuple[list[int], Any]]:
        """Yield the logits of all pairs, as `_logits` returns them, in batches of their places.

        What several prompts begin with, such as the instruction and a passage with several perspectives, is read once.
        """
        import torch

        from berdseye.retrieval.encoders.running import one_at_a_time

        if not self.encoder_decoder and len(pairs) > 1:
            with one_at_a_time(self._lock), torch.inference_mode():
                shared = shared_logits(self.model, pairs, _BATCH, _BATCH_TOKENS)
                if shared is not None:
                    yield from shared
                    return
        for places in by_length([len(prompt) + len(answer) for prompt, answer in pairs], _BATCH, _BATCH_TOKENS):
            yield places, self._logits([pairs[at] for at in places], max(len(pairs[at][1]) for at in places))

    def _logits(self, pairs: Sequence[tuple[Ids, Ids]], longest: int) -> Any:
        """Return the logits for each token of the second texts, `[n, longest, n_tokens]`, or for the next one if they are empty.

        The rows of an encoder-decoder begin with the first token of the second text, all others end with its last.
        """
        import torch

        from berdseye.retrieval.encoders.running import one_at_a_time

        if self.encoder_decoder:
            ids, mask = self._padded([prompt for prompt, _ in pairs])
            start, pad = self.model.config.decoder_start_token_id, self.tokenizer.pad_token_id
            fed = [[start, *answer[:-1]] + [pad] * (longest - max(1, len(answer))) for _, answer in pairs]
            inputs = {
                "input_ids": ids,
                "attention_mask": mask,
                "decoder_input_ids": torch.tensor(fed, device=ids.device),
            }
        else:
            # The last token is fed too; the logits for each token are in the row before it.
            ids, mask = self._padded([prompt + answer for prompt, answer in pairs])
            positions = (mask.cumsum(-1) - 1).clamp(min=0)
            inputs = {"input_ids": ids, "attention_mask": mask, "position_ids": positions, "use_cache": False}
            inputs["logits_to_keep"] = longest + 1
        with one_at_a_time(self._lock), torch.inference_mode():
            logits = self.model(**inputs).logits
        if self.encoder_decoder:
            return logits
        return logits[:, -1:] if longest == 0 else logits[:, -longest - 1 : -1]

    def _padded(self, rows: Sequence[Ids]) -> tuple[Any, Any]:
        """Return token ids and their mask, int64[n, longest], padded after the text for an encoder, before it otherwise."""
        import torch

        width = max(map(len, rows))
        ids = torch.full((len(rows), width), self.tokenizer.pad_token_id or 0, dtype=torch.int64)
        mask = torch.zeros_like(ids)
        for at, row in enumerate(rows):
            place = slice(len(row)) if self.encoder_decoder else slice(width - len(row), width)
            ids[at, place] = torch.tensor(row)
            mask[at, place] = 1
        return ids.to(self.model.device), mask.to(self.model.device)


_OPEN: dict[tuple[object, ...], Answerer] = {}


def open_answerer(model: AnsweringModel) -> Answerer:
    """Return the loaded model, with one lock for all its users; only the last one used stays in memory."""
    key = (model.model, *model.made_of)
    with _OPENING:
        if key not in _OPEN:
            _OPEN.clear()
            _OPEN[key] = Answerer(model)
        return _OPEN[key]


def spellings(tokenizer: Any, answer: str) -> Ids:
    """Return the sorted ids of the single tokens that spell the answer in one of its forms; empty if there are none."""
    words = {answer, answer.lower(), answer.upper(), answer.capitalize()}
    encodings = [
        tokenizer(blank + word, add_special_tokens=False)["input_ids"] for word in words for blank in ("", " ")
    ]
    return sorted({ids[0] for ids in encodings if len(ids) == 1 and ids[0] != tokenizer.unk_token_id})


def finite(values: Doubles, name: str) -> Floats:
    """Return the numbers as float32; raises `BadInputError` if one is not finite."""
    if not np.isfinite(values).all():
        raise BadInputError(
            f"{name} returns numbers that are not finite.",
            hint="Its weights may be damaged, or too large for its precision.",
        )
    return np.asarray(values, dtype=np.float32)
