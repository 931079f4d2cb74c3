"""The Agreement page, drawn without a browser."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import says

PAGE = Path(__file__).resolve().parents[3] / "app" / "views" / "agreement.py"
HOSTILE = "<b>Ina</b> $x$ :smile:"


@pytest.fixture
def said(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judgments]:
    """Two people and twelve pairs: they differ on pairs 0 and 1, pair 2 is unsure to one, pair 3 skipped by one."""
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    st.cache_resource.clear()
    st.cache_data.clear()
    held = shared_judgments()
    ina, bo = held.sign_in(HOSTILE), held.sign_in("Bo")
    keys = held.add_pairs(
        PairRecord("made", "q", "Is it?", f"Perspective {n}.", ("supporting", "opposing")[n % 2], "web", f"T{n}", f"Text {n}.")
        for n in range(12)
    )  # fmt: skip
    for n, key in enumerate(keys):
        word = "supports" if n % 3 == 0 else "does not support"
        held.judge(ina, key, "unsure" if n == 2 else word, source="annotate", comment="why" if n == 0 else "")
        if n == 3:
            held.skip(bo, key, source="annotate")
        else:
            other = "does not support" if word == "supports" else "supports"
            held.judge(bo, key, other if n < 2 else word, source="annotate")
    yield held
    held.engine.dispose()
    st.cache_resource.clear()
    st.cache_data.clear()


def drawn(**query: str | list[str]) -> AppTest:
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    for key, value in {"detector": "random", **query}.items():
        at.query_params[key] = value
    return again(at)


def again(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception, [e.value for e in at.exception]
    assert not at.error, [e.value for e in at.error]
    return at


def table(at: AppTest, *columns: str) -> pd.DataFrame:
    return next(d.value for d in at.dataframe if set(columns) <= set(d.value.columns))


@pytest.mark.usefixtures("said")
def test_every_statistic_has_its_interval_and_n() -> None:
    at = drawn()
    together = table(at, "statistic", "value", "n", "n dropped", "interval", "computed by", "who")
    people = together[together["who"] == "people"].set_index("statistic")
    assert people.loc["raw agreement", "value"].startswith("0.800 [")
    assert (people.loc["raw agreement", "n"], people.loc["raw agreement", "n dropped"]) == ("10", "2")
    assert {"Fleiss' kappa", "Krippendorff's alpha", "Gwet's AC1", "PABAK"} <= set(people.index)
    pairs = table(at, "a", "b", "kappa", "positive", "negative", "ac1", "pabak")
    assert set(pairs["a"]) | set(pairs["b"]) == {HOSTILE, "Bo", "detector random"}
    assert table(at, "rater", "accuracy", "f1")["rater"].tolist()[:2] == ["people", "another human"]
    at = drawn(more="Supporting and opposing perspectives")
    assert {"people together", "Bo"} <= set(table(at, "figure", "p holm")["rater"])


@pytest.mark.usefixtures("said")
def test_unsure_and_skipped_are_counted_as_chosen() -> None:
    at = drawn()
    assert says(at, r"\b1 unsure and 1 skipped", "caption")
    at.selectbox(key="unsure").set_value("does not support")
    at.selectbox(key="skipped").set_value("unsure")
    together = table(again(at), "statistic", "who")
    people = together[together["who"] == "people"].set_index("statistic")
    assert (people.loc["raw agreement", "n"], people.loc["raw agreement", "n dropped"]) == ("12", "0")
    at.selectbox(key="unsure").set_value("a third label")
    assert says(again(at), r"unsure\b.*\bthird label", "caption")


@pytest.mark.usefixtures("said")
def test_disagreed_pairs_are_listed_with_their_comments() -> None:
    at = drawn()
    listed = table(at, "question", "passage", "comment", "Bo says")
    assert sorted(listed["passage"]) == ["Text 0.", "Text 1."]
    assert "why" in set(listed["comment"])
    assert says(at, r"\b2 of 10 pairs", "markdown")


def test_a_new_judgment_is_seen_at_the_next_drawing(said: Judgments) -> None:
    at = drawn()
    bo = said.annotator("Bo")
    [key] = [key for key, r in said.pair_records().items() if r.passage == "Text 0."]
    said.judge(bo, key, "supports", source="annotate")
    assert says(again(at), r"\b1 of 10 pairs", "markdown")


@pytest.mark.usefixtures("said")
def test_names_with_markup_are_shown_as_they_were_typed() -> None:
    at = drawn()
    shown = [m.value for m in (*at.markdown, *at.caption)]
    assert any("\\<b\\>" in text for text in shown)
    assert not any("<b>" in text for text in shown)


@pytest.mark.usefixtures("said")
def test_the_reference_and_the_period_are_chosen() -> None:
    at = drawn(reference="majority", period="day")
    assert at.selectbox(key="reference").value == "majority"
    assert set(table(at, "part", "n labels")["slice"]) == {"day"}
    at = drawn(reference="majority", more="By data set, corpus and stance")
    assert {"dataset", "corpus"} <= set(table(at, "part", "n labels")["slice"])
    at.selectbox(key="reference").set_value("adjudicated")
    rows = table(again(at), "rater", "accuracy").set_index("rater")
    assert rows.loc["another human", "accuracy"] == ""


def test_an_unsure_adjudication_is_no_reference(said: Judgments) -> None:
    bo, keys = said.annotator("Bo"), {r.passage: key for key, r in said.pair_records().items()}
    for passage, word in [("Text 0.", "supports"), ("Text 4.", "does not support"), ("Text 5.", "unsure")]:
        adjudicate(said, bo, keys[passage], word)
    rows = table(drawn(reference="adjudicated"), "rater", "accuracy").set_index("rater")
    assert rows.loc["Bo", "n"] == "2"
    assert [str(rows.loc[who, "accuracy"]).split()[0] for who in ("Bo", HOSTILE)] == ["50", "100"]


def test_agreement_is_computed_over_a_batch_or_some_raters(said: Judgments) -> None:
    differing = [
        record for record in said.pair_records().values() if record.passage in ("Text 0.", "Text 1.", "Text 4.")
    ]
    create_batch(said, BatchPlan("few"), [Item(record) for record in differing])
    assert says(drawn(batch="few"), r"\b2 of 3 pairs", "markdown")
    cara = said.sign_in("Cara")
    for key in list(said.pair_records())[:4]:
        said.judge(cara, key, "supports", source="annotate")
    at = drawn(raters=["Cara", "Bo"])
    assert says(at, "Bo and Cara disagree|Cara and Bo disagree", "markdown")
    assert not says(at, "Ina", "markdown")
    said.sign_in("Dora")
    assert says(drawn(raters="Dora"), "nobody of these people", "info")


@pytest.mark.usefixtures("said")
def test_reliability_of_people_is_drawn_with_whom_to_ask_next() -> None:
    at = drawn()
    assert "How reliable is each person?" in [s.value for s in at.subheader]
    asked = next(table.value for table in at.dataframe if "ask" in table.value)
    assert set(asked["ask"]) <= {HOSTILE, "Bo"}
    assert (asked["gain"] > 0).all()
    assert {"Methods.md", "Methods.tex"} <= {button.proto.label for button in at.get("download_button")}
