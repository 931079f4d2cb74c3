"""What else language models judge: which side a perspective takes, and whether an answer says that people disagree."""

import json
from pathlib import Path
from typing import Any

import pytest

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.api import ApiModel
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.workspace import Workspace
from berdseye.detectors.disputes import Answered, dispute_awareness, dispute_prompt
from berdseye.detectors.sides import TwoSides, read_sides_prompt, supporting_sides
from tests.app.command_line import output
from tests.data.language_models.chat_server import Reply, completion, last_words
from tests.data.language_models.serving import Serving

PRO, CON = "Cars poison the air.", "People need their cars."


@pytest.fixture
def cache(workspace: Workspace) -> CompletionCache:
    return CompletionCache(workspace)


def poison_first(body: dict[str, Any]) -> Reply:
    asked = last_words(body)
    return completion("1" if asked.index("poison") < asked.index("need") else "Answer 2.")


def test_the_supporting_side_is_found_on_either_place_and_asked_once(serve: Serving, cache: CompletionCache) -> None:
    server = serve(poison_first)
    asked = [TwoSides("Should cars be banned?", PRO, CON), TwoSides("Should cars be banned?", CON, PRO)]
    assert supporting_sides(ApiModel("small"), cache, asked) == [0, 1]
    assert supporting_sides(ApiModel("small"), cache, asked) == [0, 1]
    assert len(server.requests) == 2


def test_sides_are_asked_with_a_prompt_of_ones_own(serve: Serving, cache: CompletionCache, tmp_path: Path) -> None:
    server = serve(poison_first)
    file = tmp_path / "sides.txt"
    file.write_text("[Question] 1: [First answer] 2: [Second answer] Which?")
    asked = [TwoSides("Ban cars?", CON, PRO)]
    assert supporting_sides(ApiModel("small"), cache, asked, prompt=read_sides_prompt(file)) == [1]
    assert last_words(server.requests[0]) == f"Ban cars? 1: {CON} 2: {PRO} Which?"
    file.write_text("[Question] 1: [First answer]")
    with pytest.raises(BadInputError, match=r"no \[Second answer\]"):
        read_sides_prompt(file)


def test_a_side_that_is_not_named(serve: Serving, cache: CompletionCache) -> None:
    serve(lambda _: completion("Both have a point."))
    with pytest.raises(BadInputError, match="neither 1 nor 2 for 1 of 1 questions"):
        supporting_sides(ApiModel("small"), cache, [TwoSides("Should cars be banned?", PRO, CON)])


def test_disputes(serve: Serving, cache: CompletionCache) -> None:
    server = serve(lambda body: completion("Yes" if "disagree" in last_words(body) else "No"))
    answered = [Answered("Ban cars?", text) for text in ("People disagree.", "Ban them.", "")]
    assert dispute_awareness(ApiModel("small"), cache, answered).tolist() == [1.0, 0.0, 0.0]
    assert len(server.requests) == 2


def test_a_prompt_of_ones_own_may_ask_for_one_or_nought(
    serve: Serving, cache: CompletionCache, workspace: Workspace
) -> None:
    (workspace.folder / "mine.txt").write_text("Q: [Question]\nA: [Answer]\n1 if disputed, else 0:")
    server = serve(lambda _: completion("1", first=[("1", -0.2876821), ("0", -1.3862944)]))
    prompt = dispute_prompt("mine.txt", workspace)
    found = dispute_awareness(ApiModel("small"), cache, [Answered("Ban cars?", "Who knows.")], prompt=prompt)
    assert found.tolist() == pytest.approx([0.75])
    assert last_words(server.requests[0]) == "Q: Ban cars?\nA: Who knows.\n1 if disputed, else 0:"
    (workspace.folder / "mine.txt").write_text("A: [Answer]")
    with pytest.raises(BadInputError, match=r"The prompt has no \[Question\]"):
        dispute_prompt("mine.txt", workspace)


def test_the_commands_print_what_was_judged(serve: Serving, workspace: Workspace) -> None:
    serve(poison_first)
    of = ("--model", "api(small)", "--workspace", str(workspace.folder), "--json")
    said = json.loads(output("llm", "sides", "Should cars be banned?", CON, PRO, *of))
    assert (said["supporting"], said["opposing"], said["model"]) == (PRO, CON, "api(small)")
    serve(lambda _: completion("Yes"))
    said = json.loads(output("llm", "disputed", "Should cars be banned?", "People disagree.", *of))
    assert (said["disputed"], said["probability"]) == (True, 1.0)
    assert json.loads(output("llm", "generated", *of[2:]))["calls"] == 2
