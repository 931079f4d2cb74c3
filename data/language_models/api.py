"""Language models behind an OpenAI-compatible address: `api(NAME)`."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any, NamedTuple

from data.errors import BerdseyeError, UnavailableError
from data.grammar import Call
from data.language_models.protocol import Completion, Prompt, Ready, unused
from data.openai_server import open_server, server_place, told
from data.progress import Progress, silent

if TYPE_CHECKING:
    import openai

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
        return f"{self.model}@{server_place()}"

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
        with (
            open_server(retries=self.retries, timeout=self.timeout) as client,
            ThreadPoolExecutor(self.concurrency) as threads,
        ):
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

    def _told(self, error: Exception) -> BerdseyeError:
        return told(error, self.model, self._garbage(), hint=_KEPT)

    def _garbage(self) -> BerdseyeError:
        return UnavailableError(
            "The answer is no chat completion.",
            where=server_place(),
            hint="OPENAI_BASE_URL must end where /chat/completions begins.",
        )


def _tokens(value: Any) -> tuple[int, int] | tuple[None, None]:
    match value:
        case {"usage": {"prompt_tokens": int() as asked, "completion_tokens": int() as written}}:
            return asked, written
    return None, None
