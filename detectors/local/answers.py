"""How probable two answers are as the next words of a text: the first token's where it tells them apart, else whole answers'."""

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.local import told_window
from berdseye.detectors.local.language_model import AnsweringModel
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
    """A loaded model, asked by one thread at a time. `window` is how many tokens it reads, and writes, together."""

    def __init__(self, model: AnsweringModel) -> None:
        self.name = model.name
        self.tokenizer, self.model = model.load()
        self.encoder_decoder = model.encoder_decoder
        self.window = told_window(self.model.config, self.tokenizer) or _UNTOLD
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Token ids of each text; a chat template writes the special tokens of a chat itself."""
        plain = self.tokenizer.chat_template is None
        found = self.tokenizer(list(texts), add_special_tokens=plain, verbose=False) if texts else {"input_ids": []}
        return [list(ids) for ids in found["input_ids"]]

    def preferences(self, prompts: Sequence[Ids], answers: Answers, temperature: float = 1.0) -> Floats:
        """P(first) / (P(first) + P(second)), float32[n_prompts], from their log-odds divided by `temperature`.

        Each is summed over its spellings that are one token: in capitals, capitalised or not, after a blank or not. Where
        an answer has none, both are scored as they are written, all their tokens together.
        """
        spelled = [spellings(self.tokenizer, answer) for answer in answers]
        if all(spelled):
            odds = self._first_token_odds(prompts, *spelled)
        else:
            blank = " " if self.tokenizer.chat_template is None else ""
            first, second = (self.encode_answer(blank + answer) for answer in answers)
            asked = [(prompt, answer) for prompt in prompts for answer in (first, second)]
            sums, _ = self.likelihoods(asked)
            odds = sums[0::2] - sums[1::2]
        return finite(expit(odds / temperature), self.name)

    def encode_answer(self, text: str) -> Ids:
        """Token ids of what follows a prompt."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def likelihoods(self, pairs: Sequence[tuple[Ids, Ids]]) -> tuple[Doubles, npt.NDArray[np.int64]]:
        """log P of each second text after the first, summed over its tokens (nats), and how many these are."""
        import torch

        sums = np.zeros(len(pairs))
        counts = np.array([len(answer) for _, answer in pairs], dtype=np.int64)
        for places in by_length([len(prompt) + len(answer) for prompt, answer in pairs], _BATCH, _BATCH_TOKENS):
            part = [pairs[at] for at in places]
            longest = int(max(counts[places]))
            logits = self._logits(part, longest).float().log_softmax(-1)
            for at, (_, answer), row in zip(places, part, logits, strict=True):
                if answer:
                    last = row[: len(answer)] if self.encoder_decoder else row[-len(answer) :]
                    taken = last.gather(1, torch.tensor(answer, device=row.device)[:, None])
                    sums[at] = float(taken.double().sum())
        return sums, counts

    def written(self, prompts: Sequence[Ids]) -> list[str]:
        """What the model writes after each prompt, greedily, a dozen tokens at most."""
        import torch

        from berdseye.retrieval.encoders.running import alone

        out = [""] * len(prompts)
        for places in by_length([len(p) for p in prompts], _BATCH, _BATCH_TOKENS):
            ids, mask = self._padded([prompts[at] for at in places])
            with alone(self._lock), torch.inference_mode():
                found = self.model.generate(
                    input_ids=ids, attention_mask=mask, max_new_tokens=_WRITTEN, do_sample=False,
                    temperature=None, top_p=None, top_k=None, pad_token_id=self.tokenizer.pad_token_id,
                )  # fmt: skip
            new = found if self.encoder_decoder else found[:, ids.shape[1] :]
            for at, text in zip(places, self.tokenizer.batch_decode(new, skip_special_tokens=True), strict=True):
                out[at] = text
        return out

    def _first_token_odds(self, prompts: Sequence[Ids], first: Ids, second: Ids) -> Doubles:
        odds = np.zeros(len(prompts))
        for places in by_length([len(p) for p in prompts], _BATCH, _BATCH_TOKENS):
            logits = self._logits([(prompts[at], []) for at in places], 0)[:, -1].double()
            odds[places] = (logits[:, first].logsumexp(-1) - logits[:, second].logsumexp(-1)).cpu().numpy()
        return odds

    def _logits(self, pairs: Sequence[tuple[Ids, Ids]], longest: int) -> Any:
        """What the model expects before each token of the second texts, `[n, longest, n_tokens]`, and without any, next.

        An encoder-decoder's rows begin with the first token of the second text, others end with its last.
        """
        import torch

        from berdseye.retrieval.encoders.running import alone

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
            # The last token is fed too, since the row before each token is what is read.
            ids, mask = self._padded([prompt + answer for prompt, answer in pairs])
            positions = (mask.cumsum(-1) - 1).clamp(min=0)
            inputs = {"input_ids": ids, "attention_mask": mask, "position_ids": positions, "use_cache": False}
            inputs["logits_to_keep"] = longest + 1
        with alone(self._lock), torch.inference_mode():
            logits = self.model(**inputs).logits
        if self.encoder_decoder:
            return logits
        return logits[:, -1:] if longest == 0 else logits[:, -longest - 1 : -1]

    def _padded(self, rows: Sequence[Ids]) -> tuple[Any, Any]:
        """Token ids and their mask, int64[n, longest], padded before a text that goes on, and after one that is encoded."""
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
    """The model in memory, and one lock for all that ask it; the one used last stays there."""
    key = (model.model, *model.made_of)
    with _OPENING:
        if key not in _OPEN:
            _OPEN.clear()
            _OPEN[key] = Answerer(model)
        return _OPEN[key]


def spellings(tokenizer: Any, answer: str) -> Ids:
    """Ids of the single tokens that are the answer in one of its spellings, sorted; empty where there are none."""
    words = {answer, answer.lower(), answer.upper(), answer.capitalize()}
    tried = [tokenizer(blank + word, add_special_tokens=False)["input_ids"] for word in words for blank in ("", " ")]
    return sorted({ids[0] for ids in tried if len(ids) == 1 and ids[0] != tokenizer.unk_token_id})


def finite(found: Doubles, name: str) -> Floats:
    """The numbers as float32; raises `BadInputError` where one is none."""
    if not np.isfinite(found).all():
        raise BadInputError(
            f"{name} gives numbers that are not finite.",
            hint="Its weights may be damaged, or too large for its precision.",
        )
    return np.asarray(found, dtype=np.float32)
