"""Perspectives that a language model writes, through a real server."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from berdseye.data.errors import UnavailableError
from berdseye.data.grammar import parse
from berdseye.data.language_models.api import ApiModel
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.cost import Price
from berdseye.data.workspace import Workspace
from berdseye.retrieval.expansion.language_model import EXPANSION, ModelSource
from berdseye.retrieval.expansion.protocol import Failure
from berdseye.retrieval.expansion.source_registry import parse_source
from tests.data.language_models.chat_server import ChatServer, Reply, chat_server, completion, last_words, refusal

ZOOS, UNIFORMS, GARBAGE = "Are zoos good?", "Should pupils wear uniforms?", "Say garbage?"


class Scripted:
    """A model that lists two answers, says garbage where it is told to, and can be broken."""

    def __init__(self) -> None:
        self.second_try_helps = False
        self.broken = False

    def __call__(self, body: dict[str, Any]) -> Reply:
        words = last_words(body)
        if self.broken and UNIFORMS in words:
            return refusal(401)
        if GARBAGE in words and not (self.second_try_helps and body["temperature"] > 0):
            return completion("I would rather not.")
        question = next(q for q in (ZOOS, UNIFORMS, GARBAGE) if q in words)
        return completion(json.dumps([question, f"Yes to {question}", f"No to {question}"]), 50, 20)


@pytest.fixture
def script() -> Scripted:
    return Scripted()


@pytest.fixture
def server(script: Scripted, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ExitStack() as stack:
        started = stack.enter_context(chat_server(script))
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        yield started


@pytest.fixture
def source(workspace: Workspace) -> ModelSource:
    return ModelSource(ApiModel("small", Price(1, 2), retries=0), CompletionCache(workspace))


def both(question: str) -> tuple[str, str]:
    return f"Yes to {question}", f"No to {question}"


def test_perspectives_are_asked_for_once_and_cost_once(server: ChatServer, source: ModelSource) -> None:
    assert source.perspectives([ZOOS, UNIFORMS, ZOOS]) == [both(ZOOS), both(UNIFORMS), both(ZOOS)]
    assert len(server.requests) == 2
    assert sum(f"<question>\n{ZOOS}\n</question>" in last_words(r) for r in server.requests) == 1
    assert source.perspectives([UNIFORMS]) == [both(UNIFORMS)]
    assert len(server.requests) == 2
    assert source.cache.spent("api(small)") == (2, 100, 40, pytest.approx((100 * 1 + 40 * 2) / 1e6), 0)


def test_an_answer_that_is_no_list_is_asked_for_once_more(
    server: ChatServer, script: Scripted, source: ModelSource
) -> None:
    script.second_try_helps = True
    failures: list[Failure] = []
    assert source.perspectives([ZOOS, GARBAGE], failed=failures.append) == [both(ZOOS), both(GARBAGE)]
    assert failures == []
    assert [(r["temperature"], r.get("seed")) for r in server.requests[2:]] == [(0.7, 1)]


def test_a_question_without_any_list_is_reported_and_left_as_it_is(server: ChatServer, source: ModelSource) -> None:
    failures: list[Failure] = []
    assert source.perspectives([GARBAGE, ZOOS], failed=failures.append) == [(), both(ZOOS)]
    assert [f.question for f in failures] == [GARBAGE]
    assert "api(small)" in failures[0].reason
    assert len(server.requests) == 3
    with pytest.warns(UserWarning, match="The question 'Say garbage"):
        assert source.perspectives([GARBAGE]) == [()]
    assert len(server.requests) == 3, "both tries are kept"


def test_a_server_that_fails_midway_and_comes_back(server: ChatServer, script: Scripted, source: ModelSource) -> None:
    script.broken = True
    with pytest.raises(UnavailableError, match="rejected the key"):
        ModelSource(ApiModel("small", retries=0, concurrency=1), source.cache).perspectives([ZOOS, UNIFORMS])
    assert len(server.requests) == 2
    script.broken = False
    assert source.perspectives([ZOOS, UNIFORMS]) == [both(ZOOS), both(UNIFORMS)]
    assert len(server.requests) == 3


def test_a_prompt_of_ones_own_is_another_source(server: ChatServer, workspace: Workspace, tmp_path: Path) -> None:
    prompt = tmp_path / "mine.txt"
    prompt.write_text("List answers to [Question]")
    (call,) = parse(f"expand(api(small,prompt={prompt}))")
    source = parse_source(call, workspace)
    assert source.name == f"api(small,prompt={prompt})"
    assert source.perspectives([ZOOS]) == [both(ZOOS)]
    assert last_words(server.requests[0]) == f"List answers to {ZOOS}"
    usual = parse_source(parse("expand(api(small))")[0], workspace)
    assert (usual.name, usual.version == source.version) == ("api(small)", False)
    assert usual.version.endswith(EXPANSION.version)
