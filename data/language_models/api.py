"""Language models behind an OpenAI-compatible address: `api(NAME)`.

The requests of a process to one server are spaced to a number per minute. Control tokens of chat templates in texts are
broken up, so that no passage can end its turn. A client adapts to the part of the OpenAI protocol that the server supports.
"""

import math
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, as_completed
from functools import lru_cache
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from berdseye.data.errors import BerdseyeError, UnavailableError
from berdseye.data.grammar import Call
from berdseye.data.language_models.cost import Budget, Price
from berdseye.data.language_models.prompts import without_system
from berdseye.data.language_models.protocol import Alternative, Completion, Message, Prompt, Ready, unused
from berdseye.data.language_models.server import open_server, server_place, translate_error
from berdseye.data.progress import Progress, silent

if TYPE_CHECKING:
    import openai


_KNOWN = re.compile(
    r"<[|｜](?=[\w ▁-]{1,40}[|｜]>)|<(?=/?s>|/?(?:start|end)_of_turn>|<SYS>>|</SYS>>|[be]os>)|\[(?=/?INST\])",
    re.IGNORECASE,
)
"""The control tokens of ChatML and Llama 3 (<|name|>), DeepSeek, Llama 2 and Mistral, and Gemma."""
_FEWER = {20: 5, 5: 0}
"""The next lower number of alternatives to request: OpenAI and vLLM allow 20, other servers 5, many none."""
_NO_SYSTEM = re.compile(r"system (?:role|message|prompt)s? (?:is |are )?not", re.IGNORECASE)
_KEPT = "Finished completions are kept; re-running the command resumes."
_TOKENS_OF_A_TEMPLATE = 64
"""The highest number of tokens that a server's chat template may add to a prompt."""


def break_control_tokens(text: str) -> str:
    """The text with a space inserted into each control token, for servers that interpret control tokens in texts."""
    return _KNOWN.sub(lambda match: f"{match.group()[0]} {match.group()[1:]}", text)


class Pace:
    """Spaces requests evenly; 0 requests per minute mean no limit. Threads can share it."""

    def __init__(self, per_minute: float) -> None:
        self._apart = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = Lock()

    def wait(self, stopping: Event) -> None:
        """Wait for the next turn, or until the work is stopping."""
        with self._lock:
            turn = max(self._next, time.monotonic())
            self._next = turn + self._apart
        stopping.wait(turn - time.monotonic())


@lru_cache(maxsize=64)
def pace_of(place: str, per_minute: float) -> Pace:
    """The pace shared by all requests of this process to a server."""
    del place  # part of the cache key
    return Pace(per_minute)


class Dialect(NamedTuple):
    """The form of a request that a server accepts.

    It gives the name of the length limit, whether a temperature and a system turn are allowed, and the highest number of
    alternatives.
    """

    limit: str = "max_tokens"
    temperature: bool = True
    system: bool = True
    most_alternatives: int = 20

    def request(
        self, prompt: Prompt, max_tokens: int, temperature: float, top_p: float, seed: int, alternatives: int
    ) -> dict[str, Any]:
        """The fields of the request, except the model."""
        turns = prompt if self.system else without_system(prompt)
        fields: dict[str, Any] = {
            "messages": [{"role": m.role, "content": m.content} for m in turns],
            self.limit: max_tokens,
        }
        if self.temperature:
            fields["temperature"] = temperature
        if temperature > 0:
            fields["seed"] = seed
            if top_p < 1:
                fields["top_p"] = top_p
        if count := min(alternatives, self.most_alternatives):
            fields |= {"logprobs": True, "top_logprobs": count}
        return fields

    def after(self, error: "openai.APIStatusError", alternatives: int) -> "Dialect | None":
        """The dialect to try after a server has rejected a request; None if none is left."""
        message = f"{error.param} {error.message}"
        if self.limit == "max_tokens" and "max_completion_tokens" in message:
            return self._replace(limit="max_completion_tokens")
        if self.temperature and error.param == "temperature":
            return self._replace(temperature=False)
        if self.system and _NO_SYSTEM.search(message):
            return self._replace(system=False)
        # Servers reject log-probabilities with many different messages, so the request is always tried without them.
        if alternatives and self.most_alternatives:
            return self._replace(most_alternatives=_FEWER[self.most_alternatives])
        return None


def first_token(choice: Mapping[str, Any]) -> tuple[Alternative, ...] | None:
    """The alternatives to the first token that is not white space, likeliest first; None if the server reports none."""
    match choice:
        case {"logprobs": {"content": list() as tokens}}:
            for token in tokens:
                match token:
                    case {"token": str() as text} if text.strip():
                        return _alternatives(token)
    return None


def _alternatives(token: Mapping[str, Any]) -> tuple[Alternative, ...] | None:
    top = token.get("top_logprobs")
    log_probabilities: dict[str, float] = {}
    for entry in [token, *(top if isinstance(top, list) else [])]:
        match entry:
            case {"token": str() as text, "logprob": int() | float() as value} if math.isfinite(value):
                log_probabilities.setdefault(text, min(float(value), 0.0))
    ordered = sorted(log_probabilities.items(), key=lambda item: -item[1])
    return tuple(Alternative(text, value) for text, value in ordered) or None


class ApiModel:
    """Chat completions by HTTP, several at a time; `version` is the name of the model and the host that serves it.

    `per_minute` limits the requests to the server (0: no limit); `budget` limits their costs, which requires the price.
    """

    def __init__(
        self,
        model: str,
        price: Price | None = None,
        *,
        budget: Budget | None = None,
        per_minute: float = 0.0,
        retries: int = 5,
        timeout: float = 300.0,
        concurrency: int = 8,
    ) -> None:
        self.model = model
        self.price = price
        self.budget = budget
        self.per_minute = per_minute
        self.retries = retries
        self.timeout = timeout
        self.concurrency = concurrency
        self._dialect = Dialect()

    @property
    def name(self) -> str:
        return str(Call("api", (self.model,)))

    @property
    def version(self) -> str:
        return f"{self.model}@{server_place()}"

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        alternatives: int = 0,
        progress: Progress = silent,
        ready: Ready = unused,
    ) -> list[Completion]:
        """Complete the prompts, see `LanguageModel.complete`; raises `UnavailableError` or `BadInputError` if that fails."""
        if not prompts:
            return []
        self._check_price(self.price is None)
        done: dict[int, Completion] = {}
        stopping = Event()
        with (
            open_server(retries=self.retries, timeout=self.timeout) as client,
            ThreadPoolExecutor(self.concurrency) as threads,
        ):

            def ask(prompt: Prompt) -> Completion:
                completion = self._in_turn(client, stopping, prompt, max_tokens, temperature, top_p, seed, alternatives)
                if self.budget and completion.cost is None:
                    stopping.set()  # before this thread sends another request
                return completion

            def hand_over(place: int, completion: Completion) -> None:
                ready(place, completion)
                if self.budget:
                    self.budget.release(self._most(prompts[place], max_tokens))

            places: dict[Future[Completion], int] = {
                threads.submit(ask, prompt): place for place, prompt in enumerate(prompts)
            }
            try:
                for future in as_completed(places):
                    try:
                        completion = future.result()
                    except CancelledError:
                        continue  # a completion of unknown cost has stopped the work, and is reported below
                    hand_over(places[future], completion)
                    done[places[future]] = completion
                    progress(len(done), "completions")
                    self._check_price(completion.cost is None)
            except BaseException:
                # Requests already sent are paid for: wait for them and keep their completions; cancel the others.
                stopping.set()
                threads.shutdown(cancel_futures=True)
                for future, place in places.items():
                    if place not in done and not future.cancelled() and future.exception() is None:
                        hand_over(place, future.result())
                raise
        return [done[place] for place in range(len(prompts))]

    def _in_turn(self, client: "openai.OpenAI", stopping: Event, prompt: Prompt, *options: Any) -> Completion:
        """One completion, after waiting for its turn and reserving its cost; nothing is sent if the work is stopping."""
        pace_of(server_place(), self.per_minute).wait(stopping)
        if self.budget:
            self.budget.reserve(self._most(prompt, options[0]), stopping)
        try:
            if stopping.is_set():
                raise CancelledError
            return self._one(client, prompt, *options)
        except BaseException:
            if self.budget:
                self.budget.release(self._most(prompt, options[0]))
            raise

    def _one(
        self,
        client: "openai.OpenAI",
        prompt: Prompt,
        max_tokens: int,
        temperature: float,
        top_p: float,
        seed: int,
        alternatives: int,
    ) -> Completion:
        import openai

        shown = tuple(Message(m.role, break_control_tokens(m.content)) for m in prompt)
        dialect: Dialect | None = self._dialect
        while dialect is not None:
            request = dialect.request(shown, max_tokens, temperature, top_p, seed, alternatives)
            try:
                # Parse the response here: the library accepts any JSON as a completion, or, if strict, requires too much.
                answer = client.chat.completions.with_raw_response.create(model=self.model, **request)
                value = answer.http_response.json()
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if error.code == "content_filter":
                    return Completion("", 0, 0, self._cost(0, 0))
                dialect = dialect.after(error, alternatives)
                if dialect is None:
                    raise self._translate(error) from error
            except (openai.OpenAIError, ValueError, RecursionError) as error:
                raise self._translate(error) from error
            else:
                self._dialect = dialect
                return self._read(value)
        raise self._invalid_response()

    def _read(self, value: Any) -> Completion:
        match value:
            case {"choices": [{"message": {"content": str() | None as text}} as choice, *_]}:
                prompt_tokens, completion_tokens = _tokens(value)
                return Completion(
                    text or "",
                    prompt_tokens,
                    completion_tokens,
                    self._cost(prompt_tokens, completion_tokens),
                    first_token(choice),
                )
        raise self._invalid_response()

    def _most(self, prompt: Prompt, max_tokens: int) -> float:
        """The maximum cost of a request in dollars, given that every token is at least one byte long."""
        longest = sum(len(m.content.encode()) for m in prompt) + _TOKENS_OF_A_TEMPLATE
        return self._cost(longest, max_tokens) or 0.0

    def _check_price(self, unknown: bool) -> None:
        if self.budget and unknown:
            raise UnavailableError(
                f"The cost of {self.name} is not known, so the cap on costs cannot be enforced.",
                where=server_place(),
                hint="Set its price under [language_models.prices], like [0.15, 0.6] or [0, 0]; the server must report tokens.",
            )

    def _cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        if self.price is None or prompt_tokens is None or completion_tokens is None:
            return None
        return (prompt_tokens * self.price.prompt + completion_tokens * self.price.completion) / 1e6

    def _translate(self, error: Exception) -> BerdseyeError:
        return translate_error(error, self.model, self._invalid_response(), hint=_KEPT)

    def _invalid_response(self) -> BerdseyeError:
        return UnavailableError(
            "The response is not a chat completion.",
            where=server_place(),
            hint="OPENAI_BASE_URL must be the part of the address before /chat/completions.",
        )


def _tokens(value: Any) -> tuple[int, int] | tuple[None, None]:
    match value:
        case {"usage": {"prompt_tokens": int() as prompt_tokens, "completion_tokens": int() as completion_tokens}}:
            return prompt_tokens, completion_tokens
    return None, None
