"""What language models wrote is paid for once, whatever happens meanwhile."""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from berdseye.data.errors import UnavailableError
from berdseye.data.language_models.api import ApiModel
from berdseye.data.language_models.cache import CompletionCache, Spent
from berdseye.data.language_models.cost import counted
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Alternative, Completion, Message
from berdseye.data.workspace import Workspace
from tests.data.language_models.cache_writer import ECHO, write
from tests.data.language_models.chat_server import completion
from tests.data.language_models.scripted import ScriptedModel
from tests.data.language_models.serving import Serving
from tests.killable import fork_server, started, told


def saying(*texts: str) -> list[dict[str, str]]:
    return [{"Text": text} for text in texts]


@pytest.fixture
def cache(workspace: Workspace) -> CompletionCache:
    return CompletionCache(workspace)


def test_a_second_call_asks_nobody_and_gives_the_same(cache: CompletionCache) -> None:
    model = ScriptedModel(str.upper)
    first = cache.complete(model, ECHO, saying("a", "b", "a"), max_tokens=5)
    assert first == [Completion(t, 10, 2, 0.5) for t in ("SAY A", "SAY B", "SAY A")]
    assert model.asked == ["Say a", "Say b"]
    assert cache.complete(model, ECHO, saying("b", "a"), max_tokens=5) == [first[1], first[0]]
    assert len(model.asked) == 2
    assert cache.complete(model, ECHO, [], max_tokens=5) == []


def test_what_a_piece_of_work_took_is_counted_kept_texts_too(cache: CompletionCache) -> None:
    model = ScriptedModel(str.upper)
    cache.complete(model, ECHO, saying("a"), max_tokens=5)
    with counted() as outer:
        cache.complete(model, ECHO, saying("a", "b", "a"), max_tokens=5)
        with counted() as inner:
            cache.complete(model, ECHO, saying("c"), max_tokens=5)
    cache.complete(model, ECHO, saying("d"), max_tokens=5)
    assert (outer.texts, outer.prompt_tokens, outer.completion_tokens, outer.unknown) == (3, 30, 6, 0)
    assert (inner.texts, inner.prompt_tokens) == (1, 10)


def test_whatever_changes_the_answer_is_asked_again(cache: CompletionCache) -> None:
    texts = saying("a")
    reworded = PromptTemplate("echo", (Message("user", "Say: [Text]"),), fenced=False)
    system = PromptTemplate("echo", (Message("system", "x"), *ECHO.messages), fenced=False)
    model = ScriptedModel(str.upper)
    cache.complete(model, ECHO, texts, max_tokens=5)
    cache.complete(model, ECHO, texts, max_tokens=6)
    cache.complete(model, ECHO, texts, max_tokens=5, temperature=0.5)
    cache.complete(model, ECHO, texts, max_tokens=5, temperature=0.5, seed=1)
    cache.complete(model, reworded, texts, max_tokens=5)
    cache.complete(model, system, texts, max_tokens=5)
    cache.complete(ScriptedModel(str.upper, version="2"), ECHO, texts, max_tokens=5)
    assert cache.spent().calls == 7
    cache.complete(model, ECHO, texts, max_tokens=5, seed=1)
    assert cache.spent().calls == 7, "greedy completions have no seed"


def test_a_batch_that_is_interrupted_goes_on_where_it_stopped(cache: CompletionCache) -> None:
    def stop_at_c(text: str) -> str:
        if text.endswith("c"):
            raise KeyboardInterrupt
        return text.upper()

    texts = saying("a", "b", "c", "d")
    with pytest.raises(KeyboardInterrupt):
        cache.complete(ScriptedModel(stop_at_c), ECHO, texts, max_tokens=5)
    resumed = ScriptedModel(str.upper)
    assert [c.text for c in cache.complete(resumed, ECHO, texts, max_tokens=5)] == ["SAY A", "SAY B", "SAY C", "SAY D"]
    assert resumed.asked == ["Say c", "Say d"]


def test_what_was_spent(cache: CompletionCache) -> None:
    assert cache.spent() == Spent(0, 0, 0, 0.0, 0)
    cache.complete(ScriptedModel(str.upper), ECHO, saying("a", "b"), max_tokens=5)

    unpriced = ScriptedModel(str.upper, version="2", cost=None)
    unpriced.name = "api(other)"
    cache.complete(unpriced, ECHO, saying("a"), max_tokens=5)
    assert cache.spent() == Spent(3, 30, 6, 1.0, 1)
    assert cache.spent("api(scripted)") == Spent(2, 20, 4, 1.0, 0)
    assert cache.spent("api(unknown)") == Spent(0, 0, 0, 0.0, 0)


def test_a_row_records_what_made_it(cache: CompletionCache) -> None:
    cache.complete(ScriptedModel(str.upper, version="v1"), ECHO, saying("Warum? ü"), max_tokens=5)
    with closing(sqlite3.connect(cache.path)) as raw:
        raw.row_factory = sqlite3.Row
        (row,) = raw.execute(
            "SELECT completions.*, messages, slots ->> 'Text' AS question FROM completions "
            "JOIN prompts ON prompts.version = prompt_version"
        )
        assert raw.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    told = {key: row[key] for key in ("model", "model_version", "prompt", "question", "output", "messages")}
    assert told == {
        "model": "api(scripted)",
        "model_version": "v1",
        "prompt": "echo",
        "question": "Warum? ü",
        "output": "SAY WARUM? Ü",
        "messages": '[["user", "Say [Text]"]]',
    }
    assert row["prompt_version"] == ECHO.version
    assert row["created"].endswith("+00:00")


def test_first_tokens_are_kept_with_the_text(serve: Serving, cache: CompletionCache) -> None:
    server = serve(lambda _: completion("Yes", first=[("Yes", -0.25), ("No", -3.5)]))
    asked = [cache.complete(ApiModel("small"), ECHO, saying("a"), max_tokens=5, alternatives=20) for _ in range(2)]
    assert asked[0] == asked[1]
    assert asked[0][0].alternatives == (Alternative("Yes", -0.25), Alternative("No", -3.5))
    assert len(server.requests) == 1
    assert cache.complete(ApiModel("small"), ECHO, saying("a"), max_tokens=5)[0].text == "Yes"
    assert len(server.requests) == 2, "who asks for no first tokens asks something else"


def test_a_file_from_before_there_were_first_tokens_goes_on(cache: CompletionCache) -> None:
    model = ScriptedModel(str.upper)
    cache.complete(model, ECHO, saying("a"), max_tokens=5)
    with closing(sqlite3.connect(cache.path)) as raw:
        raw.executescript(
            "ALTER TABLE completions DROP COLUMN alternatives; ALTER TABLE completions DROP COLUMN top_p; "
            "PRAGMA user_version = 1;"
        )
    assert [c.text for c in cache.complete(model, ECHO, saying("a", "b"), max_tokens=5)] == ["SAY A", "SAY B"]
    assert model.asked == ["Say a", "Say b"]
    with closing(sqlite3.connect(cache.path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (3,)


def test_texts_that_no_store_takes_are_cleaned(cache: CompletionCache) -> None:
    model = ScriptedModel(lambda _: "broken \ud800 and \x00 text")
    (done,) = cache.complete(model, ECHO, saying("a \udfff"), max_tokens=5)
    assert done.text == "broken ? and   text"


def test_a_damaged_file_is_reported(cache: CompletionCache) -> None:
    cache.path.parent.mkdir()
    cache.path.write_bytes(b"this is no database, and long enough to be read as one" * 20)
    with pytest.raises(UnavailableError, match=r"cannot be read or written: file is not a database"):
        cache.complete(ScriptedModel(str.upper), ECHO, saying("a"), max_tokens=5)


def stored(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return dict(raw.execute("SELECT slots ->> 'Text', output FROM completions ORDER BY id DESC").fetchall())


def test_two_processes_at_once_agree_on_every_text(workspace: Workspace) -> None:
    numbers = list(range(40))
    running = [started(fork_server(), write, workspace.folder, name, numbers, 0.0) for name in ("one", "two")]
    lines = [told(pipe).decode().splitlines() for _, pipe in running]
    for process, _ in running:
        process.join(60)
        assert process.exitcode == 0
    assert lines[0] == lines[1], "the first text that is stored is the one that counts"
    assert dict(line.split(" ", 1) for line in lines[0]) == stored(CompletionCache(workspace).path)
    assert 40 <= CompletionCache(workspace).spent().calls <= 80


@pytest.mark.parametrize("until", [1, 7, 19])
def test_a_killed_process_loses_nothing_it_reported(workspace: Workspace, until: int) -> None:
    victim, victim_tells = started(fork_server(), write, workspace.folder, "victim", list(range(40)), 0.002)
    survivor, survivor_tells = started(fork_server(), write, workspace.folder, "survivor", list(range(100, 140)), 0.0)
    before = told(victim_tells, until=until)
    victim.kill()
    after = (before + told(victim_tells)).decode().splitlines()
    survived = told(survivor_tells).decode().splitlines()
    victim.join(60)
    survivor.join(60)
    assert (victim.exitcode, survivor.exitcode) == (-signal.SIGKILL, 0)
    kept = stored(CompletionCache(workspace).path)
    assert len(survived) == 40
    assert dict(line.split(" ", 1) for line in [*after, *survived]).items() <= kept.items()
    assert len(kept) <= len(after) + len(survived) + 1
    model = ScriptedModel(str.upper)
    CompletionCache(workspace).complete(model, ECHO, saying(*map(str, range(40))), max_tokens=5)
    assert len(model.asked) == 40 - sum(int(n) < 100 for n in kept)


def test_top_p_is_part_of_what_is_asked_where_it_has_an_effect(cache: CompletionCache) -> None:
    model = ScriptedModel(str.upper)
    for settings in ({"temperature": 1.0}, {"temperature": 1.0, "top_p": 0.5}, {"top_p": 0.5}, {}):
        for _ in range(2):
            cache.complete(model, ECHO, saying("a"), max_tokens=5, **settings)
    assert len(model.asked) == 3, "temperature 0 ignores top-p"
    with closing(sqlite3.connect(cache.path)) as raw:
        assert raw.execute("SELECT top_p FROM completions ORDER BY id").fetchall() == [(None,), (0.5,), (None,)]
