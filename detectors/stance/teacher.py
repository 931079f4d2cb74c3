"""Distillation of `stance` from a larger network, the teacher, which was trained on the same labels.

The teacher's probabilities count as much as the labels, so that the student also learns from passages without labels
(`berdseye.detectors.stance.unlabelled`). The student's states count too, as in TinyBERT (Jiao et al., Findings of EMNLP 2020),
without its attention maps. A student that was made of its teacher (`berdseye.detectors.stance.pruning`) should have the teacher's
states after every second layer. For one of another base, linear maps of its states after a third, two thirds and all of its
layers should give the teacher's there.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from berdseye.data.errors import BadInputError
from berdseye.detectors.stance.network import PADDING, Packed, PairTokenizer, StanceNetwork
from berdseye.detectors.stance.rounding import in_half

_TEACHER_WEIGHT = 0.5
_LEAST = 1e-3
_THIRDS = 3
LayerPairs = Sequence[tuple[int, int]]
"""Layers of a student, each with the layer of its teacher that it is compared with, counted from 0."""


class TeacherOutput(NamedTuple):
    """A teacher's output for packed perspectives: P of each stance, float32[n, 3], and its states after each of its layers,
    float[n_passages, length, width]."""

    probabilities: Tensor
    states: Sequence[Tensor]


class Teacher(nn.Module):
    """A copy of a trained network that reads what its student reads, in bfloat16 if `half`.

    `numbers`, int64[n_entries], are the numbers in the teacher's table of words of the entries of the student's; `layers` says
    which states are compared, and `of_another_base` that linear maps of the student's are.
    """

    numbers: Tensor

    def __init__(
        self,
        network: StanceNetwork,
        numbers: Tensor,
        layers: LayerPairs,
        *,
        of_another_base: bool = False,
        half: bool = False,
    ) -> None:
        super().__init__()
        self.register_buffer("numbers", numbers)
        copied = deepcopy(network).requires_grad_(False)
        self.network = in_half(copied) if half else copied
        self.layers, self.of_another_base = layers, of_another_base

    @torch.no_grad()
    def forward(self, packed: Packed) -> TeacherOutput:
        """Return the teacher's output for a student's batch."""
        logits, states = self.network.read(packed._replace(ids=self.numbers[packed.ids]))
        return TeacherOutput(torch.softmax(logits, dim=-1), states)

    def state_loss(self, width: int) -> "StateLoss":
        """Return the loss for the states of a student of this width."""
        return StateLoss(self.layers, (width, self.network.width) if self.of_another_base else None)


class StateLoss(nn.Module):
    """How far a student's states are from its teacher's, after linear maps that are learned with the student.

    The maps lead from the first of the `widths` to the second; without widths, the states are compared as they are.
    """

    def __init__(self, layers: LayerPairs, widths: tuple[int, int] | None = None) -> None:
        super().__init__()
        self.layers = layers
        self.maps = nn.ModuleList(nn.Identity() if widths is None else nn.Linear(*widths) for _ in layers)

    def forward(self, states: Sequence[Tensor], output: TeacherOutput, packed: Packed) -> Tensor:
        """Return the mean squared difference of mapped states and the teacher's, each normalised; padding does not count."""
        there = (packed.segments != PADDING).float()
        differences = [
            (_normed(change(states[mine].float())) - _normed(output.states[theirs].float())).square().mean(-1)
            for change, (mine, theirs) in zip(self.maps, self.layers, strict=True)
        ]
        return (torch.stack(differences).mean(0) * there).sum() / there.sum()


def teacher_of_its_part(network: StanceNetwork, *, half: bool = False) -> Teacher:
    """Return a network as the teacher of one that was made of it, with as many layers.

    The states after every second layer are compared, the last one's among them.
    """
    last = len(network.layers) - 1
    layers = [(place, place) for place in range(last % 2, last + 1, 2)]
    return Teacher(network, torch.arange(network.words.num_embeddings), layers, half=half)


def earlier_self(network: StanceNetwork, *, half: bool = False) -> Teacher:
    """Return a network as it is now as the teacher of itself, which keeps it from forgetting; states are not compared."""
    return Teacher(network, torch.arange(network.words.num_embeddings), (), half=half)


def teacher_of_another_base(
    network: StanceNetwork, student: StanceNetwork, numbers: Tensor, *, half: bool = False
) -> Teacher:
    """Return a network as the teacher of one of another base; `numbers` are the `teachers_numbers` of their tokenizers."""
    layers = thirds(len(student.layers), len(network.layers))
    return Teacher(network, numbers, layers, of_another_base=True, half=half)


def teachers_numbers(teachers: PairTokenizer, students: PairTokenizer) -> Tensor:
    """Return the number that a teacher's table has for each entry of a student's, int64[n_entries].

    The two tables of words must have the same entries, under whatever numbers, so that their texts have the same tokens. Raises
    `BadInputError` if an entry is not in the teacher's table.
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


def thirds(students: int, teachers: int) -> list[tuple[int, int]]:
    """Return the last layers of each third of a student's layers and of a teacher's, which have so many."""
    return [
        (max(1, students * part // _THIRDS) - 1, max(1, teachers * part // _THIRDS) - 1)
        for part in range(1, _THIRDS + 1)
    ]


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
