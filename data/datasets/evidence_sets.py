"""Queries with many relevant passages each, and the corpus they stand in: D-MERIT's kind of data set.

Ours is a folder of two JSON-lines files, either of which may be compressed with gzip:
- `queries.jsonl`: `{"id", "query", "relevant": [passage ids]}`;
- `corpus.jsonl`: `{"id", "text", "title"?, "popularity"?}`, where popularity is how often other pages link to the passage's.

D-MERIT's release is read from a folder too. Its layout could not be looked up where this was written, so the reader goes by what
the fields are called: the names in `_NAMES`, relevant passages given as ids or as objects, one row a query or one a passage.
What it finds is held against the published counts (`RELEASED`), and a folder that does not fit is refused with what was found.

Perspectrum is read as a set of this kind as well: claims, and every text of the pool that belongs to one of their perspectives.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import read_rows
from berdseye.data.records import Passage
from berdseye.data.texts.passages import clean


class ReleasedCounts(NamedTuple):
    """What D-MERIT's paper counts (section 2.6): queries, relevant passages, passages of the corpus."""

    queries: int = 1_196
    relevant: int = 60_333
    passages: int = 6_477_139


RELEASED = ReleasedCounts()
_QUERIES, _CORPUS = ("queries", "evidence", "dataset", "data"), ("corpus", "passages", "collection")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "_id", "query_id", "qid"),
    "query": ("query", "question", "nl_query", "natural_language_query", "text"),
    "relevant": ("relevant", "evidence", "positives", "relevant_passages", "gold", "evidence_ids"),
    "passage": ("id", "_id", "passage_id", "docid", "pid"),
    "text": ("text", "contents", "passage", "body"),
    "title": ("title", "article", "article_name", "headline"),
    "popularity": ("popularity", "inlinks", "links", "references"),
}


class EvidenceQuery(NamedTuple):
    """A query and the ids of its relevant passages."""

    id: str
    text: str
    relevant: tuple[str, ...]


@dataclass(frozen=True)
class EvidenceSet:
    """`passages` are numbered by their place and carry their own id as `source_id`; `popularity` is by that id, where known.

    `notes` say what was left out in reading.
    """

    name: str
    queries: list[EvidenceQuery]
    passages: list[Passage]
    popularity: Mapping[str, float]
    notes: tuple[str, ...] = ()

    @property
    def relevant(self) -> dict[str, tuple[str, ...]]:
        """Relevant passage ids by query id."""
        return {q.id: q.relevant for q in self.queries}

    @property
    def words(self) -> dict[str, int]:
        """The length of each passage in words, by its id."""
        return {p.source_id: len(p.text.split()) for p in self.passages}

    @property
    def is_released(self) -> bool:
        """Whether queries and relevant passages are as many as in D-MERIT's release."""
        return is_released(self.relevant)


def is_released(relevant: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether there are as many queries and relevant passages as in D-MERIT's release."""
    return len(relevant) == RELEASED.queries and sum(map(len, relevant.values())) == RELEASED.relevant


def read_evidence_set(folder: Path, *, released: bool = False) -> EvidenceSet:
    """The set in a folder of ours, of D-MERIT's or of Perspectrum's; with `released`, its counts must be the published ones.

    Raises `BadInputError` with file and line where a row cannot be used.
    """
    if not folder.is_dir():
        raise BadInputError("There is no such folder.", where=folder, hint="Name the folder that holds the set.")
    if (folder / "perspectrum_with_answers_v1.0.json").is_file():
        return read_perspectrum_evidence(folder)
    corpus, popularity = _corpus(_file(folder, _CORPUS))
    queries, notes = _queries(_file(folder, _QUERIES), {p.source_id for p in corpus})
    found = EvidenceSet(folder.resolve().name, queries, corpus, popularity, notes)
    if released:
        check_released(found, folder)
    return found


def check_released(found: EvidenceSet, where: Path) -> None:
    """Raise `BadInputError` unless queries, relevant passages and corpus are as many as D-MERIT's paper counts."""
    counts = ReleasedCounts(len(found.queries), sum(len(q.relevant) for q in found.queries), len(found.passages))
    if counts != RELEASED:
        said = ", ".join(f"{ours:,} {name} (published: {theirs:,})" for name, ours, theirs in
                         zip(RELEASED._fields, counts, RELEASED, strict=True) if ours != theirs)  # fmt: skip
        raise BadInputError(
            f"Not D-MERIT's release: {said}.", where=where, hint="Take the files as they are published."
        )


def read_perspectrum_evidence(folder: Path, *, at_least: int = 5) -> EvidenceSet:
    """Perspectrum as a set of this kind: claims, the pool of perspectives, and all of a claim's paraphrases as relevant.

    Claims with fewer than `at_least` are left out (D-MERIT's queries have at least 5). There is no popularity.
    """
    try:
        claims = json.loads((folder / "perspectrum_with_answers_v1.0.json").read_text(encoding="utf-8"))
        pool = json.loads((folder / "perspective_pool_v1.0.json").read_text(encoding="utf-8"))
        passages = [Passage(n, str(p["pId"]), "", clean(p["text"])) for n, p in enumerate(pool)]
        known = {p.source_id for p in passages}
        queries = [
            EvidenceQuery(
                str(claim["cId"]),
                clean(claim["text"]),
                tuple(dict.fromkeys(str(i) for c in claim["perspectives"] for i in c["pids"] if str(i) in known)),
            )
            for claim in claims
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadInputError(f"Not whole: {error!r}.", where=folder, hint="Take the files as released.") from error
    kept = [q for q in queries if len(q.relevant) >= at_least]
    note = (
        f"{len(queries) - len(kept)} of {len(queries)} claims have fewer than {at_least} paraphrases and are left out."
    )
    return EvidenceSet("perspectrum", kept, passages, {}, (note,))


def _corpus(path: Path) -> tuple[list[Passage], dict[str, float]]:
    passages: list[Passage] = []
    seen: set[str] = set()
    popularity: dict[str, float] = {}
    for line, row in read_rows(path):
        name, text = _value(row, "passage"), _value(row, "text")
        if name is None or not isinstance(text, str) or not text.strip():
            raise BadInputError("A passage needs an id and a text.", where=path, line=line, hint="Correct this line.")
        if str(name) in seen:
            raise BadInputError(f"Passage '{name}' stands twice.", where=path, line=line, hint="Give each its own id.")
        seen.add(str(name))
        passages.append(Passage(len(passages), str(name), clean(str(_value(row, "title") or "")), clean(text)))
        linked = _value(row, "popularity")
        if isinstance(linked, int | float) and not isinstance(linked, bool):
            popularity[str(name)] = float(linked)
    return passages, popularity


def _queries(path: Path, known: set[str]) -> tuple[list[EvidenceQuery], tuple[str, ...]]:
    texts: dict[str, str] = {}
    relevant: dict[str, dict[str, None]] = {}
    unknown = 0
    for line, row in read_rows(path):
        text = _value(row, "query")
        if not isinstance(text, str) or not text.strip():
            raise BadInputError("There is no query.", where=path, line=line, hint="Correct this line.")
        name = _value(row, "id")
        key = clean(text) if name is None else str(name)
        given = _value(row, "relevant")
        if given is None:
            raise BadInputError("There are no relevant passages.", where=path, line=line, hint="Add `relevant`.")
        texts.setdefault(key, clean(text))
        ids = [_passage_id(item, path, line) for item in (given if isinstance(given, list) else [given])]
        unknown += sum(i not in known for i in ids)
        relevant.setdefault(key, {}).update(dict.fromkeys(i for i in ids if i in known))
    notes = (f"{unknown} relevant passages are not in the corpus and are left out.",) if unknown else ()
    return [EvidenceQuery(key, text, tuple(relevant[key])) for key, text in texts.items()], notes


def _passage_id(item: Any, path: Path, line: int) -> str:
    found = _value(item, "passage") if isinstance(item, dict) else item
    if not isinstance(found, str | int) or isinstance(found, bool):
        raise BadInputError(
            "A relevant passage has no id.", where=path, line=line, hint="Give ids, or objects with one."
        )
    return str(found)


def _value(row: Mapping[str, Any], field: str) -> Any:
    return next((row[name] for name in _NAMES[field] if row.get(name) is not None), None)


def _file(folder: Path, stems: tuple[str, ...]) -> Path:
    for stem in stems:
        for ending in (".jsonl", ".jsonl.gz", ".ndjson"):
            if (folder / f"{stem}{ending}").is_file():
                return folder / f"{stem}{ending}"
    held = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
    raise BadInputError(
        f"There is no {stems[0]}.jsonl; the folder holds {held}.",
        where=folder,
        hint="Put queries.jsonl and corpus.jsonl there.",
    )
