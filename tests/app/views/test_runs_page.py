"""The page Runs as a leaderboard."""

import re

import pytest

import berdseye
from berdseye.app.components.counting_rule import questions_that_count
from berdseye.app.components.label_mixture import mixing_note
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.retrieval.running import run_pipeline
from tests.app.drawn_page import again, drawn, says, setting


@pytest.mark.usefixtures("demo")
def test_systems_are_listed_best_first_with_letters() -> None:
    at = drawn("runs", measures="Precision@5", of_datasets="debate")
    table = at.dataframe[0].value
    values = table["debate"].str.split().str[0].astype(float).tolist()
    assert values == sorted(values, reverse=True)
    assert table["debate"].str.fullmatch(r"[\d.]+  \[[\d.]+, [\d.]+\]  [a-z]+").all()
    assert len(at.get("vega_lite_chart")) == 1
    assert says(at, r"letter\b.*significant.*by the paired randomisation test", "caption")


@pytest.mark.usefixtures("demo")
def test_a_choice_in_the_address_leaves_the_rest_out() -> None:
    at = drawn("runs", of_corpora="web", of_pipelines="bm25")
    assert at.dataframe[0].value[["corpus", "pipeline"]].to_numpy().tolist() == [["web", "bm25"]]
    at.multiselect(key="of_datasets").set_value(["policy"])
    assert "average" not in again(at).dataframe[0].value.columns


@pytest.mark.usefixtures("demo")
def test_the_choices_of_explore_do_not_filter_the_runs() -> None:
    table = drawn("runs", corpora="web", pipelines="bm25", dataset="debate").dataframe[0].value
    assert {"web", "encyclopedia"} <= set(table["corpus"])
    assert {"bm25", "dense(static)"} <= set(table["pipeline"])


def test_printed_rows_are_listed_where_the_data_set_is_the_published_one(demo: Workspace) -> None:
    first = load_dataset(demo, "debate")[0]
    save_dataset(demo, "berds-kialo-test", [Question(str(n), "", first.text, first.perspectives) for n in range(774)])
    run_pipeline(demo, "berds-kialo-test", "web", "bm25", 5)
    at = drawn("runs", of_datasets="berds-kialo-test", of_corpora="web")
    table = at.dataframe[0].value
    assert table["labels"].tolist()[0] == "human>gold>stance"
    printed = table[table["labels"] == "BERDS, table 3"].set_index(["corpus", "pipeline"])
    assert printed.loc[("wikipedia", "bm25"), "berds-kialo-test"] in ("10.8", "10.9")  # 10.85 is printed
    assert len(printed) == len(table) - 1
    assert says(at, "grey.*printed in a paper", "caption")
    assert open_corpus(demo, "web").name not in {corpus for corpus, _ in printed.index}


@pytest.mark.usefixtures("demo")
def test_a_measure_is_drawn_against_k_and_one_without_a_curve_is_reported() -> None:
    at = drawn("runs", view="By k", of_corpora="web", measure="MRecall@5")
    assert at.dataframe[0].value.columns.tolist()[:4] == ["system", "1", "2", "3"]
    assert len(at.dataframe[0].value) == 2
    at.segmented_control(key="measure").set_value("ToCover@5")
    assert says(again(at), r"ToCover@5\b.*no curve.*@", "info")
    assert not at.dataframe


@pytest.mark.usefixtures("demo")
def test_costs_are_drawn_against_quality() -> None:
    at = drawn("runs", view="Cost", of_corpora="web")
    table = at.dataframe[0].value
    assert {"ms a question", "annotator minutes"} <= set(table.columns)
    assert (table["ms a question"] > 0).all()
    assert len(at.get("vega_lite_chart")) == 1


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("labels", ["gold", "human>embedded"])
def test_labels_come_from_the_source_in_the_address(labels: str) -> None:
    at = drawn("runs", labels=labels, of_corpora="web")
    assert not at.error
    assert set(at.dataframe[0].value["labels"]) == {labels}


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("labels", "noted"), [("gold", False), ("stance", False), ("embedded", True), ("human>gold>embedded", True)]
)
def test_the_standings_say_whose_labels_do_not_tell_sides(labels: str, noted: bool) -> None:
    at = drawn("runs", labels=labels, of_corpora="web")
    assert bool(says(at, r"embedded has grade topic: it does not tell sides", "caption")) == noted


@pytest.mark.usefixtures("demo")
def test_a_detector_is_corrected_only_by_a_random_sample() -> None:
    at = drawn("runs", labels="corrected(embedded)", of_corpora="web")
    assert says(at, r"berdseye batch create NAME --preset random-questions", "error")
    assert not at.dataframe


@pytest.mark.usefixtures("demo")
def test_points_of_a_curve_over_too_few_labels_are_not_drawn() -> None:
    at = drawn("runs", view="By k", labels="human", measure="MRecall@5")
    assert says(at, r"\b\d+ of \d+ points\b.*\b50%", "caption")
    assert says(at, "enough labels", "info")
    assert not at.get("vega_lite_chart")


@pytest.mark.usefixtures("demo")
def test_measures_of_the_pool_are_scored_too() -> None:
    at = drawn("runs", measures="nDCG@10", of_corpora="web")
    assert at.dataframe[0].value["average"].str.match(r"\d").all()


@pytest.mark.usefixtures("demo")
def test_people_who_judged_too_little_give_no_number_and_no_chart() -> None:
    at = drawn("runs", labels="human", measures="MRecall@5")
    assert says(at, "enough labels", "info")
    assert not at.get("vega_lite_chart")


@pytest.mark.parametrize(
    ("shares", "note"),
    [
        ({}, ""),
        ({"bm25, web": 0.0, "dense, web": 0.0}, ""),
        (
            {"bm25, web": 0.31, "dense, web": 0.35},
            "Of the labels, 31.0% to 35.0% come from human or gold, the others from stance.",
        ),
        ({"bm25, web": 0.05, "dense, web": 0.4}, r"labels of dense, web, 40\.0% .* only 5\.0% .*corrected\(stance\)"),
    ],
)
def test_a_mixture_of_labels_is_named_and_an_uneven_one_warned_of(shares: dict[str, float], note: str) -> None:
    found = mixing_note(shares, "human>gold>stance").replace("\\", "")
    assert re.search(note, found) if note else found == ""


def test_the_share_of_peoples_labels_is_shown_with_the_standings(demo: Workspace) -> None:
    del demo
    at = drawn("runs", measures="Precision@5", of_datasets="debate", of_corpora="web", labels="human>stance")
    assert says(at, r"0\.\d% to [01]\.\d% come from human, the others from stance", "caption")
    at = drawn("runs", measures="Precision@5", of_datasets="debate", of_corpora="web", labels="human>gold>stance")
    assert says(at, r"Of the labels.*come from human or gold", "caption")


def test_the_rule_for_questions_that_count_is_the_one_of_the_settings(workspace: Workspace) -> None:
    assert "counts as finding nothing (unjudged: zero)" in questions_that_count(workspace)
    settings = workspace.folder / "berdseye.toml"
    settings.write_text("[measures]\nunjudged = 'left-out'\n")
    assert "top k is left out" in questions_that_count(Workspace.open(workspace.folder))


def test_a_drawn_run_leaves_out_its_questions_without_a_label(demo: Workspace) -> None:
    names, drawn_values = ("living--web--bm25", "living--web--dense(static)"), []
    for rule in ("zero", "left-out"):
        expected = berdseye.open(demo.folder).measures(names, "Precision@5", "human", min_judged=0, unjudged=rule)
        setting(demo, ("measures", "min_judged"), 0.0)
        setting(demo, ("measures", "unjudged"), rule)
        at = drawn("runs", measures="Precision@5", of_datasets="living", of_corpora="web", labels="human")
        table = at.dataframe[0].value.set_index("pipeline")
        shown = [table.loc[name, "living"].split()[0].replace("–", "nan") for name in ("bm25", "dense(static)")]
        values = [float(text) for text in shown]
        assert values == pytest.approx((100 * expected["value"]).tolist(), abs=0.05, nan_ok=True), rule
        assert says(at, rf"unjudged: {rule}", "caption")
        drawn_values.append(values)
    assert drawn_values[0][1] < drawn_values[1][1], "the questions that are left out counted as finding nothing"


@pytest.mark.usefixtures("demo")
def test_where_the_mixture_differs_one_click_chooses_the_corrected_detector() -> None:
    at = drawn("runs", labels="human>gold>stance")
    assert says(at, r"Of the labels of .*corrected\(stance\)", "caption")
    at.button(key="correct-labels").click().run()
    assert not at.exception
    assert at.selectbox(key="labels").value == "corrected(stance)"
    assert says(at, "drew at random.*random-questions", "error"), "the demo has no sample"


@pytest.mark.usefixtures("demo")
def test_the_consensus_of_people_is_a_choice_and_ranks_are_listed() -> None:
    at = drawn("runs", labels="consensus(dawid-skene)>stance", of_corpora="web", of_datasets="debate")
    table = at.dataframe[0].value
    assert set(table["labels"]) == {"consensus(dawid-skene)>stance"}
    assert table["ranks"].str.fullmatch(r"\d+(–\d+)?").all()
    assert "consensus(dawid-skene)" in at.selectbox(key="labels").options
