"""A real OpenAI-compatible chat server on the loopback, whose answers a test writes or real weights do."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeVar


class Reply(NamedTuple):
    """What goes back: a status, a JSON value or raw bytes, further headers, and how many bytes before the line is cut."""

    status: int
    body: Any
    headers: tuple[tuple[str, str], ...] = ()
    cut: int | None = None


Answer = Callable[[dict[str, Any]], Reply]


class ChatServer(ThreadingHTTPServer):
    """Answers POST /v1/chat/completions; keeps the requests and their Authorization headers."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    def reply(self, body: dict[str, Any], _key: str | None, /) -> Reply:
        """Return the reply to a request; subclasses may look at its Authorization header."""
        return self.answer(body)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


Server = TypeVar("Server", bound=ChatServer)


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            reply = Reply(404, {"error": {"message": "no such path"}})
        else:
            key = self.headers.get("Authorization")
            self.server.requests.append(body)
            self.server.keys.append(key)
            reply = self.server.reply(body, key)
        raw = isinstance(reply.body, bytes)
        content = reply.body if raw else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "text/html" if raw else "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in reply.headers:
            self.send_header(name, value)
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):  # who asked may have gone
            self.wfile.write(content[: reply.cut])
        self.close_connection = self.close_connection or reply.cut is not None

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def chat_server(answer: Answer) -> AbstractContextManager[ChatServer]:
    """Serve `answer` while the context is open."""
    return serving(ChatServer(answer))


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Let a server answer while the context is open."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def completion(
    text: str | None,
    prompt_tokens: int = 7,
    completion_tokens: int = 3,
    finish: str = "stop",
    first: Sequence[tuple[str, float]] = (),
) -> Reply:
    """A whole answer, as the OpenAI API gives it; `first` are the likeliest first tokens with their log-probabilities."""
    told = [{"token": token, "logprob": value, "bytes": None} for token, value in first]
    content = [{**told[0], "top_logprobs": told}] if told else None
    message = {"role": "assistant", "content": text}
    return Reply(
        200,
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "served",
            "choices": [
                {"index": 0, "message": message, "finish_reason": finish, "logprobs": content and {"content": content}}
            ],
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": prompt_tokens + completion_tokens,
            },
        },
    )


def refusal(status: int, message: str = "no", code: str | None = None, param: str | None = None) -> Reply:
    """An error, as the OpenAI API gives it."""
    return Reply(status, {"error": {"message": message, "type": "error", "param": param, "code": code}})


def last_words(body: dict[str, Any]) -> str:
    """What the last message says."""
    return str(body["messages"][-1]["content"])


def greedy(tokenizer: Any, model: Any) -> Answer:
    """Answers by real weights, one request at a time, through transformers alone."""
    import torch

    lock = threading.Lock()

    def answer(body: dict[str, Any]) -> Reply:
        inputs = tokenizer.apply_chat_template(
            body["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        asked = inputs["input_ids"].shape[1]
        with lock, torch.inference_mode():
            written = model.generate(
                **inputs,
                max_new_tokens=body["max_tokens"],
                do_sample=False,
                return_dict_in_generate=True,
                output_logits=True,
            )
        output = written.sequences[0, asked:]
        values, ids = written.logits[0][0].log_softmax(-1).topk(body.get("top_logprobs", 1))
        first = [(tokenizer.decode([token]), value) for token, value in zip(ids.tolist(), values.tolist(), strict=True)]
        text = tokenizer.decode(output, skip_special_tokens=True)
        return completion(text, asked, len(output), first=first if body.get("logprobs") else ())

    return answer
