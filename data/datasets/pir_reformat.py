"""Conversion of other data sets to PIR tasks in the layout of PIR's demo.

`KINDS` lists the supported sources; the function of each kind documents its input and how it forms queries.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from berdseye.data.datasets.layouts.perspectrum import perspective_pool
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.files.json_files import read_json, read_rows
from berdseye.data.texts.passages import clean

_IDEOLOGIES = {
    "left": "news as a left-leaning paper reports it",
    "right": "news as a right-leaning paper reports it",
    "center": "news as a paper of the center reports it",
}
_LABEL = "perspective"
_ASPECTS = {
    "analogy": "a story that is an analogy of this one",
    "entity": "a story with similar entities",
}
_FACT_PERSPECTIVES = {
    "SUPPORT": "claim that this sentence supports",
    "REFUTE": "claim that this sentence refutes",
    "NOT ENOUGH INFO": "claim that this sentence relates but has no information about",
}
_SPELLINGS = {
    "SUPPORTS": "SUPPORT",
    "SUPPORTED": "SUPPORT",
    "REFUTES": "REFUTE",
    "REFUTED": "REFUTE",
    "NEI": "NOT ENOUGH INFO",
}
CLAIMS = "perspectrum_with_answers_v1.0.json"
SPLITS = "dataset_split_v1.0.json"
_VERBS = {"SUPPORT": ("support", "that supports"), "UNDERMINE": ("undermine", "that opposes")}
SPLIT = "test"


class TaskFile:
    """A task under construction: passages and queries in the order added.

    Equal passages are not merged, as in the released tasks.
    """

    def __init__(self) -> None:
        self._corpus: list[str] = []
        self._queries: list[tuple[str, str, str, str, list[int]]] = []

    def add(self, texts: Sequence[str]) -> list[int]:
        """Add passages to the corpus; returns their indices."""
        start = len(self._corpus)
        self._corpus += texts
        return list(range(start, len(self._corpus)))

    def ask(self, query: str, root: str, perspective: str, label: str, relevant: Sequence[int]) -> None:
        """Add a query for `perspective` on `root`, whose relevant passages have the indices `relevant`."""
        self._queries.append((query, root, perspective, label, list(relevant)))

    def lone_roots(self) -> int:
        """The number of root queries with a single query, which PIR's definition excludes; their passages stay as
        distractors."""
        return sum(n == 1 for n in self._counts().values())

    def layout(self) -> dict[str, Any]:
        """The task as the demo's columns, without queries that are the only one of their root."""
        counts = self._counts()
        kept = [query for query in self._queries if counts[query[1]] > 1]
        queries, roots, perspectives, labels, relevant = zip(*kept, strict=True) if kept else ((),) * 5
        return {
            "corpus": self._corpus,
            "queries": list(queries),
            "source_queries": list(roots),
            "perspectives": list(perspectives),
            "key_ref": {str(number): places for number, places in enumerate(relevant)},
            "query_labels": list(labels),
        }

    def _counts(self) -> Counter[str]:
        return Counter(root for _, root, *_ in self._queries)


def read_fields(source: Path, names: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the line number and the texts of these fields for each row of a JSON Lines file.

    Raises `BadInputError` with file and line for a field that is missing, empty or not a text.
    """
    for line, row in read_rows(source):
        values = [row.get(name) for name in names]
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, str) or not value.strip():
                raise BadInputError(
                    f"The row has no `{name}`.", where=source, line=line, hint="Add it; it must be a text."
                )
        yield line, tuple(clean(str(value)) for value in values)


def reformat_allsides(source: Path) -> TaskFile:
    """News by political ideology as a PIR task: find articles on a topic from the left, the right or the centre.

    The source is JSON Lines `{"topic", "ideology", "article"}` with the ideology left, right or center. The topic is the root
    query, and all its articles with an ideology are relevant. (The paper's task has as many queries as articles.) Berdseye's
    authors worded the queries. Raises `BadInputError` with file and line.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for line, (topic, ideology, article) in read_fields(source, ("topic", "ideology", "article")):
        side = "center" if ideology.lower() == "centre" else ideology.lower()
        if side not in _IDEOLOGIES:
            raise BadInputError(
                f"Unknown ideology '{ideology}'.", where=source, line=line, hint=f"Use {', '.join(_IDEOLOGIES)}."
            )
        groups.setdefault((topic, side), []).append(article)
    task = TaskFile()
    for (topic, side), articles in groups.items():
        task.ask(f"{topic}: {_IDEOLOGIES[side]}", topic, _IDEOLOGIES[side], side, task.add(articles))
    return task


def reformat_ambigqa(source: Path) -> TaskFile:
    """Ambiguous questions as a PIR task: find the evidence for one reading of a question.

    The source is JSON Lines `{"question", "readings": [{"question", "evidence"}]}`, where `evidence` is a text or a list of
    texts. As in the demo's ambigqa task, the reading is both the query and its perspective. Raises `BadInputError` with file
    and line.
    """
    task = TaskFile()
    for line, row in read_rows(source):
        try:
            root, readings = _text(row.get("question"), "question"), row.get("readings")
            if not isinstance(readings, list):
                raise ValueError("`readings` must be a list")
            for reading in readings:
                query, evidence = _reading(reading)
                task.ask(query, root, query, _LABEL, task.add(evidence))
        except ValueError as error:
            raise BadInputError(f"{error}.", where=source, line=line, hint="Fix this line.") from error
    return task


def _reading(reading: Any) -> tuple[str, list[str]]:
    if not isinstance(reading, dict):
        raise ValueError("A reading must be an object")
    evidence = reading.get("evidence")
    texts = evidence if isinstance(evidence, list) else [evidence]
    if not texts:
        raise ValueError("A reading has no evidence")
    return _text(reading.get("question"), "question of a reading"), [_text(text, "evidence") for text in texts]


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"The row has no {name}")
    return clean(value)


def reformat_analogy(source: Path) -> TaskFile:
    """Analogies as a PIR task: find a story that is like another in one respect.

    The source is JSON Lines `{"story", "aspect", "match"}`: `match` is like `story` in its `aspect`, which is analogy (an equal
    course of events), entity (equal people and things), or another word. The story is the root query. Berdseye's authors
    worded the queries. Raises `BadInputError` with file and line.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for _, (story, aspect, match) in read_fields(source, ("story", "aspect", "match")):
        groups.setdefault((story, aspect.lower()), []).append(match)
    task = TaskFile()
    for (story, aspect), matches in groups.items():
        perspective = _ASPECTS.get(aspect, f"a story with a similar {aspect}")
        task.ask(f"Find {perspective}: {story}", story, perspective, aspect, task.add(matches))
    return task


def reformat_fact_check(source: Path) -> TaskFile:
    """Checked facts as a PIR task: find claims that a sentence supports, refutes, or says nothing decisive about.

    The source is JSON Lines `{"sentence", "claim", "label"}` with the label SUPPORT, REFUTE or NOT ENOUGH INFO. The sentence is
    the root query, and its claims with a label are relevant. The queries are worded as in the demo's exfever task. Raises
    `BadInputError` with file and line.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for line, (sentence, claim, label) in read_fields(source, ("sentence", "claim", "label")):
        canonical = _SPELLINGS.get(label.upper(), label.upper())
        if canonical not in _FACT_PERSPECTIVES:
            raise BadInputError(
                f"Unknown label '{label}'.", where=source, line=line, hint=f"Use {', '.join(_FACT_PERSPECTIVES)}."
            )
        groups.setdefault((sentence, canonical), []).append(claim)
    task = TaskFile()
    for (sentence, label), claims in groups.items():
        task.ask(
            f"Find a {_FACT_PERSPECTIVES[label]}: {sentence}",
            sentence,
            _FACT_PERSPECTIVES[label],
            label,
            task.add(claims),
        )
    return task


def reformat_perspectrum(source: Path, split: str = SPLIT) -> TaskFile:
    """Perspectrum as a PIR task: find claims that support, oppose or relate to an argument.

    The source is the released folder, or `perspectrum_with_answers_v1.0.json` in it, with `perspective_pool_v1.0.json` and
    `dataset_split_v1.0.json` in that folder; `split` selects claims (`all` for every split). Each cluster of perspectives is a
    query with all its wordings as relevant passages, and each claim has one more query for all of its wordings. The test
    split gives the counts of PIR's Table 1, and the demo's queries in their order. Raises `BadInputError` if a file is missing
    or incomplete.
    """
    path = source / CLAIMS if source.is_dir() else source
    pool, task = perspective_pool(path.parent), TaskFile()
    for number, claim in enumerate(claims_of(path, split), start=1):
        try:
            _add(task, claim, pool)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise BadInputError(
                f"Claim {number} is incomplete: {error!r}.", where=path, hint="Use the file as released."
            ) from error
    return task


def claims_of(path: Path, split: str) -> list[dict[str, Any]]:
    """The claims of a split of Perspectrum, sorted by id, which is the order of PIR's demo; raises `BadInputError`."""
    claims = read_json(path)
    if not isinstance(claims, list) or not all(isinstance(c, dict) and isinstance(c.get("cId"), int) for c in claims):
        raise BadInputError("The file has no claims of Perspectrum.", where=path, hint="Use the file as released.")
    claims = sorted(claims, key=lambda claim: int(claim["cId"]))
    if split == "all":
        return claims
    splits = read_json(path.parent / SPLITS)
    known = sorted(set(splits.values())) if isinstance(splits, dict) else []
    if split not in known:
        raise BadInputError(
            f"Unknown split '{split}'.", where=path.parent / SPLITS, hint=f"Use one of {known}, or all."
        )
    return [claim for claim in claims if splits.get(str(claim["cId"])) == split]


def _add(task: TaskFile, claim: dict[str, Any], pool: dict[int, str]) -> None:
    argument, everything = str(claim["text"]), list[int]()
    for cluster in claim["perspectives"]:
        label, which = _VERBS[cluster["stance_label_3"]]
        places = task.add([pool[pid] for pid in cluster["pids"]])
        everything += places
        task.ask(
            f"Find a claim {which} the argument: {argument}", argument, f"a claim {which} the argument", label, places
        )
    if everything:
        perspective = "a claim that relates to the argument"
        task.ask(f"Find a claim relates to the argument: {argument}", argument, perspective, "general", everything)


KINDS: Mapping[str, Callable[[Path], TaskFile]] = {
    "perspectrum": reformat_perspectrum,
    "allsides": reformat_allsides,
    "ambigqa": reformat_ambigqa,
    "fact-check": reformat_fact_check,
    "analogy": reformat_analogy,
}


def reformat(kind: str, source: Path, split: str = "") -> TaskFile:
    """Convert a source to a task; `split` applies to Perspectrum only.

    Raises `UnknownNameError` for an unknown kind, `BadInputError` if no root query has two perspectives.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of source", kind, KINDS)
    if split and kind != "perspectrum":
        raise BadInputError(f"'{kind}' has no splits.", hint="Omit --split.")
    convert = partial(reformat_perspectrum, split=split or SPLIT) if kind == "perspectrum" else KINDS[kind]
    task = convert(source)
    if not task.layout()["queries"]:
        raise BadInputError(
            "No root query has two perspectives.", where=source, hint="A task needs root queries with two or more."
        )
    return task
