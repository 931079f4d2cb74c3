"""Judged pairs: pairs with reference labels, from people, gold labels or a labelled file, on which detectors are measured; and
the questions and passages from which a detector has learned, so that they can be left out of its evaluation.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.training_sets.labelling import LabellingRules, decided
from berdseye.annotation.training_sets.store import list_sets
from berdseye.data.datasets.labelled_pairs import LabelledPair, read_labelled_pairs
from berdseye.data.datasets.stored import GOLD, load_dataset, same_question, split_unit
from berdseye.data.errors import BerdseyeError, StaleError
from berdseye.data.grammar import parse
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.runs.pairs import run_keys
from berdseye.data.runs.stored import list_runs, load_run
from berdseye.data.texts.passages import clean
from berdseye.data.workspace import Workspace
from berdseye.detectors.trained import list_trained

GROUPINGS = ("dataset", "corpus", "stance")
"""The columns by which rows are grouped, if they have values."""
COLUMNS = (
    "pair", "supports", "question", "perspective", "stance", "corpus", "title", "passage", "dataset", "question_id", "url",
)  # fmt: skip
PEOPLE, MADE_UP = "people's judgments", "judgments of people and of simulated annotators"
_DEPTH = 100


def read_judged_pairs(paths: Sequence[Path]) -> list[LabelledPair]:
    """Read the pairs of all files, in order; raises `BadInputError` with file and line for an invalid row."""
    return [row for path in paths for row in read_labelled_pairs(path)]


def rows_to_test_on(rows: Sequence[LabelledPair]) -> list[LabelledPair]:
    """Return the rows of the split test; all rows if no row names a split."""
    return [row for row in rows if row.split == "test"] if any(row.split for row in rows) else list(rows)


def rows_to_tune_on(rows: Sequence[LabelledPair]) -> list[LabelledPair]:
    """Return the rows of the split dev; all rows if no row names a split."""
    return [row for row in rows if row.split == "dev"] if any(row.split for row in rows) else list(rows)


def intervals_over(rows: Sequence[LabelledPair]) -> list[str] | None:
    """Return the units of the bootstrap: questions, or the row itself if it has no question; None if no row has a question."""
    if not any(row.question for row in rows):
        return None
    return [f"{row.dataset}\0{row.question}" if row.question else f"\0{i}" for i, row in enumerate(rows)]


class Learned(NamedTuple):
    """Questions (`same_question`) and passages of the train and dev splits of the training sets `sets`, from which a detector has
    learned; `elsewhere` names its training data that are not in this workspace and therefore unknown."""

    questions: frozenset[str]
    passages: frozenset[str]
    sets: tuple[str, ...]
    elsewhere: tuple[str, ...]

    def seen(self, table: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Return which rows of `JudgedPairs.table` have a question or a passage from which the detector has learned, bool[n]."""
        if not self.sets:
            return np.zeros(len(table), dtype=bool)
        questions = table["question"].where(table["question"] != "", table["perspective"]).map(same_question)
        return np.asarray(
            questions.isin(self.questions) | table["passage"].map(_same_words).isin(self.passages), dtype=bool
        )


def learned(workspace: Workspace, detector: str) -> Learned:
    """Return what a detector has learned from, including the detectors it started from and the parts of a mean."""
    cards = {t.detector: t.card for t in list_trained(workspace)}
    sets = {(s.id, s.hash): s for s in list_sets(workspace)}
    questions: set[str] = set()
    passages: set[str] = set()
    used: dict[str, None] = {}
    elsewhere: dict[str, None] = {}
    waiting = [detector]
    while waiting:
        name = waiting.pop()
        waiting += _parts(name)
        if (card := cards.pop(name, None)) is None:
            continue
        waiting += _bases(card)
        training_set = sets.get((str(card.get("data")), str(card.get("data_hash"))))
        if training_set is None:
            elsewhere[str(card.get("data") or "data that its card does not name")] = None
            continue
        used[training_set.id] = None
        rows = [pair for pair in training_set.pairs() if pair.split != "test"]
        questions |= {split_unit(pair.question, pair.pair.perspective) for pair in rows}
        passages |= {_same_words(pair.pair.passage) for pair in rows}
    return Learned(frozenset(questions), frozenset(passages), tuple(used), tuple(elsewhere))


def _same_words(passage: str) -> str:
    return same_question(clean(passage))


def _bases(card: dict[str, Any]) -> list[str]:
    base = card.get("base")
    return [str(b) for b in base] if isinstance(base, list) else [str(base)] if base else []


def _parts(name: str) -> list[str]:
    """Return the detectors of a mean; empty for other detectors."""
    try:
        (call,) = parse(name)
    except (BerdseyeError, ValueError):  # a base may be a model's name, or a folder
        return []
    return [str(part) for part in call.args] if call.name == "mean" else []


@dataclass(frozen=True)
class JudgedPairs:
    """Pairs with reference labels: one row per pair with the columns `COLUMNS`; `supports` is the label, `name` says where the
    labels come from, and `left_out` what was left out."""

    name: str
    table: pd.DataFrame
    left_out: str = ""

    @property
    def truth(self) -> npt.NDArray[np.bool_]:
        """The labels, bool[n]."""
        return self.table["supports"].to_numpy(dtype=bool)

    @cached_property
    def groups(self) -> npt.NDArray[np.int64]:
        """The units of the bootstrap: the number of each row's question, int64[n]; a row without a question is its own unit."""
        known = {text: same_question(text) for text in self.table["question"].unique()}
        names = [
            f"{dataset}\0{known[question]}" if question else f"\0{row}"
            for row, (dataset, question) in enumerate(zip(self.table["dataset"], self.table["question"], strict=True))
        ]
        return np.asarray(pd.factorize(np.array(names, dtype=object))[0], dtype=np.int64)

    @cached_property
    def hash(self) -> str:
        """A hash of the pairs and their labels, independent of their order: 12 hex digits."""
        rows = sorted(f"{key} {int(label)}" for key, label in zip(self.table["pair"], self.truth, strict=True))
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:12]

    def pairs(self, places: Sequence[int]) -> list[Pair]:
        """Return the pairs at some places as a detector takes them."""
        rows = self.table.iloc[list(places)]
        return [Pair(*texts) for texts in zip(rows["passage"], rows["perspective"], rows["title"], strict=True)]

    def part(self, kept: npt.NDArray[np.bool_]) -> "JudgedPairs":
        """Return the rows of a mask bool[n]."""
        return JudgedPairs(self.name, self.table[kept].reset_index(drop=True), self.left_out)


def of_people(judgments: Judgments, *, demo: bool = False) -> JudgedPairs:
    """Return every pair that people judged, with its adjudicated label or else the majority of votes that are not 'unsure'.

    With `demo`, votes of the demo's simulated annotators count too.
    """
    labels = decided(judgments.frame(), LabellingRules(demo=demo), adjudicated_labels(judgments))
    left_out = ", ".join(f"{n:,} {reason}" for reason, n in labels.left_out.items())
    table = labels.table.assign(supports=labels.table["label"] == 1)
    return JudgedPairs(MADE_UP if demo else PEOPLE, _complete(table), left_out)


def of_gold(workspace: Workspace) -> JudgedPairs:
    """Return every pair with a gold label among the first 100 passages of the stored runs, without duplicates.

    Runs that no longer fit their data set or corpus are left out and named in `left_out`.
    """
    rows: dict[str, dict[str, object]] = {}
    stale: list[str] = []
    if (LabelStore(workspace).folder / GOLD).exists():
        for manifest in list_runs(workspace):
            try:
                rows |= {str(row["pair"]): row for row in _gold_rows(workspace, manifest.name, set(rows))}
            except StaleError:
                stale.append(manifest.name)
    left_out = f"runs that are out of date: {', '.join(stale)}" if stale else ""
    return JudgedPairs(f"{GOLD} labels of the stored runs", _complete(pd.DataFrame(list(rows.values()))), left_out)


def of_rows(name: str, rows: Sequence[LabelledPair]) -> JudgedPairs:
    """Return the rows of a labelled file as judged pairs with the name of the file."""
    return JudgedPairs(
        name,
        _complete(
            pd.DataFrame(
                {
                    "pair": row.pair.key,
                    "supports": row.supports,
                    "question": row.question,
                    "perspective": row.pair.perspective,
                    "stance": row.stance,
                    "corpus": row.corpus,
                    "title": row.pair.title,
                    "passage": row.pair.passage,
                    "dataset": row.dataset,
                }
                for row in rows
            )
        ),
    )


def _gold_rows(workspace: Workspace, name: str, known: set[str]) -> Iterator[dict[str, object]]:
    run = load_run(workspace, name)
    questions = load_dataset(workspace, run.manifest.dataset)
    corpus, keys = run_keys(workspace, run, questions, _DEPTH)
    places = np.argwhere(keys != b"")
    flat = keys[tuple(places.T)].astype(str)
    labels = LabelStore(workspace).get(GOLD, flat.tolist())
    new = [n for n in np.flatnonzero(~np.isnan(labels)).tolist() if str(flat[n]) not in known]
    ids = [int(run.ids[places[n][0], places[n][1]]) for n in new]
    for n, passage in zip(new, corpus.passages(ids), strict=True):
        question = questions[places[n][0]]
        perspective = question.perspectives[places[n][2]]
        yield {
            "pair": str(flat[n]),
            "supports": bool(labels[n] >= 0.5),
            "question": question.text,
            "perspective": perspective.text,
            "stance": perspective.stance or "",
            "corpus": corpus.name,
            "title": passage.title,
            "passage": passage.text,
            "dataset": question.dataset,
            "question_id": question.id,
            "url": passage.url,
        }


def _complete(table: pd.DataFrame) -> pd.DataFrame:
    """Add missing columns, in the order of `COLUMNS`; unknown values are empty texts."""
    complete = table.reindex(columns=list(COLUMNS)).reset_index(drop=True)
    texts = [name for name in COLUMNS if name != "supports"]
    complete[texts] = complete[texts].astype(object).where(complete[texts].notna(), "")
    return complete.astype({"supports": bool})
