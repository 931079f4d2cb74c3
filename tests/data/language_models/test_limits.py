"""What bounds the requests to a server: a cap in dollars, and a number a minute."""

import threading
import time
from typing import Any

import pytest

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.language_models.api import ApiModel, Pace
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.model_registry import open_language_model
from berdseye.data.workspace import Workspace
from tests.data.language_models.cache_writer import ECHO
from tests.data.language_models.chat_server import Reply, completion, last_words
from tests.data.language_models.serving import Serving

TEN = [{"Text": str(number)} for number in range(10)]


def with_settings(workspace: Workspace, text: str) -> Workspace:
    (workspace.folder / "berdseye.toml").write_text(f"[language_models]\n{text}")
    return Workspace.open(workspace.folder)


def opened(workspace: Workspace, concurrency: int = 8) -> ApiModel:
    model = open_language_model("api(small)", workspace)
    assert isinstance(model, ApiModel)
    model.concurrency = concurrency
    return model


@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_cap_is_kept_and_what_was_paid_for_is_kept(serve: Serving, workspace: Workspace, concurrency: int) -> None:
    """A call costs 10 cents for its 100 tokens; it could have cost 17 for all that its bytes and its limit allow."""
    held = with_settings(workspace, "cap = 0.5\nprices.small = [1000, 1000]")
    server = serve(lambda _: completion("said", prompt_tokens=97, completion_tokens=3))
    cache = CompletionCache(held)
    with pytest.raises(UnavailableError, match=r"the cap of \$0\.50 are already spent\..* raise cap") as error:
        cache.complete(opened(held, concurrency), ECHO, TEN, max_tokens=100)
    assert "$0.4000" in str(error.value)
    assert cache.spent().cost == pytest.approx(0.4)
    assert len(server.requests) == cache.spent().calls == 4

    raised = with_settings(workspace, "cap = 2\nprices.small = [1000, 1000]")
    assert len(cache.complete(opened(raised), ECHO, TEN, max_tokens=100)) == 10
    assert len(server.requests) == 10, "nothing is paid for twice"


def test_the_cap_counts_what_others_spent_meanwhile(serve: Serving, workspace: Workspace) -> None:
    held = with_settings(workspace, "cap = 0.5\nprices.small = [1000, 1000]\nprices.other = [1000, 1000]")
    serve(lambda _: completion("said", prompt_tokens=97, completion_tokens=3))
    cache = CompletionCache(held)
    cache.complete(opened(held), ECHO, TEN[:1], max_tokens=100)
    cache.complete(open_language_model("api(other)", held), ECHO, TEN[:3], max_tokens=100)
    with pytest.raises(UnavailableError, match="the cap"):
        cache.complete(opened(held), ECHO, TEN, max_tokens=100)
    assert cache.spent().cost <= 0.5


def test_a_cap_needs_a_price_and_a_server_that_counts(serve: Serving, workspace: Workspace) -> None:
    server = serve(lambda _: completion("said"))
    with pytest.raises(UnavailableError, match=r"The cost of api\(small\) is not known.*\[0, 0\]"):
        opened(with_settings(workspace, "cap = 1")).complete([ECHO.fill({"Text": "a"})], max_tokens=5)
    assert server.requests == []

    def uncounted(_: dict[str, Any]) -> Reply:
        reply = completion("said")
        del reply.body["usage"]
        return reply

    server.answer = uncounted
    held = with_settings(workspace, "cap = 1\nprices.small = [1, 1]")
    with pytest.raises(UnavailableError, match="is not known"):
        CompletionCache(held).complete(opened(held, concurrency=1), ECHO, TEN, max_tokens=5)
    assert len(server.requests) == CompletionCache(held).spent().calls == 1


def test_a_free_server_is_not_capped(serve: Serving, workspace: Workspace) -> None:
    serve(lambda _: completion("said"))
    held = with_settings(workspace, "cap = 0.01\nprices.small = [0, 0]")
    assert len(CompletionCache(held).complete(opened(held), ECHO, TEN, max_tokens=100)) == 10


def test_requests_a_minute(serve: Serving, workspace: Workspace) -> None:
    came: list[float] = []

    def note(body: dict[str, Any]) -> Reply:
        came.append(time.monotonic())
        return completion(last_words(body))

    serve(note)
    held = with_settings(workspace, "requests_per_minute = 600")
    opened(held).complete([ECHO.fill(text) for text in TEN[:6]], max_tokens=5)
    assert max(came) - min(came) > 0.45, "five distances of a tenth of a second"


def test_who_waits_for_a_turn_stops_when_the_work_does() -> None:
    pace, stopping = Pace(1), threading.Event()
    pace.wait(stopping)
    threading.Timer(0.1, stopping.set).start()
    began = time.monotonic()
    pace.wait(stopping)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("value", ["-1", "true", "'5'", "inf", "nan"])
def test_a_cap_that_is_no_amount(workspace: Workspace, value: str) -> None:
    with pytest.raises(BadInputError, match=r"'cap' in \[language_models\] must be a number of at least 0"):
        with_settings(workspace, f"cap = {value}")
