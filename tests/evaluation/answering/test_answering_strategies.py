"""Plain, vanilla RAG and ReAct, by a scripted model over five documents."""

import re

import pytest
from answering_world import CARS, ZOOS, asker_of, source_of

from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answering.strategies import plain, react, vanilla


def agent(asked: str) -> str:
    """Searches for what costs, then for cages; answers with the numbers of the passages it was shown."""
    if "Search: the words" in asked:
        return "Thought: ...\nSearch: " + ("cages harm" if "ticket" in asked else "ticket")
    return " ".join(re.findall(r"^\[\d\] (\w+)", asked, re.MULTILINE)) or "nothing read"


def test_plain_reads_nothing(workspace: Workspace) -> None:
    asker, _ = asker_of(workspace, agent)
    assert [(w.text, w.read, w.searches) for w in plain(asker, [ZOOS, CARS])] == [("nothing read", (), ())] * 2


def test_vanilla_reads_the_best_chunks(workspace: Workspace) -> None:
    asker, _ = asker_of(workspace, agent)
    zoos, cars = vanilla(asker, [ZOOS, CARS], source_of(workspace), chunks=2)
    assert len(zoos.read) == 2
    assert {c.title for c in zoos.read} < {"protect", "harm", "cost"}
    assert (cars.text, cars.searches) == ("cars", (CARS,)), "one document alone has any of the words"


def test_react_searches_in_turn_and_reads_nothing_twice(workspace: Workspace) -> None:
    asker, model = asker_of(workspace, agent)
    (written,) = react(asker, [ZOOS], source_of(workspace), retrievals=3, chunks=1)
    assert written.searches == (ZOOS, "ticket", "cages harm")
    titles = [c.title for c in written.read]
    assert len(titles) == len(set(titles)) == 3
    assert titles[1:] == ["cost", "harm"]
    assert written.text == " ".join(titles)
    # Two searches and the answer, each of 10 and 2 tokens and half a dollar.
    assert written.spent[:4] == (3, 30, 6, 1.5)
    assert len(model.asked) == 3
    assert f"<searches>\n{ZOOS}\nticket\n</searches>" in model.asked[1]


def test_react_goes_on_with_a_model_that_names_no_search(workspace: Workspace) -> None:
    asker, _ = asker_of(workspace, lambda asked: "" if "Search: the words" in asked else "well")
    (written,) = react(asker, [ZOOS], source_of(workspace), retrievals=2, chunks=1)
    assert written.searches == (ZOOS, ZOOS)
    assert len({c.title for c in written.read}) == 2, "the question again finds what comes next"


def test_trusted_sites_only(workspace: Workspace) -> None:
    asker, _ = asker_of(workspace, agent)
    (cars,) = vanilla(asker, [CARS], source_of(workspace, trusted_only=True))
    assert (cars.read, cars.text) == ((), "nothing read")


@pytest.mark.parametrize(("retrievals", "chunks"), [(0, 3), (3, 0)])
def test_too_little_to_read_is_refused(workspace: Workspace, retrievals: int, chunks: int) -> None:
    asker, model = asker_of(workspace, agent)
    with pytest.raises(BadInputError, match="at least 1"):
        react(asker, [ZOOS], source_of(workspace), retrievals=retrievals, chunks=chunks)
    assert model.asked == []


def test_what_was_written_is_never_paid_for_again(workspace: Workspace) -> None:
    source = source_of(workspace)

    def fails_at_the_end(asked: str) -> str:
        if "Search: the words" not in asked:
            raise KeyboardInterrupt
        return agent(asked)

    broken, asked_before = asker_of(workspace, fails_at_the_end)
    with pytest.raises(KeyboardInterrupt):
        react(broken, [ZOOS, CARS], source)
    again, asked_after = asker_of(workspace, agent)
    react(again, [ZOOS, CARS], source)
    # Four searches (two for each question) stand; the first answer was under way when it broke off.
    assert len(asked_before.asked) == 5
    assert len(asked_after.asked) == 2
    whole, asked = asker_of(workspace, agent)
    react(whole, [ZOOS, CARS], source)
    assert asked.asked == []
