"""Pairs whose label is taken for right, whosever it is: what a detector is measured on in the lab.

Labelled files to measure detectors on, with the columns that their rows can be told apart by.

What a detector was trained or tuned on, as far as this workspace knows: pairs of it prove nothing of the detector.
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
from berdseye.annotation.training_sets.labelling import Choice, decided
from berdseye.annotation.training_sets.store import list_sets
from berdseye.data.datasets.labelled_pairs import LabelledPair, read_labelled_pairs
from berdseye.data.datasets.stored import GOLD, load_dataset, same_question
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
"""Columns of a file that its rows are sliced by, where it has them."""


def read_judged_pairs(paths: Sequence[Path]) -> list[LabelledPair]:
    """The pairs of all files, file after file; raises `BadInputError` with the file and the line of a bad row."""
    return [row for path in paths for row in read_labelled_pairs(path)]


def rows_to_test_on(rows: Sequence[LabelledPair]) -> list[LabelledPair]:
    """The rows of split test where any row names a split, and else all of them."""
    return [row for row in rows if row.split == "test"] if any(row.split for row in rows) else list(rows)


def rows_to_tune_on(rows: Sequence[LabelledPair]) -> list[LabelledPair]:
    """The rows of split dev where any row names a split, and else all of them."""
    return [row for row in rows if row.split == "dev"] if any(row.split for row in rows) else list(rows)


def intervals_over(rows: Sequence[LabelledPair]) -> list[str] | None:
    """What intervals are drawn over: questions, a row without one by itself; None where no row has a question."""
    if not any(row.question for row in rows):
        return None
    return [f"{row.dataset}\0{row.question}" if row.question else f"\0{i}" for i, row in enumerate(rows)]


class Learned(NamedTuple):
    """Questions (`same_question`) and passages of the train and dev splits of the training sets `sets`; `elsewhere` names what
    the detector learned from that does not stand in this workspace, so that nothing can be said about it."""

    questions: frozenset[str]
    passages: frozenset[str]
    sets: tuple[str, ...]
    elsewhere: tuple[str, ...]

    def seen(self, table: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Which rows of `JudgedPairs.table` have a question, or a passage in the same words, that was learned from, bool[n]."""
        if not self.sets:
            return np.zeros(len(table), dtype=bool)
        questions = table["question"].where(table["question"] != "", table["perspective"]).map(same_question)
        return np.asarray(
            questions.isin(self.questions) | table["passage"].map(_same_words).isin(self.passages), dtype=bool
        )


def learned(workspace: Workspace, detector: str) -> Learned:
    """Of a detector by its name, of those it started from, and of the parts of a mean."""
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
        made = sets.get((str(card.get("data")), str(card.get("data_hash"))))
        if made is None:
            elsewhere[str(card.get("data") or "data that its card does not name")] = None
            continue
        used[made.id] = None
        rows = [pair for pair in made.pairs() if pair.split != "test"]
        questions |= {same_question(pair.question or pair.pair.perspective) for pair in rows}
        passages |= {_same_words(pair.pair.passage) for pair in rows}
    return Learned(frozenset(questions), frozenset(passages), tuple(used), tuple(elsewhere))


def _same_words(passage: str) -> str:
    return same_question(clean(passage))


def _bases(card: dict[str, Any]) -> list[str]:
    base = card.get("base")
    return [str(b) for b in base] if isinstance(base, list) else [str(base)] if base else []


def _parts(name: str) -> list[str]:
    """The detectors that a mean is taken of."""
    try:
        (call,) = parse(name)
    except (BerdseyeError, ValueError):  # a base may be a model's name, or a folder
        return []
    return [str(part) for part in call.args] if call.name == "mean" else []


COLUMNS = (
    "pair", "supports", "question", "perspective", "stance", "corpus", "title", "passage", "dataset", "question_id", "url",
)  # fmt: skip
PEOPLE, MADE_UP = "people's words", "words of people, made-up ones too"
_DEPTH = 100


@dataclass(frozen=True)
class JudgedPairs:
    """A row a pair with the columns `COLUMNS`; `supports` is the label, `name` says whose, `left_out` what is no part of it."""

    name: str
    table: pd.DataFrame
    left_out: str = ""

    @property
    def truth(self) -> npt.NDArray[np.bool_]:
        """The labels, bool[n]."""
        return self.table["supports"].to_numpy(dtype=bool)

    @cached_property
    def groups(self) -> npt.NDArray[np.int64]:
        """What intervals are drawn over: the place of each row's question, int64[n]; a row without one stands by itself."""
        known = {text: same_question(text) for text in self.table["question"].unique()}
        names = [
            f"{dataset}\0{known[question]}" if question else f"\0{row}"
            for row, (dataset, question) in enumerate(zip(self.table["dataset"], self.table["question"], strict=True))
        ]
        return np.asarray(pd.factorize(np.array(names, dtype=object))[0], dtype=np.int64)

    @cached_property
    def hash(self) -> str:
        """12 hex digits of the pairs and their labels, in whatever order."""
        rows = sorted(f"{key} {int(label)}" for key, label in zip(self.table["pair"], self.truth, strict=True))
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:12]

    def pairs(self, places: Sequence[int]) -> list[Pair]:
        """The pairs at some places, as a detector is asked them."""
        rows = self.table.iloc[list(places)]
        return [Pair(*texts) for texts in zip(rows["passage"], rows["perspective"], rows["title"], strict=True)]

    def part(self, kept: npt.NDArray[np.bool_]) -> "JudgedPairs":
        """Some of the rows, bool[n]."""
        return JudgedPairs(self.name, self.table[kept].reset_index(drop=True), self.left_out)


def of_people(judgments: Judgments, *, demo: bool = False) -> JudgedPairs:
    """Every pair that people judged: an adjudicator's word where there is one, else the majority of those who are sure.

    `demo`: the demo's made-up annotators vote too.
    """
    found = decided(judgments.frame(), Choice(demo=demo), adjudicated_labels(judgments))
    told = ", ".join(f"{n:,} {why}" for why, n in found.left_out.items())
    table = found.table.assign(supports=found.table["label"] == 1)
    return JudgedPairs(MADE_UP if demo else PEOPLE, _complete(table), told)


def of_gold(workspace: Workspace) -> JudgedPairs:
    """Every pair of the first 100 passages of the stored runs that has a gold label, once each.

    Runs that do not fit their data set or corpus any more are left out, and said.
    """
    found: dict[str, dict[str, object]] = {}
    stale: list[str] = []
    if (LabelStore(workspace).folder / GOLD).exists():
        for manifest in list_runs(workspace):
            try:
                found |= {str(row["pair"]): row for row in _gold_rows(workspace, manifest.name, set(found))}
            except StaleError:
                stale.append(manifest.name)
    told = f"runs that are out of date: {', '.join(stale)}" if stale else ""
    return JudgedPairs(f"{GOLD} labels of the stored runs", _complete(pd.DataFrame(list(found.values()))), told)


def of_rows(name: str, rows: Sequence[LabelledPair]) -> JudgedPairs:
    """The rows of a labelled file, under its name."""
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
    """All columns, in their order; what is not known is an empty text."""
    whole = table.reindex(columns=list(COLUMNS)).reset_index(drop=True)
    texts = [name for name in COLUMNS if name != "supports"]
    whole[texts] = whole[texts].astype(object).where(whole[texts].notna(), "")
    return whole.astype({"supports": bool})
