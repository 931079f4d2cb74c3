"""The page Bias: what is drawn from stored runs, and from the studies that it begins."""

import json
from pathlib import Path

import pytest

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.app.jobs.running import list_jobs
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.runs.stored import load_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.bias.sides import SYCOPHANCY
from berdseye.evaluation.studies.result import StudyResult, Table, save_result
from tests.app.drawn_page import again, drawn, says, setting, texts
from tests.evaluation.bias.made_cells import cells

VIEWS = ("Leaning", "Sycophancy", "Stances", "Perspective shares", "Places")


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize(
    ("view", "help_of"),
    [
        ("Leaning", "no runs"),
        ("Stances", "no runs"),
        ("Sycophancy", r"Press \*\*Start\*\*"),
        ("Perspective shares", "no PIR task: fetch one"),
        ("Places", "on task files of your own"),
    ],
)
def test_an_empty_workspace_is_reported_with_the_next_step(view: str, help_of: str) -> None:
    assert says(drawn("bias", view=view), help_of, "info")


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("view", "parts"),
    [
        ("Leaning", ["only supporting", "only opposing", "both", "neither"]),
        ("Stances", ["supporting", "opposing", "no side"]),
    ],
)
def test_stored_runs_are_drawn_at_once(view: str, parts: list[str]) -> None:
    at = drawn("bias", view=view, datasets="debate", k="3", labels="embedded")
    assert len(at.get("vega_lite_chart")) == 1
    table = at.dataframe[0].value
    told = [part for part in parts if part in table]
    assert table.columns.tolist()[: len(told) + 2] == ["system", *told, "n"]
    assert table["system"].is_unique
    shares = table[told].map(lambda text: float(text.partition(" [")[0].replace("–", "0")))
    assert shares.sum(axis=1).round().eq(100).all()
    shown = table.set_index("n")[told].map(lambda text: text == "–" or text.endswith("]"))
    assert shown[shown.index.astype(int) >= 5].all(axis=None), "five questions have an interval"
    assert set(table["n"].astype(int)) <= set(range(1, 9))
    assert says(at, r"nobody has judged.*\(annotate\)", "info")


@pytest.mark.usefixtures("demo")
def test_a_data_set_without_two_sides_is_reported() -> None:
    at = drawn("bias", datasets="policy")
    assert says(at, r"supporting\b.*\bopposing\b.*\(perspectives\)", "info")
    assert not at.get("vega_lite_chart")


def test_peoples_figures_are_shown_where_they_judged_the_whole_top(demo: Workspace) -> None:
    judged = Judgments.open(demo.judgments_url)
    run, question = load_run(demo, "debate--web--bm25"), load_dataset(demo, "debate")[0]
    passages = open_corpus(demo, "web").passages(run.ids[0, :2].tolist())
    keys = judged.add_pairs(
        PairRecord("debate", question.id, question.text, one.text, one.stance, "web", p.title, p.text)
        for p in passages
        for one in question.perspectives
    )
    ada = judged.sign_in("Ada")
    for key in keys:
        judged.judge(ada, key, "does not support", source="explore")
    at = drawn("bias", datasets="debate", k="2")
    beside = at.dataframe[1].value
    beside = beside[beside["system"] == "bm25, web"]
    assert beside.set_index("leaning")["people"].to_dict() == {
        "only supporting": 0, "only opposing": 0, "both": 0, "neither": 100
    }  # fmt: skip
    assert set(beside["n"]) == {1}
    at.selectbox(key="labels").set_value("human")
    assert says(again(at), "already.*people's labels", "caption")


def test_the_rule_for_unjudged_questions_is_the_one_of_the_settings(demo: Workspace) -> None:
    """Ada judged the second passage of two questions, and the first passage of one; the demo has a vote on a third question. At
    k = 1 only one of them has a label."""
    judged = Judgments.open(demo.judgments_url)
    run, questions = load_run(demo, "debate--web--bm25"), load_dataset(demo, "debate")
    ada, corpus = judged.sign_in("Ada"), open_corpus(demo, "web")
    for row, ranks in ((0, (0, 1)), (1, (1,))):
        for passage in corpus.passages([int(run.ids[row, rank]) for rank in ranks]):
            for one in questions[row].perspectives:
                record = PairRecord(
                    "debate", questions[row].id, questions[row].text, one.text, one.stance, "web", passage.title, passage.text
                )  # fmt: skip
                [key] = judged.add_pairs([record])
                judged.judge(ada, key, "does not support", source="explore")
    for rule, n, share in (("zero", "3", "33%"), ("left-out", "1", "100%")):
        setting(demo, ("measures", "min_judged"), 0.0)
        setting(demo, ("measures", "unjudged"), rule)
        at = drawn("bias", datasets="debate", k="1", labels="human")
        bm25 = at.dataframe[0].value.set_index("system").loc["bm25, web"]
        assert (bm25["n"], bm25["judged"]) == (n, share), rule
        assert bm25["neither"].startswith("100.0")
        assert says(at, rf"unjudged: {rule}", "caption")


def stored(demo: Workspace, labels: str) -> Path:
    settings = {"datasets": ("debate",), "corpora": ("web",), "pipelines": ("bm25",), "k": 5, "labels": labels,
                "unjudged": "left-out"}  # fmt: skip
    return save_result(
        demo, StudyResult(SYCOPHANCY, settings, [Table(SYCOPHANCY, "", cells(), ("corpus", "pipeline"), ("asked",))])
    )


def test_a_study_of_sycophancy_is_drawn_next_to_that_of_people(demo: Workspace) -> None:
    stored(demo, "embedded")
    at = drawn("bias", view="Sycophancy")
    assert len(at.get("vega_lite_chart")) == 1
    assert says(at, r"no result.*\*\*human\*\*", "info")
    stored(demo, "human")
    at = drawn("bias", view="Sycophancy")
    assert len(at.get("vega_lite_chart")) == 2
    assert says(at, "unjudged: left-out", "caption")
    assert says(at, r"labels.*\*\*embedded\*\*", "caption"), "the newest is people's, and is shown as the second"


def test_studies_of_tasks_are_drawn(demo: Workspace) -> None:
    import pandas as pd

    shares = pd.DataFrame(
        [("t", p, s, v, v - 5, v + 5, 9, None) for p, x in (("bm25", 60.0), ("in the corpus", 50.0))
         for s, v in (("support", x), ("undermine", 100 - x))],
        columns=["task", "pipeline", "perspective", "value", "low", "high", "n", "published"],
    )  # fmt: skip
    places = pd.DataFrame(
        [("t", "bm25", "Chad", "Chad", 75.0, 4), ("t", "bm25", "Chad", "elsewhere", 25.0, 4)],
        columns=["task", "pipeline", "asked", "retrieved", "value", "n"],
    )
    tables = [
        Table("pir_bias", "", shares, ("task", "pipeline"), ("perspective",), notes=("Of another file.",)),
        Table("pir_places", "", places, ("task", "pipeline", "asked"), ("retrieved",)),
    ]
    save_result(demo, StudyResult("pir", {"tasks": {"t": "1"}, "pipelines": ["bm25"], "k": 5}, tables))
    at = drawn("bias", view="Perspective shares")
    table = at.dataframe[0].value
    assert table[["perspective", "value", "even"]].to_numpy().tolist() == [["support", 60, 50], ["undermine", 40, 50]]
    assert "Of another file." in texts(at)
    at = drawn("bias", view="Places")
    assert at.dataframe[0].value["share"].tolist() == [75, 25]
    assert len(at.get("vega_lite_chart")) == 1


def test_the_form_starts_the_study_with_what_was_chosen(demo: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr("berdseye.app.jobs.studies.start_job", lambda _, arguments, **__: started.append(arguments))
    at = drawn("bias", view="Sycophancy")
    next(w for w in at.multiselect if w.label == "Corpora").set_value(["web"])
    next(w for w in at.multiselect if w.label == "Data sets").set_value(["debate"])
    next(b for b in at.button if b.label == "Start").click()
    again(at)
    assert json.loads(json.dumps(started)) == [
        ["study", "berds", "sycophancy", "--dataset", "debate", "--corpus", "web", "--pipeline", "bm25",
         "--labels", "human>gold>stance", "--k", "5"]
    ]  # fmt: skip
    assert list_jobs(demo) == []
