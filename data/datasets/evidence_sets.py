"""Evidence sets: queries with many relevant passages each, and their corpus, as in D-MERIT.

Berdseye's own layout is a folder of two JSON Lines files, either of which may be compressed with gzip:
- `queries.jsonl`: `{"id", "query", "relevant": [passage ids]}`;
- `corpus.jsonl`: `{"id", "text", "title"?, "popularity"?}`, where popularity counts the links from other pages to the
  passage's page.

D-MERIT's release is read from a folder as well. Its layout was not accessible when this reader was written, so the reader
recognises fields by name (`_NAMES`), relevant passages as ids or objects, and one row per query or one per passage. It can
compare what it reads with the published counts (`RELEASED`) and reject a folder that does not match them.

Perspectrum can also be read as an evidence set: its claims, and every text of the pool that belongs to one of their
perspectives.
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


class ReleasedCounts(NamedTuple):
    """The counts in D-MERIT's paper (section 2.6): queries, relevant passages, passages of the corpus."""

    queries: int = 1_196
    relevant: int = 60_333
    passages: int = 6_477_139


RELEASED = ReleasedCounts()


class EvidenceQuery(NamedTuple):
    """A query and the ids of its relevant passages."""

    id: str
    text: str
    relevant: tuple[str, ...]


@dataclass(frozen=True)
class EvidenceSet:
    """Queries with the corpus they refer to.

    The `id` of a passage is its position, its `source_id` the id in the file; `popularity` maps the latter to a count where
    it is known. `notes` say what was skipped while reading.
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
        """Whether the set has as many queries and relevant passages as D-MERIT's release."""
        return is_released(self.relevant)


def is_released(relevant: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether there are as many queries and relevant passages as in D-MERIT's release."""
    return len(relevant) == RELEASED.queries and sum(map(len, relevant.values())) == RELEASED.relevant


def read_evidence_set(folder: Path, *, released: bool = False) -> EvidenceSet:
    """Read a folder in Berdseye's, D-MERIT's or Perspectrum's layout; with `released`, its counts must be D-MERIT's.

    Raises `BadInputError` with file and line for an invalid row.
    """
    if not folder.is_dir():
        raise BadInputError("The folder does not exist.", where=folder, hint="Give the folder with the data set.")
    if (folder / "perspectrum_with_answers_v1.0.json").is_file():
        return read_perspectrum_evidence(folder)
    corpus, popularity = _corpus(_file(folder, _CORPUS))
    queries, notes = _queries(_file(folder, _QUERIES), {p.source_id for p in corpus})
    evidence_set = EvidenceSet(folder.resolve().name, queries, corpus, popularity, notes)
    if released:
        check_released(evidence_set, folder)
    return evidence_set


def check_released(evidence_set: EvidenceSet, where: Path) -> None:
    """Raise `BadInputError` unless the counts of queries, relevant passages and passages are those of D-MERIT's paper."""
    counts = ReleasedCounts(
        len(evidence_set.queries), sum(len(q.relevant) for q in evidence_set.queries), len(evidence_set.passages)
    )
    if counts != RELEASED:
        message = ", ".join(f"{ours:,} {name} (published: {theirs:,})" for name, ours, theirs in
                         zip(RELEASED._fields, counts, RELEASED, strict=True) if ours != theirs)  # fmt: skip
        raise BadInputError(f"Not D-MERIT's release: {message}.", where=where, hint="Use the files as published.")


def read_perspectrum_evidence(folder: Path, *, at_least: int = 5) -> EvidenceSet:
    """Read Perspectrum as an evidence set: claims are queries, the pool is the corpus, a claim's paraphrases are relevant.

    Claims with fewer than `at_least` paraphrases are skipped (D-MERIT's queries have at least 5). There is no popularity.
    Raises `BadInputError` if the files are incomplete.
    """
    try:
        claims = json.loads((folder / "perspectrum_with_answers_v1.0.json").read_text(encoding="utf-8"))
        pool = json.loads((folder / "perspective_pool_v1.0.json").read_text(encoding="utf-8"))
        passages = [Passage(n, str(p["pId"]), "", clean(p["text"])) for n, p in enumerate(pool)]
        passage_ids = {p.source_id for p in passages}
        queries = [
            EvidenceQuery(
                str(claim["cId"]),
                clean(claim["text"]),
                tuple(dict.fromkeys(str(i) for c in claim["perspectives"] for i in c["pids"] if str(i) in passage_ids)),
            )
            for claim in claims
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadInputError(
            f"The files are incomplete or invalid: {error!r}.", where=folder, hint="Use the files as released."
        ) from error
    kept = [q for q in queries if len(q.relevant) >= at_least]
    note = (
        f"{len(queries) - len(kept)} of {len(queries)} claims have fewer than {at_least} paraphrases and are skipped."
    )
    return EvidenceSet("perspectrum", kept, passages, {}, (note,))


def _corpus(path: Path) -> tuple[list[Passage], dict[str, float]]:
    passages: list[Passage] = []
    seen: set[str] = set()
    popularity: dict[str, float] = {}
    for line, row in read_rows(path):
        name, text = _value(row, "passage"), _value(row, "text")
        if name is None or not isinstance(text, str) or not text.strip():
            raise BadInputError("The passage has no id or no text.", where=path, line=line, hint="Fix this line.")
        if str(name) in seen:
            raise BadInputError(
                f"An earlier passage already has the id '{name}'.", where=path, line=line, hint="Use unique ids."
            )
        seen.add(str(name))
        passages.append(Passage(len(passages), str(name), clean(str(_value(row, "title") or "")), clean(text)))
        linked = _value(row, "popularity")
        if isinstance(linked, int | float) and not isinstance(linked, bool):
            popularity[str(name)] = float(linked)
    return passages, popularity


def _queries(path: Path, passage_ids: set[str]) -> tuple[list[EvidenceQuery], tuple[str, ...]]:
    texts: dict[str, str] = {}
    relevant: dict[str, dict[str, None]] = {}
    unknown = 0
    for line, row in read_rows(path):
        text = _value(row, "query")
        if not isinstance(text, str) or not text.strip():
            raise BadInputError("The row has no query.", where=path, line=line, hint="Fix this line.")
        name = _value(row, "id")
        key = clean(text) if name is None else str(name)
        passages = _value(row, "relevant")
        if passages is None:
            raise BadInputError("The query has no relevant passages.", where=path, line=line, hint="Add `relevant`.")
        texts.setdefault(key, clean(text))
        ids = [_passage_id(item, path, line) for item in (passages if isinstance(passages, list) else [passages])]
        unknown += sum(i not in passage_ids for i in ids)
        relevant.setdefault(key, {}).update(dict.fromkeys(i for i in ids if i in passage_ids))
    notes = (f"{unknown} relevant passages are not in the corpus and are skipped.",) if unknown else ()
    return [EvidenceQuery(key, text, tuple(relevant[key])) for key, text in texts.items()], notes


def _passage_id(item: Any, path: Path, line: int) -> str:
    value = _value(item, "passage") if isinstance(item, dict) else item
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise BadInputError(
            "A relevant passage has no id.", where=path, line=line, hint="Give ids, or objects with an id."
        )
    return str(value)


def _value(row: Mapping[str, Any], field: str) -> Any:
    return next((row[name] for name in _NAMES[field] if row.get(name) is not None), None)


def _file(folder: Path, stems: tuple[str, ...]) -> Path:
    for stem in stems:
        for ending in (".jsonl", ".jsonl.gz", ".ndjson"):
            if (folder / f"{stem}{ending}").is_file():
                return folder / f"{stem}{ending}"
    names = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
    raise BadInputError(
        f"The folder has no {stems[0]}.jsonl; it contains {names}.",
        where=folder,
        hint="Put queries.jsonl and corpus.jsonl there.",
    )
