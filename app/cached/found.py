"""What the command palette offers: everything with a name that the person's role may open, and the questions and passages that
contain some words.

Items that are few are listed at once. Questions and passages may be millions, so they are searched for.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st

from berdseye.annotation.batches.stored import list_batches
from berdseye.annotation.judgments.log import Annotator
from berdseye.app.access.roles import Right, may, right_of_command, right_of_page
from berdseye.app.access.session import annotator, judgments, role, workspace
from berdseye.app.cached.cached_on import cached_on
from berdseye.app.cached.questions import questions_of
from berdseye.app.cached.searching import hits
from berdseye.app.components.choices import passage_address
from berdseye.app.documentation import DOCUMENTS, documentation_address, headings_of
from berdseye.app.jobs.running import list_jobs
from berdseye.app.navigation import UNLISTED, VIEWS
from berdseye.data.corpora import open_corpus
from berdseye.data.corpora.corpus import titles_with
from berdseye.data.datasets.stored import dataset_names
from berdseye.data.errors import BerdseyeError
from berdseye.data.records import Passage
from berdseye.data.runs.stored import list_runs
from berdseye.data.texts.counts import counted
from berdseye.detectors.trained import detector_names
from berdseye.retrieval.indexes import index_folder, index_text
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.protocol import Query

_log = logging.getLogger(__name__)
ACTION = "do:"
"""The beginning of the address of what is done instead of opened."""
UNDO_LAST, START_TOUR = f"{ACTION}undo", f"{ACTION}tour"
MOST_QUESTIONS, MOST_PASSAGES = 8, 8
SHORTEST = 2
_PER_CORPUS, _READ = 4, 20
_EXCERPT = 120
_TITLES_READ = 1_000_000
_JOBS_LISTED = 30
_BATCHES_SECONDS = 15


class Item(NamedTuple):
    """A line of the palette: its kind, its name, a short detail, and the page that it opens (`runs?labels=gold`) or the action
    that it does (`do:undo`)."""

    kind: str
    name: str
    detail: str
    address: str


class Action(NamedTuple):
    """Something to do: its name, a detail, where it happens, the right that it requires beside that of the page, and the
    words that begin the command, if it starts one."""

    name: str
    detail: str
    address: str
    right: Right
    command: tuple[str, ...] = ()


ACTIONS = (
    Action("Undo my last judgment", "wherever it was made", UNDO_LAST, "judge"),
    Action("Start the tour", "two minutes", START_TOUR, "judge"),
    Action("Add a corpus", "upload, a path, or the web", "data?show=Corpora", "research", ("corpus",)),
    Action("Add a data set", "upload, write or fetch questions", "data?show=Data+sets", "research", ("dataset",)),
    Action("Run a pipeline", "on data sets and corpora", "runs", "research", ("run",)),
    Action("New batch", "send out pairs for judging", "batches?new=", "send out", ("batch",)),
    Action("Back up the workspace", "into one file", "workspace?tab=Backup", "administer", ("backup",)),
    Action("Change settings", "of this workspace", "workspace?tab=Settings", "administer"),
    Action("Edit the guidelines", "with their versions", "people?people_view=Guidelines", "send out", ("guidelines",)),
    Action("Train a detector", "as a job", "detectors?tab=Training", "train"),
    Action("Export agreement", "tables and files", "agreement?more=exports", "analyse"),
    Action("Show all keys", "of every page", "keys", "explore"),
)


def listed_items() -> list[Item]:
    """Return everything that is listed at once: pages, actions, documentation, and the named parts of the workspace that the
    person's role may open."""
    return [
        *_pages(),
        *_actions(),
        *(item for items in (_workspace_items, _batches, _jobs) for item in _without_errors(items)),
        *_documentation(),
    ]


def found_items(words: str) -> list[Item]:
    """Return the questions and the passages that contain these words, best first, if the role may open them."""
    words = " ".join(words.split())
    if len(words) < SHORTEST:
        return []
    return [*_without_errors(lambda: _questions(words)), *_without_errors(lambda: _passages(words))]


def _without_errors(items: Callable[[], Sequence[Item]]) -> Sequence[Item]:
    """Return the items, or none if their files are damaged: the page that needs these files reports that."""
    try:
        return items()
    except (BerdseyeError, OSError) as error:
        _log.warning("the palette leaves items out: %s", error)
        return []


def _opens(page: str) -> bool:
    return page in VIEWS and may(role(), right_of_page(page))


def _pages() -> Iterator[Item]:
    for name, view in VIEWS.items():
        if _opens(name) and (name not in UNLISTED or name in ("detector_lab", "documentation", "keys")):
            yield Item("Page", view.title, view.answers, name)


def _actions() -> Iterator[Item]:
    for action in ACTIONS:
        if not may(role(), action.right) or (action.address == UNDO_LAST and annotator() is None):
            continue
        page = action.address.partition("?")[0]
        if not page.startswith(ACTION) and not _opens(page):
            continue
        if not action.command or may(role(), right_of_command(action.command)):
            yield Item("Action", action.name, action.detail, action.address)


def _documentation() -> Sequence[Item]:
    return _documents() if _opens("documentation") else ()


@lru_cache(maxsize=1)
def _documents() -> tuple[Item, ...]:
    """Every document, each followed by its sections."""
    items = []
    for document, title in DOCUMENTS.items():
        items.append(Item("Documentation", title, "", documentation_address(document)))
        items += [
            Item(
                "Documentation",
                heading.text.replace("`", ""),
                title,
                documentation_address(document, heading.anchor),
            )
            for heading in headings_of(document)
            if heading.level <= 2
        ]
    return tuple(items)


def _to(page: str, **query: str) -> str:
    return f"{page}?{urlencode(query)}"


def _changed(*_: object) -> tuple[int, ...]:
    folders = (workspace().folder / name for name in ("corpora", "datasets", "runs", "detectors"))
    return tuple(folder.stat().st_mtime_ns if folder.exists() else 0 for folder in folders)


@cached_on(_changed, max_entries=8, shared=True)
def _stored() -> dict[str, list[Item]]:
    """The runs, corpora, data sets and detectors of the workspace, by the page that each opens; do not change them."""
    corpora = {name: open_corpus(workspace(), name).manifest.count for name in workspace().corpora()}
    return {
        "failures": [
            Item("Run", run.name, f"{run.dataset} · {run.corpus} · {run.pipeline}", _to("failures", run=run.name))
            for run in list_runs(workspace())
        ],
        "search": [
            Item("Corpus", name, counted(count, "passage"), _to("search", corpora=name))
            for name, count in corpora.items()
        ],
        "explore": [
            Item("Data set", name, counted(len(questions_of(name)), "question"), _to("explore", set=name))
            for name in dataset_names(workspace())
        ],
        "detector_lab": [
            Item("Detector", name, "", _to("detector_lab", detector=name)) for name in detector_names(workspace())
        ],
    }


def _workspace_items() -> list[Item]:
    return [item for page, items in _stored().items() if _opens(page) for item in items]


@st.cache_data(ttl=_BATCHES_SECONDS, max_entries=200, show_spinner=False)
def _batches_of(person: Annotator) -> list[Item]:
    """The open batches that a person may judge."""
    return [
        Item("Batch", batch.name, f"{batch.per_pair} per pair", _to("annotate", batch=batch.name))
        for batch in list_batches(judgments())
        if batch.is_open and batch.admits(person)
    ]


def _batches() -> list[Item]:
    person = annotator()
    return _batches_of(person) if person is not None and _opens("annotate") else []


def _jobs() -> list[Item]:
    if not _opens("jobs"):
        return []
    visible = [job for job in list_jobs(workspace()) if may(role(), right_of_command(job.arguments))]
    return [
        Item("Job", f"Job {job.id}", f"berdseye {' '.join(job.arguments)}", _to("jobs", job=job.id))
        for job in visible[:_JOBS_LISTED]
    ]


def _written(*_: object) -> tuple[object, ...]:
    return tuple(dataset_names(workspace())), *_changed()


@cached_on(_written, max_entries=2, shared=True)
def _all_questions() -> list[tuple[str, Item]]:
    """The questions of all data sets, each with its text in lower case; a question of several versions is listed once."""
    seen: dict[tuple[str, str], Item] = {}
    for dataset in dataset_names(workspace()):
        for question in questions_of(dataset).values():
            item = Item("Question", question.text, dataset, _to("explore", set=dataset, question=question.id))
            seen.setdefault((dataset.partition("@")[0], question.text), item)
    return [(f" {item.name.casefold()} {item.detail.casefold()}", item) for item in seen.values()]


def _questions(words: str) -> list[Item]:
    """Questions that contain all words: first those that begin with them, then those with all at the beginnings of words."""
    if not _opens("explore"):
        return []
    phrase = words.casefold()
    parts = phrase.split()
    ranked: dict[int, list[Item]] = {0: [], 1: [], 2: [], 3: []}
    for text, item in _all_questions():
        if not all(part in text for part in parts):
            continue
        place = (
            0
            if text.startswith(f" {phrase}")
            else 1
            if f" {phrase}" in text
            else 2
            if all(f" {part}" in text for part in parts)
            else 3
        )
        if len(ranked[place]) < MOST_QUESTIONS:
            ranked[place].append(item)
        if len(ranked[0]) == MOST_QUESTIONS:
            break
    return [item for items in ranked.values() for item in items][:MOST_QUESTIONS]


def _passages(words: str) -> list[Item]:
    """Passages whose title contains the words, then passages with all words among those that BM25 finds, where there is an
    index."""
    if not _opens("passage"):
        return []
    found: list[Item] = []
    for name in workspace().corpora():
        corpus = open_corpus(workspace(), name)
        if corpus.manifest.kind != "passages":
            continue
        in_title = titles_with(corpus, words, _PER_CORPUS) if corpus.manifest.count <= _TITLES_READ else {}
        passages = corpus.passages(list(in_title))
        if len(passages) < _PER_CORPUS and (index_folder(corpus, LexicalIndexer()) / "manifest.json").exists():
            _, ranked = hits(name, "bm25", Query(words), _READ)
            passages += [p for p in ranked if p.id not in in_title and _has_all(p, words)]
        found += [
            Item("Passage", p.title or "untitled", f"{name} · {p.text[:_EXCERPT]}", passage_address(name, p.id))
            for p in passages[:_PER_CORPUS]
        ]
    return found[:MOST_PASSAGES]


def _has_all(passage: Passage, words: str) -> bool:
    text = index_text(passage).casefold()
    return all(word in text for word in words.casefold().split())


def as_data(items: Sequence[Item]) -> list[Mapping[str, str]]:
    """Return items as the browser receives them."""
    return [item._asdict() for item in items]
