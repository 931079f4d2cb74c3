"""Language models behind an OpenAI-compatible address: `api(NAME)`.

The address and the key are read from OPENAI_BASE_URL and OPENAI_API_KEY; neither is stored, logged or shown.
"""

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from data.errors import BadInputError, BerdseyeError, UnavailableError
from data.grammar import Call
from data.language_models.protocol import Completion, Prompt, Ready, unused
from data.progress import Progress, silent

if TYPE_CHECKING:
    import openai

_OPENAI = "https://api.openai.com/v1"
_KEPT = "What was finished is kept; the same command goes on from there."


class Price(NamedTuple):
    """Dollars a million tokens, of the prompt and of the completion."""

    prompt: float
    completion: float


class ApiModel:
    """Chat completions by HTTP, several at a time. `version` is the model's name and the host that serves it."""

    def __init__(
        self,
        model: str,
        price: Price | None = None,
        *,
        retries: int = 5,
        timeout: float = 300.0,
        concurrency: int = 8,
    ) -> None:
        self.model = model
        self.price = price
        self.retries = retries
        self.timeout = timeout
        self.concurrency = concurrency

    @property
    def name(self) -> str:
        return str(Call("api", (self.model,)))

    @property
    def version(self) -> str:
        return f"{self.model}@{_host()}"

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        progress: Progress = silent,
        ready: Ready = unused,
    ) -> list[Completion]:
        """As `LanguageModel.complete`; raises `UnavailableError` or `BadInputError` where the server does not answer."""
        if not prompts:
            return []
        done: dict[int, Completion] = {}
        with self._client() as client, ThreadPoolExecutor(self.concurrency) as threads:
            places: dict[Future[Completion], int] = {
                threads.submit(self._one, client, prompt, max_tokens, temperature, seed): place
                for place, prompt in enumerate(prompts)
            }
            try:
                for future in as_completed(places):
                    completion = future.result()
                    ready(places[future], completion)
                    done[places[future]] = completion
                    progress(len(done), "completions")
            except BaseException:
                # Requests on their way are paid for: they are waited for and kept, those not yet sent are not sent.
                threads.shutdown(cancel_futures=True)
                for future, place in places.items():
                    if place not in done and not future.cancelled() and future.exception() is None:
                        ready(place, future.result())
                raise
        return [done[place] for place in range(len(prompts))]

    def _one(
        self, client: "openai.OpenAI", prompt: Prompt, max_tokens: int, temperature: float, seed: int
    ) -> Completion:
        import openai

        try:
            # Read by hand: the library takes any JSON for a completion, and with strict checks refuses what servers leave out.
            answer = client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=[{"role": m.role, "content": m.content} for m in prompt],  # type: ignore[misc]
                max_tokens=max_tokens,
                temperature=temperature,
                seed=seed if temperature > 0 else openai.omit,
            )
            value = answer.http_response.json()
        except openai.BadRequestError as error:
            if error.code == "content_filter":
                return Completion("", None, None, None)
            raise self._told(error) from error
        except (openai.OpenAIError, ValueError, RecursionError) as error:
            raise self._told(error) from error
        match value:
            case {"choices": [{"message": {"content": str() | None as text}}, *_]}:
                asked, written = _tokens(value)
                return Completion(text or "", asked, written, self._cost(asked, written))
        raise self._garbage()

    def _cost(self, asked: int | None, written: int | None) -> float | None:
        if self.price is None or asked is None or written is None:
            return None
        return (asked * self.price.prompt + written * self.price.completion) / 1e6

    def _client(self) -> "openai.OpenAI":
        import openai

        key, address = os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
        if not key and not address:
            raise UnavailableError(
                "No language model server is set.",
                hint="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.",
            )
        if address and not address.startswith(("http://", "https://")):
            raise BadInputError("OPENAI_BASE_URL is no address.", hint="Write it like http://127.0.0.1:8000/v1.")
        # Servers of one's own often take no key, but the library insists on one.
        return openai.OpenAI(api_key=key or "none", max_retries=self.retries, timeout=self.timeout)

    def _told(self, error: Exception) -> BerdseyeError:
        """The library's errors in one line; where the server's words are shown, the key is taken out of them."""
        import openai

        where = _host()
        match error:
            case openai.APITimeoutError():
                return UnavailableError(f"No answer within {self.timeout:g} seconds.", where=where, hint=_KEPT)
            case openai.APIConnectionError():
                return UnavailableError("The server cannot be reached.", where=where, hint="Check OPENAI_BASE_URL.")
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return UnavailableError("The server refuses the key.", where=where, hint="Check OPENAI_API_KEY.")
            case openai.NotFoundError():
                return BadInputError(
                    f"The server does not know '{self.model}'.", where=where, hint="Check the name and OPENAI_BASE_URL."
                )
            case openai.RateLimitError():
                return UnavailableError(
                    f"Too many requests, or no credit left; refused {self.retries + 1} times.", where=where, hint=_KEPT
                )
            case openai.APIStatusError(status_code=status) if status >= 500:
                return UnavailableError(f"The server fails with status {status}.", where=where, hint=_KEPT)
            case openai.APIStatusError(status_code=status):
                return BadInputError(
                    f"The server refuses the request with status {status}: {_one_line(error)}",
                    where=where,
                    hint="Another model or a shorter prompt may do.",
                )
        return self._garbage()

    def _garbage(self) -> BerdseyeError:
        return UnavailableError(
            "The answer is no chat completion.",
            where=_host(),
            hint="OPENAI_BASE_URL must end where /chat/completions begins.",
        )


def _host() -> str:
    """Host and path of the server, without the user or password an address may hold."""
    address = urlsplit(os.environ.get("OPENAI_BASE_URL") or _OPENAI)
    return f"{address.netloc.rpartition('@')[2]}{address.path.rstrip('/')}"


def _tokens(value: Any) -> tuple[int, int] | tuple[None, None]:
    match value:
        case {"usage": {"prompt_tokens": int() as asked, "completion_tokens": int() as written}}:
            return asked, written
    return None, None


def _one_line(error: "openai.APIStatusError") -> str:
    key = os.environ.get("OPENAI_API_KEY")
    told = error.body.get("message") if isinstance(error.body, dict) else None
    text = " ".join(str(told or error.message).split())
    return (text.replace(key, "…") if key else text)[:200]
