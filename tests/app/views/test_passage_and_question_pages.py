"""The pages of one passage and of one question."""

import re

import pytest

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.app.components.choices import passage_address, question_address
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.runs.stored import load_run, run_files
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import again, drawn, says, setting, texts

CARS = "Should cities ban private cars from their centres?"


def test_a_passage_that_does_not_exist_is_reported(demo: Workspace) -> None:
    assert says(drawn("passage", corpus="web"), "number of a passage", "info")
    count = open_corpus(demo, "web").manifest.count
    at = drawn("passage", corpus="web", id=str(count))
    assert says(at, rf"\bweb\b.*no passage {count}\b.*passages are 0 to {count - 1}\. If a run", "error"), texts(at)
    for wrong in ("-1", "one", "9" * 30, "<b>"):
        at = drawn("passage", corpus="web", id=wrong)
        assert says(at, rf"'{re.escape(wrong)}'.*number", "error"), texts(at)


def test_everything_known_of_a_passage_is_on_its_page(demo: Workspace) -> None:
    corpus = open_corpus(demo, "web")
    question = next(q for q in load_dataset(demo, "debate") if q.text == CARS)
    best = int(load_run(demo, "debate--web--bm25").ids[0, 0])
    passage = corpus.passages([best])[0]
    record = PairRecord(
        "debate", question.id, CARS, question.perspectives[0].text, None, "web", passage.title, passage.text
    )
    held = Judgments.open(demo.judgments_url)
    [key] = held.add_pairs([record])
    held.judge(held.sign_in("Ana"), key, "supports", source="annotate", comment="=clear")
    by_columns = {}
    for part in ("Runs", "Labels", "Judgments", "Neighbours"):
        at = drawn("passage", corpus="web", id=str(best), part=part)
        shown = texts(at)
        assert passage.title in shown
        assert passage.source_id in shown
        assert not at.error, texts(at)
        [table] = at.dataframe
        by_columns[next(iter(table.value.columns))] = table.value
    assert by_columns["rank"]["rank"].is_monotonic_increasing
    assert set(by_columns["rank"]["data set"]) <= {"debate", "living", "policy"}
    assert set(by_columns["perspective"]["labels from"]) >= {"gold", "stance"}
    assert by_columns["at"][["annotator", "verdict", "comment"]].to_numpy().tolist()[-1] == [
        "Ana",
        "supports",
        "=clear",
    ]
    near = by_columns["similarity"]
    assert near["similarity"].is_monotonic_decreasing
    assert len(near) == 10
    assert passage_address("web", best) not in set(near["open"])


def test_the_labels_of_a_passage_are_flipped_by_question(demo: Workspace) -> None:
    best = int(load_run(demo, "debate--web--bm25").ids[0, 0])
    question = load_dataset(demo, "debate")[0]
    at = drawn("passage", name="Ada", corpus="web", id=str(best))
    assert says(at, re.escape(question.text))
    chips = [b for b in at.button if b.label.startswith("P")]
    assert len(chips) > len(question.perspectives), "the next questions, too"
    chips[1].click()
    again(at)
    held = Judgments.open(demo.judgments_url)
    [own] = [j for j in held.present() if j.annotator.name == "Ada"]
    pair = held.pair_records([own.pair])[own.pair]
    assert (own.source, pair.question, pair.perspective) == ("passage", question.text, question.perspectives[1].text)
    flipped = [b.label for b in at.button if b.label.startswith("P")][1]
    assert flipped.startswith(f"P2 {'yes' if own.verdict == 'supports' else 'no'} · you")
    nameless = drawn("passage", corpus="web", id=str(best))
    assert all(b.disabled for b in nameless.button if b.label.startswith("P"))
    assert says(nameless, r"\bname\b.*sidebar")


@pytest.mark.usefixtures("demo")
def test_a_passage_of_web_pages_has_no_neighbours() -> None:
    at = drawn("passage", corpus="pages", id="0", part="Neighbours")
    assert says(at, "no index", "info")
    assert not at.exception


@pytest.mark.usefixtures("demo")
def test_a_question_shows_every_run(demo: Workspace) -> None:
    question = load_dataset(demo, "debate")[3]
    at = drawn("question", set="debate", question=question.id, labels="embedded")
    assert question.text in texts(at)
    assert not at.error, texts(at)
    measured = next(d.value for d in at.dataframe if "MRecall@5" in d.value.columns)
    assert len(measured) == 2 * len(demo.corpora())
    assert set(measured["pipeline"]) == {"bm25", "dense(static)"}
    at.number_input(key="k").set_value(3)
    at.run()
    assert not at.exception
    assert any("MRecall@3" in d.value.columns for d in at.dataframe)


def test_a_question_without_a_label_in_the_top_k_follows_the_setting(demo: Workspace) -> None:
    """Ana judged passage 10 of bm25, so that the question counts, and no run has a label in its top 5."""
    question = load_dataset(demo, "debate")[3]
    tenth = open_corpus(demo, "web").passages([int(load_run(demo, "debate--web--bm25").ids[3, 9])])[0]
    text = question.perspectives[0].text
    record = PairRecord("debate", question.id, question.text, text, None, "web", tenth.title, tenth.text)
    held = Judgments.open(demo.judgments_url)
    [key] = held.add_pairs([record])
    held.judge(held.sign_in("Ana"), key, "supports", source="annotate")
    for rule, shown in (("zero", {0.0}), ("left-out", set[float]())):
        setting(demo, ("measures", "min_judged"), 0.0)
        setting(demo, ("measures", "unjudged"), rule)
        at = drawn("question", set="debate", question=question.id, labels="human")
        measured = next(d.value for d in at.dataframe if "MRecall@5" in d.value.columns)
        over_web = measured[(measured["corpus"] == "web") & (measured["judged@5"] == 0)]
        assert "bm25" in set(over_web["pipeline"])
        assert set(over_web["MRecall@5"].dropna()) == shown, rule
        assert says(at, rf"unjudged: {rule}", "caption")


def test_coverage_over_time_is_drawn_where_somebody_judged(demo: Workspace) -> None:
    question = load_dataset(demo, "debate")[0]
    asked = {"set": "debate", "question": question.id, "labels": "human>embedded"}
    at = drawn("question", **asked, beside="embedded", part="Over time")
    assert not at.error, texts(at)
    assert at.get("vega_lite_chart")


def test_a_run_of_an_older_corpus_is_left_out_by_name(demo: Workspace) -> None:
    for path in demo.runs_folder.glob("*--web--*.json"):
        path.write_text(path.read_text().replace('"corpus_hash": "', '"corpus_hash": "old'))
        run_files(demo, path.stem).seal()
    at = drawn("question", set="debate")
    assert says(at, "debate--web--bm25", "warning")
    assert "2 runs" not in texts(at)
    passage = drawn("passage", corpus="web", id="0", part="Runs")
    assert says(passage, r"\b\d+ runs?\b.*\bolder\b", "caption")
    assert says(passage, "no stored run", "info")


def test_addresses_are_quoted() -> None:
    assert passage_address("web", 3) == "passage?corpus=web&id=3"
    assert question_address("a b", "1&2)") == "question?set=a+b&question=1%262%29"
