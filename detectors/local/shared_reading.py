"""Reading many prompts with a causal language model, each shared beginning once.

The prompts about one passage and several perspectives begin with the same instruction and the same passage. The instruction is
read once for all prompts, and a passage once for all of its perspectives.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from berdseye.data.language_models.prefixes import Family, families, read_prefix
from berdseye.detectors.local.windows import by_length

Ids = list[int]


class _Past(NamedTuple):
    """Keys and values of the same number of columns for each of n sequences, and which columns count, int64[n, n_columns]."""

    cache: Any
    mask: Any


def shared_logits(
    model: Any, pairs: Sequence[tuple[Ids, Ids]], most: int, most_tokens: int
) -> Iterator[tuple[list[int], Any]] | None:
    """Return the logits for the tokens of each second text after the first, in batches, each with the pairs' positions.

    Logits are float[n, longest, n_vocabulary], or float[n, 1, n_vocabulary] for the next token if all second texts are empty, and
    the rows end with the last token of the second text. A batch has at most `most` beginnings and, if it has several,
    `most_tokens` tokens. Returns None if no two prompts share a beginning, or the model cannot reuse one.
    """
    rows = [first + second for first, second in pairs]
    # The last token of the first text is read with the second text, which it predicts.
    everywhere, found = families(rows, [max(0, len(first) - 1) for first, _ in pairs])
    if not everywhere and all(len(family.members) == 1 for family in found):
        return None
    start = read_prefix(model, rows[0][: max(1, everywhere)])
    if start is None or any(start.cache.is_sliding):  # padding between the parts would fill a sliding window
        return None
    return _Reader(model, rows, [len(second) for _, second in pairs], start.cache, everywhere).read(
        found, most, most_tokens
    )


class _Reader:
    """Reads rows that share their first `everywhere` tokens, whose keys and values are in `start`."""

    def __init__(self, model: Any, rows: Sequence[Ids], answers: Sequence[int], start: Any, everywhere: int) -> None:
        self.model, self.rows, self.answers, self.start, self.everywhere = model, rows, answers, start, everywhere

    def read(self, found: Sequence[Family], most: int, most_tokens: int) -> Iterator[tuple[list[int], Any]]:
        alone = [family.members[0] for family in found if len(family.members) == 1]
        for places in by_length([len(self.rows[at]) for at in alone], most, most_tokens):
            members = [alone[place] for place in places]
            yield members, self._ends(members, self.everywhere, self._from_start(len(members)))
        # Keys and values of a beginning are copied for each of its members.
        company = [family for family in found if len(family.members) > 1]
        for places in by_length([self._tokens(family) for family in company], most, most_tokens):
            yield from self._company([company[place] for place in places])

    def _company(self, batch: Sequence[Family]) -> Iterator[tuple[list[int], Any]]:
        import torch

        beginnings = [self.rows[family.members[0]][self.everywhere : family.shared] for family in batch]
        past = self._from_start(len(batch))
        ids, mask = self._padded(beginnings, past)
        cache = self._run(ids, mask, past, 1).past_key_values
        owners = torch.tensor([n for n, family in enumerate(batch) for _ in family.members], device=mask.device)
        cache.batch_select_indices(owners)
        members = [member for family in batch for member in family.members]
        shared = [family.shared for family in batch for _ in family.members]
        yield members, self._ends(members, shared, _Past(cache, mask[owners]))

    def _ends(self, members: Sequence[int], shared: int | Sequence[int], past: _Past | None) -> Any:
        """Return the logits of the rest of each row after its shared tokens."""
        starts = [shared] * len(members) if isinstance(shared, int) else shared
        ids, mask = self._padded([self.rows[at][start:] for at, start in zip(members, starts, strict=True)], past)
        longest = max(self.answers[at] for at in members)
        logits = self._run(ids, mask, past, longest + 1).logits
        return logits[:, -1:] if longest == 0 else logits[:, -longest - 1 : -1]

    def _from_start(self, n: int) -> _Past | None:
        import torch

        if not self.everywhere:
            return None
        cache = copy.deepcopy(self.start)
        cache.batch_repeat_interleave(n)
        return _Past(cache, torch.ones((n, self.everywhere), dtype=torch.int64, device=self.model.device))

    def _padded(self, rows: Sequence[Ids], past: _Past | None) -> tuple[Any, Any]:
        """Return token ids, padded before the text, and the mask of all columns up to them."""
        import torch

        width = max(map(len, rows))
        ids, mask = torch.zeros((2, len(rows), width), dtype=torch.int64)
        for at, row in enumerate(rows):
            ids[at, width - len(row) :] = torch.tensor(row)
            mask[at, width - len(row) :] = 1
        ids, mask = ids.to(self.model.device), mask.to(self.model.device)
        return ids, mask if past is None else torch.cat([past.mask, mask], dim=1)

    def _run(self, ids: Any, mask: Any, past: _Past | None, kept: int) -> Any:
        positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        return self.model(
            input_ids=ids, attention_mask=mask, position_ids=positions, logits_to_keep=kept, use_cache=True,
            past_key_values=None if past is None else past.cache,
        )  # fmt: skip

    def _tokens(self, family: Family) -> int:
        return sum(len(self.rows[member]) for member in family.members)
