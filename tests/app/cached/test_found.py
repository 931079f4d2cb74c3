"""What the command palette offers: everything with a name that a role may open, and questions and passages by words."""

from pathlib import Path

import pytest

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Annotator, Judgments, PairRecord
from berdseye.app.access.roles import MAY, right_of_page
from berdseye.app.cached import found
from berdseye.app.cached.found import ACTION, ACTIONS, found_items, listed_items
from berdseye.app.navigation import VIEWS
from berdseye.data.corpora import open_corpus
from berdseye.data.corpora.corpus import titles_with
from berdseye.data.people import ROLES, Role
from berdseye.data.runs.stored import list_runs
from berdseye.data.workspace import Workspace

CARS = "Should cities ban private cars from their centres?"


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch, demo: Workspace) -> Annotator:
    """Somebody who is signed in."""
    found._batches_of.clear()
    ana = Judgments.open(demo.judgments_url).sign_in("Ana")
    monkeypatch.setattr(found, "annotator", lambda: ana)
    return ana


def of_kind(kind: str) -> list[str]:
    return [item.name for item in listed_items() if item.kind == kind]


@pytest.mark.usefixtures("person")
def test_everything_with_a_name_is_listed(demo: Workspace) -> None:
    assert of_kind("Run") == [run.name for run in list_runs(demo)]
    assert of_kind("Corpus") == demo.corpora()
    assert of_kind("Data set") == demo.datasets()
    assert "stance" in of_kind("Detector")
    assert set(of_kind("Page")) == {view.title for name, view in VIEWS.items() if name not in ("passage", "question")}
    assert of_kind("Action") == [action.name for action in ACTIONS]
    assert {"Judging", "Batches"} <= set(of_kind("Documentation"))
    assert all(item.address.startswith(ACTION) or item.address.partition("?")[0] in VIEWS for item in listed_items())


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("role", [None, *ROLES])
def test_nothing_is_offered_that_the_role_may_not_open(role: Role | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "role", lambda: role)
    rights = MAY[role] if role is not None else frozenset()
    for item in [*listed_items(), *found_items("cars")]:
        if not item.address.startswith(ACTION):
            assert right_of_page(item.address.partition("?")[0]) in rights, item
    if role == "annotator":
        assert of_kind("Run") == of_kind("Detector") == of_kind("Job") == []
        assert of_kind("Action") == ["Undo my last judgment", "Start the tour", "Show all keys"]
    if role is None:
        assert listed_items() == found_items("cars") == []


def test_a_batch_is_offered_to_those_it_is_for(demo: Workspace, person: Annotator) -> None:
    held = Judgments.open(demo.judgments_url)
    bea = held.sign_in("Bea")
    pairs = [
        Item(PairRecord("d", "q", "Cats?", f"Cats are good {n}.", None, "c", "", "Cats purr."), 0.5) for n in range(2)
    ]
    create_batch(held, BatchPlan("for-all", people=()), pairs)
    create_batch(held, BatchPlan("for-ana", people=(person.name,)), pairs)
    create_batch(held, BatchPlan("for-bea", people=(bea.name,)), pairs)
    assert set(of_kind("Batch")) == {"for-all", "for-ana"}


@pytest.mark.usefixtures("person")
def test_questions_are_found_by_their_words_best_first() -> None:
    assert [i.name for i in found_items("private cars") if i.kind == "Question"] == [CARS]
    begins = [i.name for i in found_items("is it better") if i.kind == "Question"]
    assert len(begins) == 3
    assert all(name.startswith("Is it better") for name in begins)
    assert [i.name for i in found_items("CARS  cities") if i.kind == "Question"] == [CARS]
    [cars] = [i for i in found_items("private cars") if i.kind == "Question"]
    assert cars.address.startswith("explore?set=debate&question=")
    assert found_items("c") == found_items("  ") == []


@pytest.mark.usefixtures("person")
def test_passages_are_found_by_title_then_by_all_their_words(demo: Workspace) -> None:
    passages = [i for i in found_items("homework") if i.kind == "Passage"]
    assert "Homework" in {i.name for i in passages}
    corpus = open_corpus(demo, "encyclopedia")
    first = corpus.passages([0])[0]
    words = " ".join(first.text.split()[:6]).strip(".,")
    assert any(i.address == "passage?corpus=encyclopedia&id=0" for i in found_items(words))
    assert [i for i in found_items("homework qqqqq") if i.kind == "Passage"] == []


def test_titles_are_read_whole_and_those_that_begin_with_the_words_come_first(demo: Workspace) -> None:
    corpus = open_corpus(demo, "encyclopedia")
    titles = list(titles_with(corpus, "car", 50).values())
    begins = [title.lower().startswith("car") for title in titles]
    assert len(set(titles)) == len(titles)
    assert begins == sorted(begins, reverse=True)
    assert any(begins)
    assert all("car" in title.lower() for title in titles)
    assert titles_with(corpus, "100%_", 5) == {}
    assert titles_with(open_corpus(demo, "pages"), "car", 5) == {}


@pytest.mark.usefixtures("person")
def test_damaged_files_leave_the_rest_of_the_palette(demo: Workspace) -> None:
    path: Path = next(demo.runs_folder.glob("*.json"))
    path.write_text("{", encoding="utf-8")
    assert "Explore" in of_kind("Page")
