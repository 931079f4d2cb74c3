"""Distillation of `stance` from a larger network, the teacher, which was trained on the same labels.

The teacher's probabilities count as much as the labels, so that the student also learns from passages without labels
(`near_examples`). The student's states count too: linear maps of those after a third, two thirds and all of its layers should
give the teacher's states there, as in TinyBERT (Jiao et al., Findings of EMNLP 2020), without its attention maps.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from berdseye.data.errors import BadInputError
from berdseye.detectors.stance.network import PADDING, Packed, PairTokenizer, StanceNetwork

_TEACHER_WEIGHT = 0.5
_LEAST = 1e-3
_THIRDS = 3


class TeacherOutput(NamedTuple):
    """A teacher's output for packed perspectives: P of each stance, float32[n, 3], and its states after each third of its
    layers, float[n_passages, length, width]."""

    probabilities: Tensor
    states: Sequence[Tensor]


class Teacher(nn.Module):
    """A copy of a trained network that reads what a student reads, in bfloat16 if `half`.

    The two tables of words must have the same entries, under whatever numbers, so that their texts have the same tokens. Raises
    `BadInputError` if the student's table has others.
    """

    numbers: Tensor

    def __init__(
        self, network: StanceNetwork, own: PairTokenizer, students: PairTokenizer, *, half: bool = False
    ) -> None:
        super().__init__()
        self.register_buffer("numbers", teachers_numbers(own, students))
        copied = deepcopy(network)
        self.network = rounded(copied) if half else copied
        self.width = network.width

    @torch.no_grad()
    def forward(self, packed: Packed) -> TeacherOutput:
        """Return the teacher's output for a student's batch."""
        logits, states = self.network.read(packed._replace(ids=self.numbers[packed.ids]))
        return TeacherOutput(torch.softmax(logits, dim=-1), thirds(states))


class StateLoss(nn.Module):
    """How far a student's states are from its teacher's, after linear maps that are learned with the student."""

    def __init__(self, width: int, teachers: int) -> None:
        super().__init__()
        self.maps = nn.ModuleList(nn.Linear(width, teachers) for _ in range(_THIRDS))

    def forward(self, states: Sequence[Tensor], output: TeacherOutput, packed: Packed) -> Tensor:
        """Return the mean squared difference of mapped states and the teacher's, each normalised; padding does not count."""
        there = packed.segments != PADDING
        losses = []
        for change, mine, theirs in zip(self.maps, thirds(states), output.states, strict=True):
            mapped = change(mine[there].float())
            losses.append((_normed(mapped) - _normed(theirs[there].float())).square().mean())
        return torch.stack(losses).mean()


def teachers_numbers(teachers: PairTokenizer, students: PairTokenizer) -> Tensor:
    """Return the number that a teacher's table has for each entry of a student's, int64[n_entries].

    Raises `BadInputError` if an entry is not in the teacher's table.
    """
    entries, found = students.tokenizer.get_vocab(), teachers.tokenizer.get_vocab()
    special = {students.first: teachers.first, students.last: teachers.last}
    if other := next((e for e, n in entries.items() if e not in found and n not in special), None):
        raise BadInputError(
            f"The teacher must have the words of its student, and has no “{other}”.",
            hint="Choose a teacher with the same table of words: all-mpnet-base-v2 has that of the uncased BERT models.",
        )
    numbers = torch.zeros(max(entries.values()) + 1, dtype=torch.long)
    for entry, number in entries.items():
        numbers[number] = special[number] if number in special else found[entry]
    return numbers


def thirds(states: Sequence[Tensor]) -> list[Tensor]:
    """Return the states after a third, two thirds and all of the layers."""
    return [states[len(states) * part // _THIRDS - 1] for part in range(1, _THIRDS + 1)]


def rounded(network: StanceNetwork) -> StanceNetwork:
    """Turn a network's encoder to bfloat16, and leave its head in full precision; returns the same network."""
    network.bfloat16()
    for parameter in network.head():
        parameter.data = parameter.data.float()
    return network


def targets(probabilities: Tensor, allowed: Tensor) -> Tensor:
    """Return the soft targets of a student, float32[n, 3], from a teacher's probabilities and the stances that labels allow,
    bool[n, 3].

    They are the mean of the teacher's probabilities and of the same ones limited to the allowed stances. Where one stance is
    allowed, the second part is the label.
    """
    agreed = (probabilities + _LEAST) * allowed
    return _TEACHER_WEIGHT * probabilities + (1 - _TEACHER_WEIGHT) * agreed / agreed.sum(-1, keepdim=True)


def soft_cross_entropy(logits: Tensor, wanted: Tensor) -> Tensor:
    """Return the mean cross-entropy of logits, float[n, 3], with wanted probabilities."""
    return -(wanted * torch.log_softmax(logits, dim=-1)).sum(-1).mean()


def _normed(x: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, x.shape[-1:])
