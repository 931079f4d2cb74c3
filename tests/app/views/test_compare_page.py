"""The Compare page without a browser: two pipelines, two corpora, two label sources, and what cannot be compared."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.perspective_mark import CHIP
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.datasets.versions import save_version
from berdseye.data.runs.stored import list_runs, run_files
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import again, drawn, says, texts

WEB, PAGES = "debate--web--bm25", "debate--pages--bm25"


def listed(at: AppTest) -> list[dict[str, object]]:
    [found] = [d.value for d in at.dataframe if {"outcome", "P"} & set(d.value.columns)]
    return found.to_dict("records")  # type: ignore[no-any-return]


def figures(at: AppTest) -> dict[str, dict[str, float]]:
    found = next(d.value for d in at.dataframe if "adjusted p" in d.value.columns)
    return {row["measure"]: row for row in found.to_dict("records")}


@pytest.mark.usefixtures("demo")
def test_it_opens_on_two_runs_that_differ() -> None:
    at = drawn("compare")
    assert (at.selectbox(key="a").value, at.selectbox(key="b").value) == (
        "living--pages--bm25",
        "living--pages--dense(static)",
    )
    told = figures(at)["MRecall@5"]
    assert told["ties"] < told["n"]


@pytest.mark.usefixtures("demo")
def test_wins_losses_and_ties_add_up_and_the_lists_agree() -> None:
    at = drawn("compare", a=WEB, b=PAGES)
    told = figures(at)["MRecall@5"]
    assert told["B wins"] + told["B loses"] + told["ties"] == told["n"] == 8
    assert told["B loses"] > 0
    assert told["B − A"] == pytest.approx(100 * (told["B wins"] - told["B loses"]) / 8)
    questions = listed(at)
    assert [q["outcome"] for q in questions].count("B loses") == told["B loses"]
    at.segmented_control(key="list").set_value("Lost by B")
    lost = listed(again(at))
    assert len(lost) == sum(int(str(q["lost"])) for q in questions)
    assert all(float(str(row["rank in A"])) <= 5 for row in lost)
    assert says(at, r"No difference between A.*web and B.*pages is significant", "caption")
    # The labels of this detector seldom change: B loses significantly, by differences of which one has an interval with 0.
    at = drawn("compare", a="policy--encyclopedia--bm25", b="policy--pages--bm25", labels_a="embedded")
    assert says(at, r"Precision@5 lower\b.*Coverage@5 lower\b", "caption"), "the significant differences"
    ends = [str(figures(at)[f"{name}@5"]["95% interval"]).split(" to ") for name in ("Precision", "Coverage")]
    assert any(float(low) < 0 < float(high) for low, high in ends)
    assert says(at, r"includes 0\b", "caption")
    assert not says(drawn("compare", a=WEB, b=WEB), r"includes 0\b", "caption")


@pytest.mark.usefixtures("demo")
def test_a_question_of_the_address_is_read_side_by_side_over_two_corpora() -> None:
    at = drawn("compare", a=WEB, b=PAGES, question="school-uniforms", by="Precision@5")
    shown = texts(at)
    assert "##### A: web · bm25" in shown
    assert "##### B: pages · bm25" in shown
    assert says(at, r"matched by their text\b.*\b\d+ texts", "caption")
    [address] = [m.value for m in at.markdown if "Open in Explore" in m.value]
    assert "corpora=web&corpora=pages" in address
    assert at.table[0].value.columns.tolist() == ["rank in A", "rank in B"]
    assert says(drawn("compare", a=WEB, b=PAGES, question="<b>"), "neither side.*question", "warning")


UNIFORMS = {"a": WEB, "b": PAGES, "question": "school-uniforms"}


def chips(at: AppTest) -> list[Button]:
    return [b for b in at.button if str(b.key).startswith(CHIP)]


@pytest.mark.usefixtures("demo")
def test_a_chip_records_the_opposite_with_the_page_and_undo_takes_it_back() -> None:
    at = drawn("compare", name="Ada", **UNIFORMS)
    first = chips(at)[0]
    assert re.fullmatch("P1 (yes|no)", first.label)
    opposite = "does not support" if first.label == "P1 yes" else "supports"
    first.click()
    again(at)
    [own] = [j for j in shared_judgments().present() if j.annotator.name == "Ada"]
    assert (own.verdict, own.source) == (opposite, "compare")
    assert shared_judgments().history(own.pair)[-1]["shown"] is True
    assert chips(at)[0].label == f"P1 {'no' if first.label == 'P1 yes' else 'yes'} · you"
    assert says(at, rf"P1 of “.*”: {opposite}")
    next(b for b in at.button if b.label == "Undo").click()
    assert chips(again(at))[0].label == first.label
    assert says(at, f"undone: “{opposite}”")


@pytest.mark.usefixtures("demo")
def test_a_detector_of_topics_says_no_side() -> None:
    at = drawn("compare", name="Ada", labels_a="embedded", **UNIFORMS)
    labels = [chip.label for chip in chips(at)]
    assert {label[3:] for label in labels} == {"on topic", "off topic", "unsure"}
    chips(at)[0].click()
    again(at)
    [own] = [j for j in shared_judgments().present() if j.annotator.name == "Ada"]
    assert own.verdict == "supports"
    assert chips(at)[0].label == f"{labels[0]} · you: yes"
    place = next(n for n, label in enumerate(labels) if n and label.endswith("unsure"))
    chips(at)[place].click()
    assert chips(again(at))[place].label == f"{labels[place]} · you: yes"


@pytest.mark.usefixtures("demo")
def test_labels_that_judgments_do_not_change_show_both_and_offer_people_s() -> None:
    at = drawn("compare", name="Ada", labels_a="gold", **UNIFORMS)
    label = chips(at)[0].label
    chips(at)[0].click()
    again(at)
    assert chips(at)[0].label == f"{label} · you: {'no' if label == 'P1 yes' else 'yes'}"
    assert says(at, "gold only.*do not change", "caption")
    next(b for b in at.button if b.label == "Prefer people's judgments").click()
    assert again(at).selectbox(key="labels_a").value == "human>gold"
    assert chips(at)[0].label == f"P1 {'no' if label == 'P1 yes' else 'yes'} · you"


@pytest.mark.usefixtures("demo")
def test_without_a_name_nothing_can_be_judged_and_the_page_says_where_to_enter_it() -> None:
    at = drawn("compare", **UNIFORMS)
    assert chips(at)
    assert all(chip.disabled for chip in chips(at))
    assert says(at, r"\bname\b.*sidebar")


@pytest.mark.usefixtures("demo")
def test_an_adjudicated_label_cannot_be_flipped() -> None:
    at = drawn("compare", name="Ada", **UNIFORMS)
    chips(at)[0].click()
    again(at)
    held = shared_judgments()
    [own] = [j for j in held.present() if j.annotator.name == "Ada"]
    adjudicate(held, held.annotator("Ada"), own.pair, "unsure")
    decided = chips(again(at))[0]
    assert decided.disabled
    assert decided.label.endswith("adjudicated")


@pytest.mark.usefixtures("demo")
def test_the_other_side_is_the_run_that_is_likely_compared() -> None:
    at = drawn("compare", a=WEB)
    assert at.selectbox(key="b").value == "debate--web--dense(static)"
    assert at.selectbox(key="labels_b").value == "the same"


@pytest.mark.usefixtures("demo")
def test_the_same_run_under_two_label_sources() -> None:
    living = "policy--pages--bm25"
    at = drawn("compare", a=living, b=living)
    assert says(at, "identical", "info")
    at.selectbox(key="labels_b").set_value("human")
    again(at)
    assert says(at, "different sources", "warning")
    told = figures(at)["MRecall@5"]
    assert told["n"] == 0
    assert np.isnan(told["B"]), "people judged too little for a number"
    assert says(at, r"MRecall@5.*\b50%", "warning")


@pytest.mark.usefixtures("demo")
def test_runs_of_two_data_sets_share_no_question() -> None:
    at = drawn("compare", a=WEB, b="policy--web--bm25")
    assert says(at, "no question in common", "warning")
    labels = [e.label for e in at.expander]
    assert any("only in A" in label for label in labels)
    assert any("only in B" in label for label in labels)


def test_two_versions_of_a_data_set(demo: Workspace) -> None:
    questions = load_dataset(demo, "debate")
    first = questions[0]
    fewer = [type(first)(first.id, first.dataset, first.text, first.perspectives[:1]), *questions[1:]]
    save_version(demo, "debate", fewer, [], "Ada")
    at = drawn("compare", a=PAGES, b=PAGES, version_b="debate@2")
    assert at.selectbox(key="version_a").value == "debate"
    assert at.selectbox(key="version_b").value == "debate@2"
    assert not says(at, "identical")
    assert figures(at)["MRecall@5"]["n"] == 8


@pytest.mark.usefixtures("demo")
def test_pooled_measures_and_wrong_ones() -> None:
    at = drawn("compare", a=WEB, measures="nDCG@10 Recall@10")
    assert set(figures(at)) == {"nDCG@10", "Recall@10"}
    wrong = drawn("compare", a=WEB, measures="MRecal@5")
    assert says(wrong, r"'MRecal@5'.*\bMRecall\b", "error")


def test_a_run_of_a_changed_corpus_is_reported_by_name(demo: Workspace) -> None:
    run = list_runs(demo)[0]
    path = demo.runs_folder / f"{run.name}.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"corpus_hash": "', '"corpus_hash": "old'), encoding="utf-8")
    run_files(demo, path.stem).seal()
    at = drawn("compare", a=run.name)
    assert says(at, rf"'{re.escape(run.corpus)}' has changed.*'{re.escape(run.name)}'", "error")
