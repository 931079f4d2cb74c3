"""Servers that the environment points to, for one test."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.data.language_models.chat_server import Answer, ChatServer, chat_server

KEY = "sk-very-secret-0123456789"


class Serving:
    """Starts servers and points the environment to them."""

    def __init__(self, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stack, self.monkeypatch = stack, monkeypatch

    def __call__(self, answer: Answer) -> ChatServer:
        server = self.stack.enter_context(chat_server(answer))
        self.monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        self.monkeypatch.setenv("OPENAI_API_KEY", KEY)
        return server


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    with ExitStack() as stack:
        yield Serving(stack, monkeypatch)
