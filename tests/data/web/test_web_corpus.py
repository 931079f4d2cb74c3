"""A corpus of the web in a workspace: asked by pipelines, repeated by day."""

from collections.abc import Callable
from datetime import date

import pytest
from web_servers import ARTICLE, Site, plain, quick, search_results

from berdseye.data.corpora import open_corpus
from berdseye.data.corpora.web import add_web_corpus
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.records import Perspective, Question
from berdseye.data.runs.stored import load_run
from berdseye.data.web import days, pages
from berdseye.data.workspace import Workspace
from berdseye.retrieval.pipeline import search
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import PipelineContext
from berdseye.retrieval.running import run_pipeline

QUESTION = "Should cities ban cars?"
TRAMS = "Trams carry more people than cars on the same street, and cities that ban cars need them."


@pytest.fixture
def web(start: Callable[..., Site], workspace: Workspace) -> Site:
    """A corpus `web` in the workspace, and the site its three pages stand on; asked for, `/search` finds them."""
    site, engine = start(), start()
    site.replies |= {"/0": plain(ARTICLE), "/1": plain(TRAMS), "/2": plain("Elephants walk thirty kilometres a day.")}
    engine.replies["/search"] = search_results([site.url(f"/{n}") for n in range(3)])
    add_web_corpus(workspace, "web", quick(address=engine.url()))
    return site


@pytest.mark.parametrize("pipeline", ["bm25", "dense(static)", "bm25 >> mmr(0.9)", "hybrid(bm25,dense(static))"])
def test_a_question_is_ranked_over_what_the_web_has(web: Site, workspace: Workspace, pipeline: str) -> None:
    del web
    corpus = open_corpus(workspace, "web")
    ids, _ = search(corpus, parse_pipeline(pipeline), ["Do trams carry more people than cars?"], 2)
    assert corpus.passages(ids[0, :1].tolist())[0].text == TRAMS


def test_a_run_is_repeated_by_its_day_when_the_web_is_gone(web: Site, workspace: Workspace, today: str) -> None:
    save_dataset(workspace, "q", [Question("1", "q", QUESTION, (Perspective("Trams are better."),))])
    first = load_run(workspace, run_pipeline(workspace, "q", "web", "bm25", 3).name)
    assert first.manifest.versions["web"] == today
    web.replies.clear()
    again = load_run(workspace, run_pipeline(workspace, "q", "web", "bm25", 3, day=today).name)
    assert again.ids.tolist() == first.ids.tolist()
    with pytest.raises(BadInputError, match="not searched on 2020-01-01"):
        run_pipeline(workspace, "q", "web", "bm25", 3, day="2020-01-01")


def test_expanded_queries_share_the_question_s_pages(web: Site, workspace: Workspace) -> None:
    (workspace.folder / "views.jsonl").write_text(
        f'{{"question": "{QUESTION}", "perspectives": ["Trams carry more people.", "Elephants walk far."]}}\n'
    )
    expanded = parse_pipeline("expand(views.jsonl) >> bm25", PipelineContext(workspace))
    ids, _ = search(open_corpus(workspace, "web"), expanded, [QUESTION], 3)
    assert (ids >= 0).sum() >= 2
    assert web.asked("/0") == 1


def test_a_taken_name_and_an_unreachable_search_are_reported(web: Site, workspace: Workspace) -> None:
    del web
    with pytest.raises(BadInputError, match="already"):
        add_web_corpus(workspace, "web", quick(address="http://127.0.0.1:1"))
    add_web_corpus(workspace, "gone", quick(address="http://127.0.0.1:1"))
    with pytest.raises(BerdseyeError, match="cannot be reached"):
        search(open_corpus(workspace, "gone"), parse_pipeline("bm25"), [QUESTION], 3)


def test_a_run_goes_on_under_the_day_of_its_start_past_midnight(
    web: Site, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    del web
    questions = [Question(str(n), "q", f"{QUESTION} {n}", (Perspective("Trams are better."),)) for n in range(3)]
    save_dataset(workspace, "q", questions)
    asked = iter(range(1000))
    for module in (days, pages):  # the clock passes midnight between the first questions
        monkeypatch.setattr(module, "today", lambda: date(2026, 5, 3 if next(asked) < 2 else 4))
    first = load_run(workspace, run_pipeline(workspace, "q", "web", "bm25", 3).name)
    assert (first.manifest.versions["web"], first.ids.shape) == ("2026-05-03", (3, 3))
    assert load_run(workspace, run_pipeline(workspace, "q", "web", "bm25", 3, day="2026-05-03").name).ids.tolist() == (
        first.ids.tolist()
    )
    with pytest.raises(BadInputError, match="not searched on 2026-05-02"):
        run_pipeline(workspace, "q", "web", "bm25", 3, day="2026-05-02")
