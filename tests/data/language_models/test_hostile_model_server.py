"""A language model server that means harm: endless, packed and redirecting answers, wrong types, the key sent back."""

import gzip
import json
from typing import Any

import pytest

from berdseye.data.errors import BerdseyeError
from berdseye.data.language_models import server
from berdseye.data.language_models.api import ApiModel
from berdseye.data.language_models.protocol import Message
from berdseye.retrieval.encoders.endpoint import EndpointEncoder
from tests.data.language_models.chat_server import ChatServer, Reply, completion
from tests.data.language_models.serving import KEY, Serving

PROMPT = (Message("user", "What do you know?"),)


def told(**options: Any) -> str:
    with pytest.raises(BerdseyeError) as raised:
        ApiModel("small", retries=0, **options).complete([PROMPT], max_tokens=5)
    assert KEY not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>sign in</html>", b"", b"\xff\xfe{", b"null", b"[]", b"7", b"[" * 100_000, b'{"choices": ' + b"1" * 5000 + b"}",
        b'{"choices": {}}', b'{"choices": [{"message": {"content": {"a": 1}}}]}', b'{"choices": [null]}',
        b'{"error": {"message": "no credit"}}',
    ],
)  # fmt: skip
def test_an_answer_of_a_wrong_form_is_reported(serve: Serving, body: bytes) -> None:
    serve(lambda _: Reply(200, body))
    assert "not a chat completion" in told()


def test_wrong_types_beside_the_text_cost_nothing_and_break_nothing(serve: Serving) -> None:
    whole: dict[str, Any] = completion("yes").body
    for usage in (None, [], {"prompt_tokens": "many"}, {"prompt_tokens": 1e999, "completion_tokens": -1}):
        serve(lambda _, usage=usage: Reply(200, {**whole, "usage": usage}))
        (done,) = ApiModel("small", retries=0).complete([PROMPT], max_tokens=5)
        assert done.text == "yes"
        assert done.cost is None


def test_an_answer_without_end_is_cut(serve: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_LONGEST_ANSWER", 10_000)
    serve(lambda _: completion("x" * 20_000))
    assert "larger than 10,000 bytes" in told()


def test_a_packed_answer_is_not_unpacked(serve: Serving) -> None:
    packed = gzip.compress(json.dumps(completion("x" * 10_000_000).body).encode())
    serve(lambda _: Reply(200, packed, (("Content-Encoding", "gzip"),)))
    assert "compressed as gzip" in told()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_the_prompt_nowhere(serve: Serving, status: int) -> None:
    with ChatServer(lambda _: completion("inside")) as inside:  # it listens, and nobody should come
        serve(lambda _: Reply(status, b"", (("Location", f"{inside.url}/chat/completions"),)))
        assert f"status {status}" in told(timeout=5.0)
        assert inside.requests == []


def test_a_key_that_is_sent_back_is_not_shown(serve: Serving) -> None:
    for status in (400, 401, 403, 404, 409, 422, 429, 500):
        serve(lambda _, status=status: Reply(status, {"error": {"message": f"wrong key {KEY}", "code": KEY}}))
        told()


def test_embeddings_of_a_wrong_form_are_reported(serve: Serving) -> None:
    serve(lambda _: completion("no vectors here"))
    with pytest.raises(BerdseyeError) as raised:
        EndpointEncoder("small").encode_queries(["a"])
    assert KEY not in str(raised.value)
