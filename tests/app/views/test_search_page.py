"""Search as exploration: what is found, facets, the map, and the words that set passages apart."""

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.app.cached.searching import hits
from berdseye.app.components.perspective_mark import CHIP
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.workspace import Workspace
from berdseye.retrieval.protocol import Query
from tests.app.drawn_page import again, drawn, says, texts

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
def test_an_empty_search_asks_for_words_and_names_the_words_that_are_not_found() -> None:
    at = drawn("search")
    assert says(at, "enter", "info")
    assert cards(at) == 0
    at.text_input(key="q").set_value("zzzzqx qqqqxz")
    again(at)
    assert says(at, r"no passage.*`dense\(static\)`", "info")
    assert says(at, "no passage.*zzzzqx")
    at.multiselect(key="corpora").set_value([])
    assert says(again(at), r"\bcorpus\b.*\bpipeline\b", "info")


@pytest.mark.usefixtures("demo")
def test_a_misspelt_word_is_corrected_by_a_click() -> None:
    at = drawn("search", q="school unifroms")
    next(b for b in at.button if b.label == "uniforms").click()
    again(at)
    assert at.text_input(key="q").value == "school uniforms"
    assert not says(at, "no passage")
    assert cards(at) == 20


@pytest.mark.usefixtures("demo")
def test_facets_count_and_narrow_and_are_kept_in_the_address() -> None:
    at = drawn("search", q="cars in cities", pipelines="bm25")
    before = boxes(at, "corpus")
    assert set(before) == {"encyclopedia", "pages", "web"}
    at.checkbox(key="facet-corpus-web").check()
    again(at)
    assert boxes(at, "corpus") == before, "the values of a facet add to each other"
    assert sum(boxes(at, "judged").values()) == before["web"]
    assert says(at, rf"\b{before['web']} of \d+", "caption")
    assert at.query_params["corpus"] == "web"
    shared = drawn("search", q="cars in cities", pipelines="bm25", corpus="web")
    assert shared.checkbox(key="facet-corpus-web").value
    assert boxes(shared, "judged") == boxes(at, "judged")
    at.checkbox(key="facet-corpus-web").uncheck()
    again(at)
    assert "corpus" not in at.query_params


def test_the_verdicts_of_people_are_a_facet(demo: Workspace) -> None:
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
def test_similar_passages_are_searched_and_the_query_comes_back() -> None:
    at = drawn("search", q="cars", corpora="web")
    next(b for b in at.button if b.label == "Similar passages").click()
    again(at)
    assert says(at, "similar to")
    assert says(at, "similarity")
    assert at.query_params["like"].startswith("web:")
    at.button(key="back").click()
    again(at)
    assert not says(at, "similar to")
    for wrong in ("web", "web:x", ":3", "web:" + "9" * 30):
        at = drawn("search", like=wrong)
        assert says(at, rf"'{wrong}'.*passage", "error"), texts(at)


@pytest.mark.usefixtures("demo")
def test_two_pipelines_are_shown_side_by_side() -> None:
    at = drawn("search", q="school uniforms", view="side by side", corpora="web")
    at.multiselect(key="pipelines").set_value(["bm25", "dense(static)"])
    again(at)
    assert "##### web · bm25" in texts(at)
    assert "##### web · dense(static)" in texts(at)


def test_a_question_colours_the_map_by_its_perspectives(demo: Workspace) -> None:
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
    assert says(at, "Monroe", "caption"), "the source of the method"
    assert words["z"].abs().max() < 1.96
    assert says(at, r"may be chance: no \|z\| reaches 1.96", "caption")


def test_a_perspective_of_the_facet_is_what_the_chips_say(demo: Workspace) -> None:
    question = next(q for q in load_dataset(demo, "debate") if q.text == CARS)
    chosen = {"set": "debate", "question": question.id, "labels": "embedded", "corpora": "web"}
    for value, says_so in (("unsure", "unsure"), ("P1", "P1 on topic"), ("no perspective", "off topic")):
        at = drawn("search", perspective=value, **chosen)
        chips = [b.label for b in at.button if str(b.key).startswith(CHIP)]
        assert len(chips) == cards(at) * len(question.perspectives) > 0
        for passage in zip(*[iter(chips)] * len(question.perspectives), strict=True):
            assert any(label.endswith(says_so) for label in passage), passage
            assert value == "P1" or not any(label.endswith("on topic") for label in passage), passage
            assert value != "no perspective" or not any(label.endswith("unsure") for label in passage), passage


@pytest.mark.usefixtures("demo")
def test_without_a_question_corpora_are_set_apart() -> None:
    at = drawn("search", q="cars", view="words")
    assert at.selectbox(key="apart").value == "corpus"
    assert not at.error, texts(at)


def test_a_result_is_judged_where_a_question_is_chosen(demo: Workspace) -> None:
    assert not [b for b in drawn("search", q="cars", name="Ada").button if b.label.startswith("P1")]
    question = next(q for q in load_dataset(demo, "debate") if q.text == CARS)
    for view in ("one list", "side by side"):
        at = drawn("search", name="Ada", set="debate", question=question.id, view=view, labels="human>gold>stance")
        chip = next(b for b in at.button if b.label.startswith("P2") and "you" not in b.label)
        chip.click()
        again(at)
        held = Judgments.open(demo.judgments_url)
        last = [j for j in held.present() if j.annotator.name == "Ada"][-1]
        assert (last.verdict, last.source) == ("does not support" if chip.label == "P2 yes" else "supports", "search")
        assert held.pair_records([last.pair])[last.pair].perspective == question.perspectives[1].text
        assert says(at, f"P2 of “.*”: {last.verdict}")
