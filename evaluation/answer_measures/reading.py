"""The texts that an evaluator reads for Perspective Diversity, as in the paper and as in the released script, and the wraps: the
instructions around an answer that make the evaluator restate it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.language_models.local import LocalModel, context_window
from berdseye.data.language_models.protocol import Message
from berdseye.data.records import Perspective
from berdseye.evaluation.answer_measures.losses import Ids

ANSWER = "[Answer]"
DEFAULT_WRAP = "restate"
WRAPS: Mapping[str, str] = {
    "restate": f"{ANSWER}\n\nPlease restate.",
    "bare": ANSWER,
    "again": f"{ANSWER}\n\nNow say this once more in other words.",
    "views": f"{ANSWER}\n\nWhich points of view does this hold? Write them out.",
    "summary": f"What follows is an answer to a question.\n\n{ANSWER}\n\nSum it up.",
    "quote": f'Somebody wrote: "{ANSWER}"\n\nTell me what they said.',
}
"""The first is the instruction of DebateQA's definition, the second its table 12's response without an instruction; the others
were written for Berdseye, for the test of stability. A file has a paper's own wording."""
_UNKNOWN_WINDOW = 1_000_000
_SENTENCE_ENDS = (".", "!", "?", "…", ":", ";", '"', "”")
_SEPARATOR = "\n\n"
_TOGETHER = 20


def wrap_text(name: str) -> str:
    """Return the text of a wrap, with `[Answer]`, given its name or a file.

    Raises `UnknownNameError` with the closest names, and `BadInputError` for a file without exactly one `[Answer]`.
    """
    if name in WRAPS:
        return WRAPS[name]
    path = Path(name)
    if path.suffix != ".txt":
        raise UnknownNameError("wrap", name, [*WRAPS, "FILE.txt"])
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"The wrap cannot be read: {error}.", where=path, hint="Give a UTF-8 text.") from error
    if text.count(ANSWER) != 1:
        raise BadInputError(
            f"The wrap must contain {ANSWER} exactly once.",
            where=path,
            hint="Write it where the answer should be inserted.",
        )
    return text


class Reading(NamedTuple):
    """Token sequences, one per partial answer; each is scored from its start on, and its loss is divided by its count.

    `cut`: whether the answer or a partial answer was too long for the model's window and lost its end.
    """

    sequences: list[Ids]
    starts: list[int]
    counts: list[int]
    cut: bool


class Reader:
    """The tokenizer and window of a loaded local model, and the layout of texts for it."""

    def __init__(self, model: LocalModel) -> None:
        self.model = model
        self.tokenizer, network = model.load()
        self.window = context_window(network.config, self.tokenizer) or _UNKNOWN_WINDOW

    def paper(self, answer: str, partial_answers: Sequence[Perspective], wrap: str) -> Reading:
        """Lay out the wrapped answer as a turn of a chat and a partial answer as the reply; only the reply counts.

        A model without a chat template reads the turn, a blank line, and the partial answer. An answer that is too long loses its
        end until the longest partial answer of its question fits into the window; a partial answer longer than half the window
        loses its end.
        """
        most = self.window // 2
        tails = [self._plain(joined(partial)) for partial in partial_answers]
        cut = any(len(tail) > most for tail in tails)
        tails = [tail[:most] for tail in tails]
        room = self.window - max((len(tail) for tail in tails), default=0)
        head, shortened = self._head(answer, wrap, room)
        return Reading(
            [head + tail for tail in tails], [len(head)] * len(tails), [len(t) for t in tails], cut or shortened
        )

    def released(self, answer: str, partial_answers: Sequence[Perspective]) -> Reading:
        """Lay out texts as scripts/eval_PD.py of the released code does (determined by reading it).

        The chat has only the answer, without an instruction or the beginning of a reply; view and explanation are joined by '. ';
        the text is tokenised as a whole and cut at its end to the model's length. The loss counts the tokens of the partial
        answer and is divided by the number of *all* tokens except the first, including those of the answer, so a long answer
        lowers it. The tokens of the answer are counted without the special token that some tokenizers put first, and from the
        left edge of the padded batch (20 partial answers), so with a tokenizer that pads on the left, the ends of answers are
        scored too. A model without a chat template reads the answer and its end-of-text token, as GPT-2 did with the libraries of
        that time.
        """
        head = self._released_head(answer)
        texts = [head + f"{partial.text}. {partial.explanation}" for partial in partial_answers]
        sequences = [list(ids) for ids in self.tokenizer(texts, verbose=False)["input_ids"]] if texts else []
        cut = any(len(ids) > self.window for ids in sequences)
        sequences = [ids[: self.window] for ids in sequences]
        masked = len(self._plain(head))
        left = self._pads_left()
        starts = []
        for place, ids in enumerate(sequences):
            batch = sequences[place - place % _TOGETHER :][:_TOGETHER]
            pads = max(map(len, batch)) - len(ids) if left else 0
            starts.append(max(1, min(len(ids), masked - pads)))
        return Reading(sequences, starts, [max(1, len(ids) - 1) for ids in sequences], cut)

    def _head(self, answer: str, wrap: str, room: int) -> tuple[Ids, bool]:
        """Return the wrapped answer in at most `room` tokens, and whether it was shortened."""
        kept, ids = answer, self._chat(wrap.replace(ANSWER, answer))
        while len(ids) > room:
            if not kept:
                raise BadInputError(
                    f"The window of {self.window} tokens of {self.model.name} is too small for a partial answer and its wrap.",
                    hint="Use a model with a larger window.",
                )
            offsets = self.tokenizer(kept, add_special_tokens=False, return_offsets_mapping=True, verbose=False)[
                "offset_mapping"
            ]
            left = len(offsets) - (len(ids) - room)
            kept = (
                kept[: offsets[left - 1][1]]
                if left > 0 and offsets[left - 1][1] < len(kept)
                else kept[: len(kept) // 2]
            )
            kept = kept if left > 0 else ""
            ids = self._chat(wrap.replace(ANSWER, kept))
        return ids, kept != answer

    def _chat(self, content: str) -> Ids:
        written = self.model.written((Message("user", content),))
        if self.tokenizer.chat_template is None:
            return list(self.tokenizer(written + _SEPARATOR, verbose=False)["input_ids"])
        return self._plain(written)

    def _released_head(self, answer: str) -> str:
        if self.tokenizer.chat_template is None:
            return answer + str(self.tokenizer.eos_token or "")
        turn = [{"role": "user", "content": answer}]
        return str(self.tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=False))

    def _plain(self, text: str) -> Ids:
        return list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _pads_left(self) -> bool:
        """Whether the tokenizer pads on the left by its own configuration; Berdseye always loads it so."""
        from transformers.models.auto.tokenization_auto import get_tokenizer_config

        location = self.model.location
        if isinstance(location, Path) and location.is_file():
            return False
        config: dict[str, Any] = get_tokenizer_config(str(location))
        return config.get("padding_side") == "left"


def joined(partial: Perspective) -> str:
    """Return point of view and explanation as one text, with the point of view as a separate sentence."""
    view, explanation = partial.text.strip(), partial.explanation.strip()
    if not explanation or not view:
        return view or explanation
    return f"{view} {explanation}" if view.endswith(_SENTENCE_ENDS) else f"{view}. {explanation}"
