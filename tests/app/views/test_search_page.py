"""Search as exploration: what is found, facets, the map, and the words that set passages apart."""

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.app.cached.searching import hits
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.workspace import Workspace
from berdseye.retrieval.protocol import Query
from tests.app.drawn_page import again, drawn, texts

CARS = "Should cities ban private cars from their centres?"


def boxes(at: AppTest, facet: str) -> dict[str, int]:
    """The boxes of a facet with their counts."""
    found = {}
    for box in at.checkbox:
        if str(box.key).startswith(f"facet-{facet}-"):
            name, _, count = box.label.replace("\\", "").rpartition(" (")
            found[name] = int(count.rstrip(")"))
    return found


def cards(at: AppTest) -> int:
    return sum(b.label == "Similar passages" for b in at.button)


@pytest.mark.usefixtures("demo")
def test_nothing_typed_asks_for_words_and_nothing_found_says_so() -> None:
    at = drawn("search")
    assert "Enter what you want to find." in texts(at)
    at.text_input(key="q").set_value("zzzzqx qqqqxz")
    said = texts(again(at))
    assert "No passage matches." in said
    assert "No passage contains “zzzzqx”." in said
    at.multiselect(key="corpora").set_value([])
    assert "Choose at least one corpus" in texts(again(at))


@pytest.mark.usefixtures("demo")
def test_a_misspelt_word_is_mended_by_a_click() -> None:
    at = drawn("search", q="school unifroms")
    next(b for b in at.button if b.label == "uniforms").click()
    again(at)
    assert at.text_input(key="q").value == "school uniforms"
    assert "No passage contains" not in texts(at)
    assert cards(at) == 20


@pytest.mark.usefixtures("demo")
def test_facets_count_and_narrow_and_stand_in_the_address() -> None:
    at = drawn("search", q="cars in cities", pipelines="bm25")
    before = boxes(at, "corpus")
    assert set(before) == {"encyclopedia", "pages", "web"}
    at.checkbox(key="facet-corpus-web").check()
    again(at)
    assert boxes(at, "corpus") == before, "the values of a facet add to each other"
    assert sum(boxes(at, "judged").values()) == before["web"]
    assert f"{before['web']} of" in texts(at)
    assert at.query_params["corpus"] == "web"
    shared = drawn("search", q="cars in cities", pipelines="bm25", corpus="web")
    assert shared.checkbox(key="facet-corpus-web").value
    assert boxes(shared, "judged") == boxes(at, "judged")
    at.checkbox(key="facet-corpus-web").uncheck()
    again(at)
    assert "corpus" not in at.query_params


def test_what_people_said_is_a_facet(demo: Workspace) -> None:
    at = drawn("search", q=CARS, corpora="web")
    question = next(q for q in load_dataset(demo, "debate") if q.text == CARS)
    _, found = hits("web", "bm25", Query(CARS), 100)
    held = Judgments.open(demo.judgments_url)
    before = boxes(at, "verdict").get("unsure", 0)
    new = next(p for p in found if p.text not in {r.passage for r in held.pair_records().values()})
    said = question.perspectives[0]
    record = PairRecord("debate", question.id, CARS, said.text, said.stance, "web", new.title, new.text)
    held.judge(held.sign_in("Ana"), held.add_pairs([record])[0], "unsure", source="annotate")
    again(at)
    assert boxes(at, "verdict")["unsure"] == before + 1


@pytest.mark.usefixtures("demo")
def test_more_like_this_goes_on_from_a_passage_and_back() -> None:
    at = drawn("search", q="cars", corpora="web")
    next(b for b in at.button if b.label == "Similar passages").click()
    again(at)
    assert "Passages similar to" in texts(at)
    assert "similarity" in texts(at)
    assert at.query_params["like"].startswith("web:")
    at.button(key="back").click()
    again(at)
    assert "Passages similar to" not in texts(at)
    for wrong in ("web", "web:x", ":3", "web:" + "9" * 30):
        assert "is not the address of a passage" in texts(drawn("search", like=wrong))


@pytest.mark.usefixtures("demo")
def test_both_pipelines_stand_side_by_side() -> None:
    at = drawn("search", q="school uniforms", view="side by side", corpora="web")
    at.multiselect(key="pipelines").set_value(["bm25", "dense(static)"])
    again(at)
    assert "##### web · bm25" in texts(at)
    assert "##### web · dense(static)" in texts(at)


def test_a_question_colours_the_map_and_tells_its_perspectives_apart(demo: Workspace) -> None:
    question = next(q for q in load_dataset(demo, "debate") if q.text == CARS)
    at = drawn("search", set="debate", question=question.id, view="map", labels="embedded")
    assert not at.error, texts(at)
    table = at.dataframe[0].value
    assert {"P1", "P2"} & set(table["group"])
    assert sum(boxes(at, "perspective").values()) == len(table)
    at.segmented_control(key="view").set_value("words")
    again(at)
    assert not at.error, texts(at)
    words = at.dataframe[0].value
    assert {"word", "z"} <= set(words.columns)
    assert words["z"].is_monotonic_decreasing
    assert words["z"].iloc[0] > 0 > words["z"].iloc[-1]
    assert "Monroe" in texts(at)


@pytest.mark.usefixtures("demo")
def test_without_a_question_corpora_are_set_apart() -> None:
    at = drawn("search", q="cars", view="words")
    assert at.selectbox(key="apart").value == "corpus"
    assert not at.error, texts(at)
