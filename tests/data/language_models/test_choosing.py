"""Having a model choose between two words, whatever its server answers."""

import threading
from typing import Any

import pytest

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.language_models.api import ApiModel
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.choosing import choose
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.data.workspace import Workspace
from tests.data.language_models.chat_server import Reply, completion, last_words, refusal
from tests.data.language_models.scripted import ScriptedModel
from tests.data.language_models.serving import Serving

ASKING = PromptTemplate("asking", (Message("system", "Say Yes or No."), Message("user", "[Text]")))


def saying(*texts: str) -> list[dict[str, str]]:
    return [{"Text": text} for text in texts]


@pytest.fixture
def cache(workspace: Workspace) -> CompletionCache:
    return CompletionCache(workspace)


def test_prose_is_asked_about_once_more_and_more_strictly(serve: Serving, cache: CompletionCache) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        strict = "one word, Yes or No" in last_words(body)
        return completion("No." if strict else "Well, that depends on the passage.")

    server = serve(answer)
    assert choose(ApiModel("small"), cache, ASKING, saying("a", "b")) == [0.0, 0.0]
    assert len(server.requests) == 4
    assert server.requests[-1]["max_tokens"] > server.requests[0]["max_tokens"]
    assert choose(ApiModel("small"), cache, ASKING, saying("b", "a")) == [0.0, 0.0]
    assert len(server.requests) == 4, "both tries are kept"


@pytest.mark.parametrize(
    ("wrote", "said"),
    [("", "one answer is empty"), (None, "one answer is empty"), ('{"answer": "ye', 'begins \'{"answer": "ye\'')],
)
def test_answers_that_cannot_be_read_are_counted_in_the_error(
    serve: Serving, cache: CompletionCache, wrote: str | None, said: str
) -> None:
    serve(lambda body: completion("Yes" if "good" in last_words(body) else wrote))
    with pytest.raises(BadInputError) as error:
        choose(ApiModel("small"), cache, ASKING, saying("good", "bad", "worse"), what="pairs")
    assert "answered neither Yes nor No for 2 of 3 pairs, in two tries" in str(error.value)
    assert said in str(error.value)
    assert cache.spent().calls == 5


def test_a_content_filter_is_no_answer(serve: Serving, cache: CompletionCache) -> None:
    serve(lambda _: refusal(400, code="content_filter"))
    with pytest.raises(BadInputError, match="for 1 of 1 pairs"):
        choose(ApiModel("small"), cache, ASKING, saying("a"), what="pairs")


def test_log_probabilities_say_more_than_the_text(serve: Serving, cache: CompletionCache) -> None:
    serve(lambda _: completion("Yes", first=[("Yes", -0.5108256), (" no", -0.9162907)]))
    assert choose(ApiModel("small"), cache, ASKING, saying("a")) == [pytest.approx(0.6)]


def test_a_model_without_probabilities_of_first_tokens(cache: CompletionCache) -> None:
    model = ScriptedModel(lambda text: "Yes, it does." if "pro" in text else "**No**")
    assert choose(model, cache, ASKING, saying("pro", "con")) == [1.0, 0.0]
    assert choose(model, cache, ASKING, []) == []


def test_a_server_that_asks_to_wait_is_asked_again_after_that(serve: Serving, cache: CompletionCache) -> None:
    replies = iter([Reply(429, {}, (("Retry-After", "1"),)), refusal(500), completion("Yes")])
    server = serve(lambda _: next(replies))
    assert choose(ApiModel("small"), cache, ASKING, saying("a")) == [1.0]
    assert len(server.requests) == 3


def test_answers_before_a_server_failed_are_kept(serve: Serving, cache: CompletionCache) -> None:
    answered = threading.Event()

    def answer(body: dict[str, Any]) -> Reply:
        if "last" in last_words(body):
            answered.wait(20)
            return refusal(500)
        return completion("Yes")

    server = serve(answer)
    model = ApiModel("small", retries=1, concurrency=2)
    with pytest.raises(UnavailableError, match=r"failed with status 500.*re-running the command resumes"):
        choose(
            model, cache, ASKING, saying("a", "b", "c", "last"), progress=lambda done, *_: done == 3 and answered.set()
        )
    server.answer = lambda _: completion("No")
    assert choose(model, cache, ASKING, saying("a", "b", "c", "last")) == [1.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("cut", [0, 40])
def test_a_line_that_is_cut_midway(serve: Serving, cache: CompletionCache, cut: int) -> None:
    replies = iter([completion("Yes")._replace(cut=cut), completion("No")])
    serve(lambda _: next(replies))
    assert choose(ApiModel("small", retries=1), cache, ASKING, saying("a")) == [0.0]


def test_a_line_that_is_always_cut(serve: Serving, cache: CompletionCache) -> None:
    serve(lambda _: completion("Yes")._replace(cut=40))
    with pytest.raises(UnavailableError, match="cannot be reached"):
        choose(ApiModel("small", retries=0), cache, ASKING, saying("a"))


def test_a_server_that_never_answers(serve: Serving, cache: CompletionCache) -> None:
    for_ever = threading.Event()

    def silent(_: dict[str, Any]) -> Reply:
        for_ever.wait(20)
        return completion("late")

    serve(silent)
    with pytest.raises(UnavailableError, match="did not respond in time"):
        choose(ApiModel("small", retries=0, timeout=0.2), cache, ASKING, saying("a"))
    for_ever.set()
