"""The construction of a D-MERIT, and the data set, corpus and gold labels that come of it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import make_folder, replacing
from berdseye.data.records import pair_key
from berdseye.evaluation.construction.dmerit import lists, queries
from berdseye.evaluation.construction.dmerit.evidence import CANDIDATES, IDENTIFIED, claim
from berdseye.evaluation.construction.dmerit.lists import LISTS, MEMBERS, read_lists, wiki_of
from berdseye.evaluation.construction.dmerit.queries import NATURAL, QUERIES, questions
from berdseye.evaluation.construction.dmerit.statistics import figures, line
from berdseye.evaluation.construction.dmerit.verification import EXPERTS
from berdseye.evaluation.construction.finishing import refuse_existing
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Kind, Option
from berdseye.evaluation.construction.stored import Construction
from berdseye.evaluation.construction.working import Working

if TYPE_CHECKING:
    from berdseye.data.labels import LabelStore
    from berdseye.data.wikipedia.store import WikiStore

WHOLE_WIKI, CANDIDATES_ALONE = "all", "candidates"
_ROWS_AT_ONCE = 10_000


def evidence_folder(working: Working) -> Path:
    """Return the folder with `queries.jsonl` and `corpus.jsonl`, which `berdseye study dmerit --evidence` reads."""
    return working.folder / "evidence"


def add_evidence(working: Working, dataset: str, rows: Sequence[Row], replacing: bool = False) -> list[str]:
    """Write the queries and the corpus of a finished construction, and add them as a data set and a corpus of one name.

    The corpus has the introductions of all articles of the dump, or of the candidates (the setting `corpus`). The gold label of a
    passage is positive for the members that it confirms, and negative for those for which it was asked in vain. Returns lines on
    what was added, with the statistics beside the paper's. With `replacing`, a data set, a corpus and gold labels of this name
    are replaced; otherwise raises `BadInputError` if there is such a data set or corpus. It also does if nothing is left, and
    for an unknown `corpus`.
    """
    from berdseye.data.corpora import add_corpus
    from berdseye.data.datasets.stored import GOLD, save_dataset
    from berdseye.data.labels import LabelStore

    workspace, name, chosen = working.workspace, working.folder.name, working.settings["corpus"]
    if not rows:
        raise BadInputError(f"Nothing is left of '{name}'.", hint=f"See why: `berdseye construct rejected {name}`.")
    if chosen not in (WHOLE_WIKI, CANDIDATES_ALONE):
        raise BadInputError(f"The corpus must be {WHOLE_WIKI} or {CANDIDATES_ALONE}, got '{chosen}'.")
    if not replacing:
        refuse_existing(workspace, [dataset], [dataset])
    wiki, asked = wiki_of(working), {row.id for row in rows}
    built = Construction(workspace, name, DMERIT, working.settings, (), (), "", "")  # for the rejected rows of a step
    pairs = [row for row in built.rows(IDENTIFIED.name) if row.fields["list"] in asked]
    folder = evidence_folder(working)
    make_folder(folder)
    _write(folder / "queries.jsonl", map(_query, rows))
    only = None if chosen == WHOLE_WIKI else {int(row.fields["passage"]) for row in pairs}
    _write(folder / "corpus.jsonl", _passages(wiki, only))
    manifest = add_corpus(workspace, dataset, folder / "corpus.jsonl", chunker="whole", replace=replacing)
    save_dataset(workspace, dataset, [replace(question, dataset=dataset) for question in questions(rows)])
    labels = LabelStore(workspace)
    with labels.replacing(GOLD, dataset) if replacing else nullcontext():
        gold = _add_gold(labels, dataset, wiki, pairs)
    evidence = sum(len(row.fields["evidence"]) for row in rows)
    return [
        f"{dataset}: {len(rows):,} queries, {evidence:,} passages of evidence, {gold:,} gold labels",
        f"corpus {dataset}: {manifest.count:,} passages",
        f"evidence set: {folder}",
        *(line(figure) for figure in figures(rows)),
    ]


def _query(row: Row) -> Mapping[str, Any]:
    fields = row.fields
    return {
        "id": row.id,
        "query": fields["question"],
        "relevant": [passage["passage"] for passage in fields["evidence"]],
        "structured": fields["hierarchy"],
        "members": fields["members"],
        "evidence": fields["evidence"],
    }


def _passages(wiki: "WikiStore", only: set[int] | None) -> Iterator[Mapping[str, Any]]:
    for article, popularity in wiki.passages():
        if only is None or article.id in only:
            fields = {
                "id": str(article.id),
                "title": article.title,
                "text": article.introduction,
                "popularity": popularity,
            }
            yield {**fields, "url": wiki.site.url(article.title)}


def _add_gold(store: "LabelStore", dataset: str, wiki: "WikiStore", pairs: Sequence[Row]) -> int:
    """Store the labels of passages and claims, and return their number. An answer that nobody could read gives none."""
    from berdseye.data.datasets.stored import GOLD

    known = [row for row in pairs if not row.rejected or row.fields.get("evidence") is not None]
    for start in range(0, len(known), _ROWS_AT_ONCE):
        part = known[start : start + _ROWS_AT_ONCE]
        articles = wiki.articles(int(row.fields["passage"]) for row in part)
        claims = [claim(row.fields["member"], row.fields["hierarchy"]) for row in part]
        texts = [articles[int(row.fields["passage"])].introduction for row in part]
        keys = [pair_key(text, statement) for text, statement in zip(texts, claims, strict=True)]
        store.put(GOLD, dataset, keys, [float(not row.rejected) for row in part], perspectives=claims)
    return len(known)


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


DMERIT = Kind(
    "dmerit",
    "Queries for the members of Wikipedia's lists, with all evidence",
    "a dump of a MediaWiki (pages-articles.xml, plain or as .bz2 or .gz)",
    (LISTS, MEMBERS, CANDIDATES, IDENTIFIED, QUERIES, NATURAL),
    read_lists,
    questions,
    finish=add_evidence,
    options=(
        *lists.OPTIONS,
        *queries.OPTIONS,
        Option(
            "corpus",
            WHOLE_WIKI,
            "The passages of the corpus: all (every introduction of the dump), or candidates.",
            choices=(WHOLE_WIKI, CANDIDATES_ALONE),
        ),
    ),
    checks=(EXPERTS,),
    paper="D-MERIT",
)
