"""Encoders over HTTP, against a small real server on loopback."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders import endpoint
from berdseye.retrieval.encoders.encoder_registry import open_encoder

SIZE = 6


def vector(text: str) -> list[float]:
    return [float(len(text)), *(float(text.count(letter)) for letter in "aeiou")]


class EmbeddingServer(ThreadingHTTPServer):
    """Answers as OpenAI does, back to front; `change` spoils the answer, `status` refuses."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.status = 200
        self.failures = 0
        self.change: Any = lambda answer: answer


class Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        self.server.keys.append(self.headers["Authorization"])
        status = self.server.status
        if self.server.failures:
            self.server.failures -= 1
            status = 503
        rows = [{"object": "embedding", "index": i, "embedding": vector(t)} for i, t in enumerate(asked["input"])]
        answer: Any = {"object": "list", "model": asked["model"], "data": rows[::-1]}
        answer["usage"] = {"prompt_tokens": len(rows), "total_tokens": len(rows)}
        found = self.server.change(answer) if status == 200 else {"error": {"message": "no"}}
        body = (found if isinstance(found, str) else json.dumps(found)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        del args


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    running = EmbeddingServer()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{running.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setattr(endpoint, "_RETRIES", 0)
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


TEXTS = [f"zoos and {'trams ' * (n % 5)}{n}" for n in range(150)]


def unit(texts: list[str]) -> np.ndarray:
    rows = np.array([vector(t) for t in texts], dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_vectors_come_in_order_whatever_the_server_does(server: EmbeddingServer) -> None:
    encoder = open_encoder("api(some/model-1)")
    assert (encoder.name, encoder.similarity) == ("api(some/model-1)", "cosine")
    assert np.allclose(encoder.encode_queries(TEXTS), unit(TEXTS), atol=1e-6)
    assert encoder.dimension == SIZE
    assert {(asked["model"], asked["encoding_format"]) for asked in server.asked} == {("some/model-1", "float")}
    assert [len(asked["input"]) for asked in server.asked] == [1, 64, 64, 22]
    assert set(server.keys) == {"Bearer secret"}
    assert encoder.tokens_used == 151  # type: ignore[attr-defined]
    found = encoder.encode_passages([Passage(0, "a", "Zoos", "are many"), Passage(1, "b", "", "none")])
    assert np.allclose(found, unit(["Zoos are many", "none"]), atol=1e-6)


def test_prefixes_of_known_models_are_sent(server: EmbeddingServer) -> None:
    encoder = open_encoder("api(intfloat/e5-base-v2)")
    encoder.encode_queries(["zoos"])
    encoder.encode_passages([Passage(0, "a", "City", "cars")])
    assert [asked["input"] for asked in server.asked[1:]] == [["query: zoos"], ["passage: City cars"]]


def test_odd_texts_are_made_sendable(server: EmbeddingServer) -> None:
    encoder = open_encoder("api(m)")
    assert encoder.encode_queries([]).shape == (0, SIZE)
    assert encoder.encode_queries(["", "\ud800", "zoo " * 100_000]).shape == (3, SIZE)
    blank, odd, long = server.asked[-1]["input"]
    assert (blank, odd) == (" ", "?")
    assert len(long.split()) == 5000


def test_the_version_is_of_model_server_and_dimension(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {open_encoder("api(one)").version, open_encoder("api(two)").version}
    address = f"http://127.0.0.1:{server.server_port}/v2"
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    open_encoder.cache_clear()
    versions.add(open_encoder("api(one)").version)
    assert len(versions) == 3
    monkeypatch.setenv("OPENAI_BASE_URL", address.replace("//", "//me:word@"))
    open_encoder.cache_clear()
    assert open_encoder("api(one)").version in versions


def short(answer: dict[str, Any]) -> Any:
    return answer | {"data": answer["data"][:-1]}


def holed(answer: dict[str, Any]) -> Any:
    answer["data"][0]["embedding"][2] = float("nan")
    return answer


def emptied(answer: dict[str, Any]) -> Any:
    answer["data"][0]["embedding"][2] = None
    return answer


def ragged(answer: dict[str, Any]) -> Any:
    answer["data"][0]["embedding"].append(1.0)
    return answer


def longer(answer: dict[str, Any]) -> Any:
    for row in answer["data"]:
        row["embedding"].append(1.0)
    return answer


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (short, UnavailableError, "1 vectors for 2 texts"),
        (holed, BadInputError, "not finite"),
        (emptied, BadInputError, "not finite"),
        (ragged, UnavailableError, "no embeddings"),
        (longer, UnavailableError, "vectors of dimension 7"),
        (lambda _: {"choices": []}, UnavailableError, "no embeddings"),
        (lambda _: "<html>", UnavailableError, "no embeddings"),
        (lambda answer: answer | {"data": []}, UnavailableError, "no embeddings|0 vectors"),
    ],
)
def test_answers_that_cannot_be_used(
    server: EmbeddingServer, change: Any, kind: type[BerdseyeError], words: str
) -> None:
    encoder = open_encoder("api(m)")
    assert encoder.dimension == SIZE
    server.change = change
    with pytest.raises(kind, match=words) as error:
        encoder.encode_queries(["zoos", "trams"])
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (400, BadInputError, "status 400"),
        (401, UnavailableError, "OPENAI_API_KEY"),
        (404, BadInputError, "'m'"),
        (429, UnavailableError, "Too many requests"),
        (500, UnavailableError, "status 500"),
    ],
)
def test_refusals_are_one_line(server: EmbeddingServer, status: int, kind: type[BerdseyeError], words: str) -> None:
    server.status = status
    with pytest.raises(kind, match=words) as error:
        open_encoder("api(m)").encode_queries(["zoos"])
    assert "\n" not in str(error.value)


def test_a_server_that_stumbles_is_asked_again(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_RETRIES", 2)
    server.failures = 1
    assert open_encoder("api(m)").dimension == SIZE
    assert len(server.asked) == 2


def test_no_server_and_no_address(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "nowhere")
    with pytest.raises(BadInputError, match="http://"):
        open_encoder("api(a)").encode_queries(["zoos"])
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:9/v1: The server cannot be reached"):
        open_encoder("api(b)").encode_queries(["zoos"])
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UnavailableError, match="No language model server"):
        open_encoder("api(c)").encode_queries(["zoos"])
    assert server.asked == []
