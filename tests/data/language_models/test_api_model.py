"""Language models behind an address: answers, costs, and every way a server can fail."""

import socket
import threading
import time
from typing import Any

import pytest

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.language_models.api import ApiModel
from berdseye.data.language_models.cost import Price
from berdseye.data.language_models.protocol import Completion, Message, Prompt
from tests.data.language_models.chat_server import (
    Reply,
    completion,
    last_words,
    refusal,
)
from tests.data.language_models.serving import KEY, Serving


def asking(*texts: str) -> list[Prompt]:
    return [(Message("system", "Be short."), Message("user", text)) for text in texts]


def test_answers_come_in_the_order_of_the_prompts_with_tokens_and_cost(serve: Serving) -> None:
    def later_for_earlier(body: dict[str, Any]) -> Reply:
        number = int(last_words(body))
        time.sleep(0.02 * (4 - number))
        return completion(f"answer {number}", prompt_tokens=100 + number, completion_tokens=10)

    server = serve(later_for_earlier)
    told: list[int] = []
    model = ApiModel("small", Price(0.15, 0.60))
    done = model.complete(asking("0", "1", "2", "3"), max_tokens=20, progress=lambda count, _: told.append(count))
    assert [c.text for c in done] == ["answer 0", "answer 1", "answer 2", "answer 3"]
    assert done[2] == Completion("answer 2", 102, 10, pytest.approx((102 * 0.15 + 10 * 0.60) / 1e6))
    assert told == [1, 2, 3, 4]
    assert server.keys == [f"Bearer {KEY}"] * 4
    assert server.requests[0]["model"] == "small"
    assert server.requests[0]["messages"][0] == {"role": "system", "content": "Be short."}
    assert (server.requests[0]["temperature"], server.requests[0]["max_tokens"]) == (0, 20)
    assert "seed" not in server.requests[0]


def test_requests_go_out_side_by_side(serve: Serving) -> None:
    together = threading.Barrier(4, timeout=20)

    def wait_for_the_others(_: dict[str, Any]) -> Reply:
        together.wait()
        return completion("here")

    serve(wait_for_the_others)
    done = ApiModel("small", concurrency=4, retries=0).complete(asking("a", "b", "c", "d"), max_tokens=5)
    assert [c.text for c in done] == ["here"] * 4


def test_a_seed_is_sent_where_it_matters_and_an_unknown_price_is_no_price(serve: Serving) -> None:
    server = serve(lambda _: completion("x"))
    (done,) = ApiModel("small").complete(asking("a"), max_tokens=5, temperature=0.7, seed=9)
    assert "top_p" not in server.requests[0]
    ApiModel("small").complete(asking("a"), max_tokens=5, temperature=0.7, top_p=0.4)
    assert server.requests[1]["top_p"] == 0.4
    assert (server.requests[0]["seed"], server.requests[0]["temperature"]) == (9, 0.7)
    assert done == Completion("x", 7, 3, None)


def test_a_server_that_counts_no_tokens(serve: Serving) -> None:
    reply = completion("x")
    del reply.body["usage"]
    serve(lambda _: reply)
    assert ApiModel("small", Price(1, 1)).complete(asking("a"), max_tokens=5) == [Completion("x", None, None, None)]


def test_a_refusal_by_a_content_filter_is_an_empty_answer(serve: Serving) -> None:
    serve(lambda body: refusal(400, code="content_filter") if "bad" in last_words(body) else completion(None))
    done = ApiModel("small").complete(asking("bad", "silent"), max_tokens=5)
    assert [c.text for c in done] == ["", ""]


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (refusal(401, f"Incorrect API key provided: {KEY}"), UnavailableError, "rejected the key"),
        (refusal(403, f"{KEY} may not"), UnavailableError, "rejected the key"),
        (refusal(404), BadInputError, "has no model 'small'"),
        (refusal(429), UnavailableError, "Too many requests"),
        (refusal(500), UnavailableError, "failed with status 500"),
        (refusal(400, f"context too long,\nsays {KEY}"), BadInputError, "context too long, says …"),
        (Reply(200, b"<html>Welcome to the hotel</html>"), UnavailableError, "not a chat completion"),
        (Reply(200, {"hello": "there"}), UnavailableError, "not a chat completion"),
        (Reply(200, {"choices": []}), UnavailableError, "not a chat completion"),
        (Reply(200, {"choices": [{"index": 0}]}), UnavailableError, "not a chat completion"),
        (Reply(200, {"choices": ["text"]}), UnavailableError, "not a chat completion"),
        (Reply(200, [1, 2]), UnavailableError, "not a chat completion"),
        (Reply(200, {"choices": [{"message": {"content": [1]}}]}), UnavailableError, "not a chat completion"),
    ],
)
def test_what_goes_wrong_is_one_line_without_the_key(
    serve: Serving, reply: Reply, kind: type[Exception], said: str
) -> None:
    server = serve(lambda _: reply)
    with pytest.raises(kind) as error:
        ApiModel("small", retries=0).complete(asking("a"), max_tokens=5)
    assert said in str(error.value)
    assert server.url.removeprefix("http://") in str(error.value)
    assert KEY not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_server_that_is_busy_for_a_while_is_asked_again(serve: Serving) -> None:
    replies = iter([refusal(429), refusal(503), completion("at last")])
    server = serve(lambda _: next(replies))
    assert ApiModel("small", retries=2).complete(asking("a"), max_tokens=5)[0].text == "at last"
    assert len(server.requests) == 3


def test_a_server_that_is_slow(serve: Serving) -> None:
    def slow(_: dict[str, Any]) -> Reply:
        time.sleep(0.5)
        return completion("late")

    serve(slow)
    with pytest.raises(UnavailableError, match=r"did not respond in time"):
        ApiModel("small", retries=0, timeout=0.1).complete(asking("a"), max_tokens=5)


def test_no_server_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://someone:password@127.0.0.1:{port}/v1")
    model = ApiModel("small", retries=0)
    with pytest.raises(UnavailableError, match="cannot be reached") as error:
        model.complete(asking("a"), max_tokens=5)
    assert "password" not in str(error.value)
    assert model.version == f"small@127.0.0.1:{port}/v1"


def test_no_server_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UnavailableError, match="No language model server is configured"):
        ApiModel("small").complete(asking("a"), max_tokens=5)
    assert ApiModel("small").version == "small@api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    with pytest.raises(BadInputError, match="OPENAI_BASE_URL is not a web address"):
        ApiModel("small").complete(asking("a"), max_tokens=5)


def test_a_server_of_ones_own_needs_no_key(serve: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(lambda _: completion("free"))
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ApiModel("small").complete(asking("a"), max_tokens=5)[0].text == "free"
    assert KEY not in str(server.keys)


def test_what_was_finished_before_a_failure_is_handed_over_and_nothing_new_is_sent(serve: Serving) -> None:
    failed = threading.Event()

    def answer(body: dict[str, Any]) -> Reply:
        if last_words(body) == "1":
            failed.set()
            return refusal(401)
        failed.wait(20)
        time.sleep(0.2)
        return completion(f"paid for {last_words(body)}")

    server = serve(answer)
    kept: dict[int, str] = {}
    with pytest.raises(UnavailableError, match="rejected the key"):
        ApiModel("small", retries=0, concurrency=3).complete(
            asking(*map(str, range(20))), max_tokens=5, ready=lambda place, done: kept.update({place: done.text})
        )
    assert kept[0] == "paid for 0"
    assert kept[2] == "paid for 2"
    assert len(server.requests) == len(kept) + 1 < 20


def test_canonical_names() -> None:
    assert ApiModel("gpt-4o-mini").name == "api(gpt-4o-mini)"
    assert ApiModel("meta/llama 3").name == 'api("meta/llama 3")'
    assert ApiModel("any").complete([], max_tokens=5) == []
