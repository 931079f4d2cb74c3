"""Documents of a question: from passages, pages and the web, merged, ranked again, read whole, and shown within limits."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from berdseye.data.corpora import add_corpus
from berdseye.data.corpora.web import add_web_corpus
from berdseye.data.errors import BadInputError, StaleError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.debateqa.documents import Documents
from berdseye.evaluation.construction.debateqa.evidence import relevance
from berdseye.evaluation.construction.kinds import kind_of
from berdseye.evaluation.construction.working import Working
from tests.data.web.web_servers import Site, plain, quick, search_results, serving

LONG = " ".join(f"Zoos keep animal number {n} safe." for n in range(120))
TEXTS = {
    "long": LONG,
    "harm": "Cages harm animals. Zoos are cages. See https://cages.org/x ____ for more.",
    "teach": "Zoos teach children about animals.",
    "shop": "Zoos sell tickets to see animals.",
}


def add(workspace: Workspace, name: str, kind: str, only: tuple[str, ...] = tuple(TEXTS)) -> None:
    rows = [
        {"id": i, "title": i.title(), "text": TEXTS[i], "url": f"https://{i}.{'com' if i == 'shop' else 'org'}/a"}
        for i in only
    ]
    source = workspace.folder / f"{name}.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    add_corpus(workspace, name, source, kind=kind)  # type: ignore[arg-type]


def documents(workspace: Workspace, corpora: str, **settings: Any) -> Documents:
    defaults = {option.name: option.default for option in kind_of("debateqa").options}
    return Documents(Working(workspace, {**defaults, "corpora": corpora, **settings}, {}, {}))


@pytest.mark.parametrize("kind", ["passages", "pages"])
def test_whole_documents_of_trusted_sites_are_found_once(workspace: Workspace, kind: str) -> None:
    add(workspace, "docs", kind)
    held = documents(workspace, "docs")
    found = held.found("Should zoos keep animals?", ["zoos animals", "animals in cages", "zoos teach"])
    assert {one["source_id"].partition("#")[0] for one in found} == {"long", "harm", "teach"}
    assert [one["number"] for one in found] == [1, 2, 3]
    texts = {one["title"]: held.text(one) for one in found}
    assert texts["Long"] == LONG
    assert found == held.found("Should zoos keep animals?", ["zoos animals", "animals in cages", "zoos teach"])
    assert json.loads(json.dumps(found)) == found
    every = documents(workspace, "docs", trusted="all").found("Zoos?", ["zoos animals"])
    assert len(every) == 4


def test_equal_documents_of_two_corpora_are_one(workspace: Workspace) -> None:
    add(workspace, "one", "passages")
    add(workspace, "two", "passages", ("harm", "teach"))
    found = documents(workspace, "one, two").found("Should zoos keep animals?", ["zoos animals cages"])
    assert sorted(one["title"] for one in found) == ["Harm", "Long", "Teach"]
    assert {one["corpus"] for one in found} == {"one"}
    assert len(documents(workspace, "one", documents=2).found("Zoos?", ["zoos animals cages"])) == 2


def test_documents_are_shown_numbered_clean_and_cut(workspace: Workspace) -> None:
    add(workspace, "docs", "passages")
    held = documents(workspace, "docs")
    found = held.found("Should zoos keep animals?", ["zoos animals cages"])
    shown = held.shown(found)
    harm = next(one for one in found if one["title"] == "Harm")
    assert f"[Document {harm['number']}] Cages harm animals. Zoos are cages. See for more." in shown
    assert LONG in shown
    short = documents(workspace, "docs", document_tokens=13).shown(found)
    assert all(len(text.split("] ", 1)[1].split()) <= 10 for text in short.split("\n\n"))
    assert f"[Document {harm['number']}] Cages harm animals. Zoos are cages. See for more." in short
    together = documents(workspace, "docs", total_tokens=26).shown(found)
    assert together.count("[Document ") == len(found), "no document is lost"
    assert sum(len(text.split("] ", 1)[1].split()) for text in together.split("\n\n")) <= 20


def test_another_reranker_orders_the_documents(workspace: Workspace) -> None:
    add(workspace, "docs", "passages")
    by_words = documents(workspace, "docs", reranker="bm25").found("teach children", ["zoos animals cages"])
    assert by_words[0]["title"] == "Teach"
    with pytest.raises(UnknownNameError, match="dens"):
        documents(workspace, "docs", reranker="dens(static)").found("teach", ["zoos"])


def test_a_document_that_changed_is_noticed(workspace: Workspace) -> None:
    add(workspace, "docs", "passages")
    held = documents(workspace, "docs")
    [first, *_] = held.found("Zoos?", ["zoos animals"])
    with pytest.raises(StaleError, match="no longer what it was"):
        held.text({**first, "hash": "0"})


def test_names_that_do_not_exist_are_refused(workspace: Workspace) -> None:
    add(workspace, "docs", "passages")
    with pytest.raises(UnknownNameError, match="corpus"):
        documents(workspace, "dogs")
    with pytest.raises(UnknownNameError, match="trusted"):
        documents(workspace, "docs", trusted="friends")
    with pytest.raises(BadInputError, match="no corpus"):
        documents(workspace, " ")


def test_relevance_is_the_mean_over_chunks(workspace: Workspace) -> None:
    del workspace
    same = relevance("Zoos teach children.", ["Zoos teach children."], "static")
    assert same == pytest.approx(1, abs=1e-5)
    mixed = relevance("Zoos teach children.", ["Zoos teach children.", "Steel costs more."], "static")
    other = relevance("Zoos teach children.", ["Steel costs more."], "static")
    assert mixed == pytest.approx((same + other) / 2, abs=1e-5)
    assert relevance("Zoos teach children.", [], "static") == 0


@pytest.fixture
def web(workspace: Workspace) -> Iterator[Site]:
    """A corpus of the web whose search finds three pages, one of them by another query."""
    with ExitStack() as running:
        engine, site = (running.enter_context(serving(Site())) for _ in range(2))
        for name in ("harm", "teach", "shop"):
            site.replies[f"/{name}"] = plain(TEXTS[name] * 3)
        engine.replies["/search"] = search_results([site.url(f"/{name}") for name in ("harm", "teach", "shop")])
        add_web_corpus(workspace, "net", quick(address=engine.url()))
        yield site


def test_pages_of_the_web_are_documents(workspace: Workspace, web: Site, tmp_path: Path) -> None:
    del tmp_path
    held = documents(workspace, "net", trusted="all")
    found = held.found("Should zoos keep animals?", ["zoos animals", "cages"])
    assert sorted(one["url"] for one in found) == sorted(web.url(f"/{name}") for name in ("harm", "teach", "shop"))
    assert TEXTS["teach"] in next(held.text(one) for one in found if one["url"].endswith("teach"))
    assert documents(workspace, "net").found("Zoos?", ["zoos animals"]) == [], "loopback is no trusted site"
