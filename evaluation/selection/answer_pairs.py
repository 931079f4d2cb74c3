"""Blind pairs of the answers of systems, out to people and back as preferences between the systems (DebateQA, appendix B.1).

The paper compares five systems on 100 questions: the 10 pairs of answers to each question, judged by three people each.
A pair shows two texts, without the systems that wrote them. A batch of such pairs records the sets of answers that they come
from, and people's judgments are assigned to systems by the texts of these sets.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

from berdseye.annotation.batches.progress import batch_frame
from berdseye.annotation.batches.stored import Batch, Item
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.data.answers import AnswerSet, named_answers
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.files.atomic import write_bytes
from berdseye.data.texts.passages import clean
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.people import Preference, Winner

ANSWERS = "answers"
"""The name given as the corpus of a pair of answers."""
QUESTIONS = 100
"""The number of questions whose answers the paper's annotators compare."""
ANSWER_SETS, DATASET = "answer_sets", "dataset"
"""The entries of a batch's recipe with the names of the sets of answers, and with their data set."""
_EMPTY = "(no answer)"
_WINNERS: Mapping[tuple[str, bool], Winner] = {
    ("first", True): "a", ("second", True): "b", ("first", False): "b", ("second", False): "a",
}  # fmt: skip


class AnswerPairs(NamedTuple):
    """The blind pairs, the number of questions, and the number of pairs left out because both answers are equal."""

    items: list[Item]
    questions: int
    equal: int

    @property
    def repeated(self) -> int:
        """How many pairs have the texts of an earlier one, such as two systems' usual refusals.

        A batch holds a pair of texts once, so that people judge it for its first question alone.
        """
        return len(self.items) - len({(item.record.passage, item.record.perspective) for item in self.items})

    def recipe(self, sets: Iterable[str], dataset: str) -> dict[str, Any]:
        """Return the recipe of a batch of these pairs."""
        counts = {"questions": self.questions, "equal": self.equal, "repeated": self.repeated}
        return {ANSWER_SETS: sorted(set(sets)), DATASET: dataset, **counts}


def answer_pairs(
    workspace: Workspace, dataset: str, names: Sequence[str], *, questions: int = QUESTIONS, seed: int = 0
) -> AnswerPairs:
    """Pair the answers of every two systems to `questions` drawn questions (or all, if there are fewer).

    `names` are stored sets of answers or JSONL files. Questions that a system does not answer are not drawn; an empty answer
    counts as one. The seed decides the questions and which answer of a pair is shown first, in whatever order sets are named.
    Raises `BadInputError` for fewer than two sets, for sets of other data sets, and if no question has answers of all sets.
    """
    sets = _sets(workspace, dataset, names)
    texts = {answers.name: answers.texts for answers in sets}
    asked = {q.id: q for q in load_dataset(workspace, dataset)}
    shared = sorted(set(asked).intersection(*texts.values()))
    if not shared:
        raise BadInputError(
            f"No question of '{dataset}' has an answer in every one of the {len(sets)} sets.",
            hint="Name other sets of answers.",
        )
    drawn = Random(f"{seed} {dataset}").sample(shared, min(questions, len(shared)))
    items, equal = [], 0
    for question in (asked[number] for number in drawn):
        for systems in combinations(sorted(texts), 2):
            both = sorted(_shown(texts[system][question.id]) for system in systems)
            if both[0] == both[1]:
                equal += 1
                continue
            if Random(f"{seed} {question.id} {both}").random() < 0.5:
                both.reverse()
            record = PairRecord(dataset, question.id, question.text, both[1], None, ANSWERS, "", both[0])
            items.append(Item(record))
    if not items:
        raise BadInputError("The sets have equal answers to every question.", hint="Name other sets of answers.")
    return AnswerPairs(items, len(drawn), equal)


def answers_dataset(workspace: Workspace, names: Sequence[str], dataset: str | None = None) -> str:
    """Return the data set that the stored sets of answers belong to, unless one is given.

    Raises `BadInputError` if there are several, or none because all names are files.
    """
    if dataset is not None:
        return dataset
    found = {a.dataset for name in names if not _is_file(name) for a in named_answers(workspace, "", [name])}
    if len(found) != 1:
        raise BadInputError(
            f"The answers belong to {len(found)} data sets{': ' if found else ''}{', '.join(sorted(found))}.",
            hint="Name sets of one data set, or name the data set of files of answers with --dataset.",
        )
    return found.pop()


def batch_preferences(workspace: Workspace, judgments: Judgments, batch: Batch) -> list[Preference]:
    """Return every person's preferences in a batch of `answer_pairs` as preferences between systems.

    A judgment of two texts counts for every two systems that wrote them. Raises `BadInputError` for a batch of other pairs,
    `StaleError` if a set of answers no longer has a text that people judged.
    """
    if ANSWER_SETS not in batch.recipe:
        raise BadInputError(
            f"The batch '{batch.name}' does not compare stored sets of answers.",
            hint="Create one with `berdseye batch create NAME --answer-set ONE --answer-set OTHER`.",
        )
    writers: dict[tuple[str, str], list[str]] = {}
    for answers in _sets(workspace, batch.recipe[DATASET], batch.recipe[ANSWER_SETS]):
        for question, text in answers.texts.items():
            writers.setdefault((question, _shown(text)), []).append(answers.name)
    preferences = []
    rows = batch_frame(judgments, batch).dropna(subset=["verdict"])
    for row in cast(list[dict[str, Any]], rows.to_dict("records")):
        first, second = (writers.get((row["question_id"], row[side]), []) for side in ("passage", "perspective"))
        if not first or not second:
            raise StaleError(
                f"An answer to question '{row['question_id']}' that {row['annotator']} judged is in no set of answers.",
                hint=f"Restore the sets {', '.join(batch.recipe[ANSWER_SETS])} as they were when the batch was created.",
            )
        for one in first:
            for other in second:
                a, b = sorted((one, other))
                winner = _WINNERS.get((row["verdict"], a == one), "tie")
                preferences.append(Preference(row["question_id"], a, b, winner, row["annotator"]))
    return preferences


def write_preferences(path: Path, preferences: Sequence[Preference]) -> None:
    """Write preferences as JSON Lines, which `read_preferences` and `berdseye study debateqa-meta --preferences` read."""
    rows = [{"id": p.question_id, **{key: getattr(p, key) for key in Preference._fields[1:]}} for p in preferences]
    write_bytes(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode("utf-8"))


def _sets(workspace: Workspace, dataset: str, names: Sequence[str]) -> list[AnswerSet]:
    """Return the sets of answers, sorted by name, each once."""
    sets = [named_answers(workspace, dataset, [name])[0] for name in sorted(set(names))]
    systems = [answers.name for answers in sets]
    if len(sets) < 2 or len(set(systems)) < len(sets):
        raise BadInputError(
            f"Pairs need two sets of answers with different names, got {', '.join(systems) or 'none'}.",
            hint="Name each set with --answer-set; a file has the name of its stem.",
        )
    if other := [answers for answers in sets if answers.dataset != dataset]:
        raise BadInputError(
            f"The answers '{other[0].name}' belong to '{other[0].dataset}', and not to '{dataset}'.",
            hint="Name sets of one data set.",
        )
    return sorted(sets, key=lambda answers: answers.name)


def _shown(text: str) -> str:
    return clean(text) or _EMPTY


def _is_file(name: str) -> bool:
    return Path(name).suffix in (".jsonl", ".json")
