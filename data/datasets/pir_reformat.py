"""The kinds of sources that become PIR tasks.

A task being written in the layout of PIR's demo.

News by political ideology as a PIR task: find articles on a topic from the left, the right or the centre.

Source: JSON Lines `{"topic", "ideology", "article"}`, ideology left, right or center. The topic is the root query; all
its articles of an ideology are to be found. (The paper's task has as many queries as articles.) The wording of queries is ours.

Ambiguous questions as a PIR task: find the evidence for one reading of a question.

Source: JSON Lines `{"question", "readings": [{"question", "evidence"}]}`; `evidence` is a text or a list of texts. As in the
demo's ambigqa task, the reading is both the query and its perspective.

Analogies as a PIR task: find a story that is like another in one respect.

Source: JSON Lines `{"story", "aspect", "match"}`: `match` is like `story` in its `aspect`, which is analogy (the same course
of events), entity (the same people and things), or another word. The story is the root query. The wording of queries is ours.

Checked facts as a PIR task: find claims that a sentence supports, refutes, or says nothing decisive about.

Source: JSON Lines `{"sentence", "claim", "label"}`, label SUPPORT, REFUTE or NOT ENOUGH INFO. The sentence is the root query; the
claims with a label are what is to be found for it. Queries are worded as in the demo's exfever task.

Perspectrum as a PIR task: find claims that support, oppose or relate to an argument.

Source: the released folder, or `perspectrum_with_answers_v1.0.json` in it, with `perspective_pool_v1.0.json` and
`dataset_split_v1.0.json` beside it. A cluster of perspectives is a query whose wordings are all to be found, and the claim gets
one more for all of them. Over the test split this gives the counts of PIR's Table 1, and the demo's queries in their order.
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


class TaskFile:
    """Passages and queries in the order they were added; equal passages stay apart, as in the released tasks."""

    def __init__(self) -> None:
        self._corpus: list[str] = []
        self._asked: list[tuple[str, str, str, str, list[int]]] = []

    def add(self, texts: Sequence[str]) -> list[int]:
        """The places of passages that are added to the corpus."""
        start = len(self._corpus)
        self._corpus += texts
        return list(range(start, len(self._corpus)))

    def ask(self, query: str, root: str, perspective: str, label: str, relevant: Sequence[int]) -> None:
        """Add a query for `perspective` on `root`, for which the passages at `relevant` are the ones to find."""
        self._asked.append((query, root, perspective, label, list(relevant)))

    def lone_roots(self) -> int:
        """How many root queries have one query alone, which PIR's definition does not allow; their passages distract still."""
        return sum(n == 1 for n in self._counts().values())

    def layout(self) -> dict[str, Any]:
        """The demo's columns, without the queries of lone roots."""
        counts = self._counts()
        kept = [asked for asked in self._asked if counts[asked[1]] > 1]
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
        return Counter(root for _, root, *_ in self._asked)


def read_fields(source: Path, names: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The texts of these fields of each row of a JSON Lines file, with its line; raises `BadInputError` with file and line."""
    for line, row in read_rows(source):
        values = [row.get(name) for name in names]
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, str) or not value.strip():
                raise BadInputError(f"No `{name}`.", where=source, line=line, hint="It must be a text; add it.")
        yield line, tuple(clean(str(value)) for value in values)


_SIDES_ASKED = {
    "left": "news as a left-leaning paper reports it",
    "right": "news as a right-leaning paper reports it",
    "center": "news as a paper of the center reports it",
}


def reformat_allsides(source: Path) -> TaskFile:
    """Raises `BadInputError` with file and line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for line, (topic, ideology, article) in read_fields(source, ("topic", "ideology", "article")):
        side = "center" if ideology.lower() == "centre" else ideology.lower()
        if side not in _SIDES_ASKED:
            raise BadInputError(
                f"'{ideology}' is no ideology.", where=source, line=line, hint=f"Use {', '.join(_SIDES_ASKED)}."
            )
        groups.setdefault((topic, side), []).append(article)
    task = TaskFile()
    for (topic, side), articles in groups.items():
        task.ask(f"{topic}: {_SIDES_ASKED[side]}", topic, _SIDES_ASKED[side], side, task.add(articles))
    return task


_LABEL = "perspective"


def reformat_ambigqa(source: Path) -> TaskFile:
    """Raises `BadInputError` with file and line."""
    task = TaskFile()
    for line, row in read_rows(source):
        try:
            root, readings = _text(row.get("question"), "question"), row.get("readings")
            if not isinstance(readings, list):
                raise ValueError("`readings` is no list")
            for reading in readings:
                asked, evidence = _reading(reading)
                task.ask(asked, root, asked, _LABEL, task.add(evidence))
        except ValueError as error:
            raise BadInputError(f"{error}.", where=source, line=line, hint="Correct this line.") from error
    return task


def _reading(reading: Any) -> tuple[str, list[str]]:
    if not isinstance(reading, dict):
        raise ValueError("a reading is no object")
    evidence = reading.get("evidence")
    texts = evidence if isinstance(evidence, list) else [evidence]
    if not texts:
        raise ValueError("a reading has no evidence")
    return _text(reading.get("question"), "question of a reading"), [_text(text, "evidence") for text in texts]


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"no {name}")
    return clean(value)


_ANALOGY_ASKED = {
    "analogy": "a story that is an analogy of this one",
    "entity": "a story with similar entities",
}


def reformat_analogy(source: Path) -> TaskFile:
    """Raises `BadInputError` with file and line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for _, (story, aspect, match) in read_fields(source, ("story", "aspect", "match")):
        groups.setdefault((story, aspect.lower()), []).append(match)
    task = TaskFile()
    for (story, aspect), matches in groups.items():
        perspective = _ANALOGY_ASKED.get(aspect, f"a story with a similar {aspect}")
        task.ask(f"Find {perspective}: {story}", story, perspective, aspect, task.add(matches))
    return task


_FACT_ASKED = {
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


def reformat_fact_check(source: Path) -> TaskFile:
    """Raises `BadInputError` with file and line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for line, (sentence, claim, label) in read_fields(source, ("sentence", "claim", "label")):
        known = _SPELLINGS.get(label.upper(), label.upper())
        if known not in _FACT_ASKED:
            raise BadInputError(
                f"'{label}' is no label.", where=source, line=line, hint=f"Use {', '.join(_FACT_ASKED)}."
            )
        groups.setdefault((sentence, known), []).append(claim)
    task = TaskFile()
    for (sentence, label), claims in groups.items():
        task.ask(f"Find a {_FACT_ASKED[label]}: {sentence}", sentence, _FACT_ASKED[label], label, task.add(claims))
    return task


CLAIMS = "perspectrum_with_answers_v1.0.json"
SPLITS = "dataset_split_v1.0.json"
_VERBS = {"SUPPORT": ("support", "that supports"), "UNDERMINE": ("undermine", "that opposes")}
SPLIT = "test"


def reformat_perspectrum(source: Path, split: str = SPLIT) -> TaskFile:
    """The claims of a split (`all` for every one); raises `BadInputError` where a file is missing or not whole."""
    path = source / CLAIMS if source.is_dir() else source
    pool, task = perspective_pool(path.parent), TaskFile()
    for number, claim in enumerate(claims_of(path, split), start=1):
        try:
            _add(task, claim, pool)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise BadInputError(
                f"Claim {number} is not whole: {error!r}.", where=path, hint="Take the file as released."
            ) from error
    return task


def claims_of(path: Path, split: str) -> list[dict[str, Any]]:
    """The claims of a split, by their ids, which is the order of PIR's demo."""
    claims = read_json(path)
    if not isinstance(claims, list) or not all(isinstance(c, dict) and isinstance(c.get("cId"), int) for c in claims):
        raise BadInputError("These are no claims of Perspectrum.", where=path, hint="Take the file as released.")
    claims = sorted(claims, key=lambda claim: int(claim["cId"]))
    if split == "all":
        return claims
    splits = read_json(path.parent / SPLITS)
    known = sorted(set(splits.values())) if isinstance(splits, dict) else []
    if split not in known:
        raise BadInputError(
            f"There is no split '{split}'.", where=path.parent / SPLITS, hint=f"Known: {known}, or all."
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
    """The task that a source becomes; `split` is for Perspectrum alone.

    Raises `UnknownNameError` for a kind that there is not, `BadInputError` where nothing is left to ask.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of source", kind, KINDS)
    if split and kind != "perspectrum":
        raise BadInputError(f"'{kind}' has no splits.", hint="Leave out --split.")
    made = partial(reformat_perspectrum, split=split or SPLIT) if kind == "perspectrum" else KINDS[kind]
    task = made(source)
    if not task.layout()["queries"]:
        raise BadInputError(
            "No root query has two perspectives.", where=source, hint="A task needs roots with two or more."
        )
    return task
