"""Every page drawn without a browser: on the demo, on an empty workspace, and after mistakes."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.label_studio.project import write_purpose
from berdseye.app.access.roles import PAGES
from berdseye.app.components.perspective_mark import perspective_mark
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import list_jobs, stop_job
from berdseye.data.runs.stored import run_files
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import APP, again, drawn, forget, says, texts
from tests.app.views.page_addresses import page_addresses

NEXT_STEPS = {
    "home": "search the web",
    "data": "no corpus",
    "explore": "no corpus",
    "search": "no corpus",
    "passage": "no corpus",
    "question": "no data set",
    "annotate": r"no batch.*\bno runs\b",
    "perspectives": "no data set",
    "adjudication": r"no disagreements.*\bBatches\b",
    "agreement": r"judged.*\bAnnotate\b",
    "runs": "no runs",
    "failures": "no runs.*holes",
    "compare": "no runs.*two pipelines",
    "bias": "no runs",
    "studies": "no results",
    "detectors": r"no training sets.*\*\*Improve\*\*.*\*\*Train\*\*",
    "detector_lab": r"no pair.*\bAnnotate\b",
    "build": "nothing has been built",
    "batches": r"no batches.*\bpairs\b",
    "people": r"local mode",
    "label_studio": "automatically",
    "jobs": "no jobs",
    "workspace": "settings are saved",
    "documentation": "",
    "keys": "",
}
"""What each page says is missing where a workspace is empty, and the page, button or command that helps; a new page has its line
here."""
NEXT_BUTTONS = {
    "home": "Add a corpus",
    "explore": "Add a corpus",
    "search": "Add a corpus",
    "passage": "Add a corpus",
    "question": "Add a data set",
    "perspectives": "Add a data set",
    "runs": "Add a corpus",
    "failures": "Run a pipeline",
    "compare": "Run a pipeline",
    "bias": "Run a pipeline",
}
"""The button with which an empty page leads to where something is added."""
NEXT_STEP_KINDS = ("info", "error", "caption")
EMPTY_ON_THE_DEMO = (
    "adjudication",
    "studies",
    "detectors",
    "build",
    "batches",
    "people",
    "label_studio",
    "jobs",
    "workspace",
    "documentation",
    "keys",
)
CARS = "Should cities ban private cars from their centres?"


def chips(at: AppTest) -> list[str]:
    return [b.label for b in at.button if re.match(r"P\d", b.label)]


# Whole pages ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("page", PAGES)
def test_an_empty_workspace_is_reported_with_the_next_step(page: str) -> None:
    at = drawn(page, name="Ada")
    assert says(at, NEXT_STEPS[page], *NEXT_STEP_KINDS)
    assert page not in NEXT_BUTTONS or NEXT_BUTTONS[page] in [button.label for button in at.button]
    assert not at.get("vega_lite_chart"), "nothing is drawn of nothing"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_draws_on_the_demo(demo: Workspace, page: str) -> None:
    at = drawn(page, name="Ada", **page_addresses(demo)[page])
    assert not at.error, [e.value for e in at.error]
    assert page in EMPTY_ON_THE_DEMO or not says(at, NEXT_STEPS[page], *NEXT_STEP_KINDS)


@pytest.mark.usefixtures("at_hand")
def test_label_studio_that_does_not_run_is_reported() -> None:
    at = drawn("label_studio")
    assert {m.label: m.value for m in at.metric} == {
        "Server of this workspace": "not running",
        "Judgments waiting to be pushed": "0",
    }


def test_batches_are_listed_with_their_projects(at_hand: Workspace) -> None:
    judged = Judgments.open(at_hand.judgments_url)
    record = PairRecord("d", "q", "Cats?", "Cats are good.", None, "c", "", "Cats purr.")
    batches = [
        create_batch(judged, BatchPlan("first", people=("Ana",)), [Item(record)]),
        create_batch(judged, BatchPlan("trial", blind=False, shown_share=0.5), [Item(record, 0.5, True)]),
    ]
    write_purpose(judged, "7@2026", batches[0].id, batches[0].people[0].id)
    at = drawn("label_studio")
    assert at.selectbox(key="batch-sent").options == ["first"], "an experiment cannot be sent"
    assert next(b for b in at.button if b.label == "Push batch").disabled
    table = at.dataframe[0].value
    assert table.to_dict("records")[0] | {"project": "", "received": ""} == {
        "batch": "first", "for": "Ana", "project": "", "tasks": 0, "waiting": 0, "received": "",
    }  # fmt: skip
    at.selectbox(key="batch-sent").set_value("first")
    next(b for b in again(at).button if b.label == "Push batch").click()
    again(at)
    (job,) = list_jobs(at_hand)
    stop_job(job)
    assert job.arguments == ("label-studio", "push", "first")


@pytest.mark.usefixtures("demo")
def test_the_app_opens_on_the_start_page_with_the_name_entry() -> None:
    at = AppTest.from_file(str(APP / "main.py"), default_timeout=60).run()
    assert not at.exception
    assert [title.value for title in at.title] == ["Home"]
    assert at.sidebar.selectbox(key="name_entry").label == "Your name"


@pytest.mark.usefixtures("demo")
def test_without_a_name_labels_are_shown_and_not_corrected() -> None:
    at = drawn("explore")
    assert [h.value for h in at.header] == [escaped(CARS)]
    assert says(at, r"\bname\b.*sidebar.*\bcorrect\b")
    assert chips(at)
    assert all(b.disabled for b in at.button if re.match(r"P\d", b.label))


def test_a_drawn_page_is_timed_in_the_log(demo: Workspace) -> None:
    at = AppTest.from_file(str(APP / "main.py"), default_timeout=60)
    at.query_params["question"] = "zoos"
    at.run()
    text = (demo.folder / "logs" / "berdseye.log").read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if "\tpage " in line)
    assert re.fullmatch(r"\S+\tINFO\t-\tapp\.access\.session\tpage home: drawn, [1-9]\d* ms", line)
    assert "zoos" not in text


def test_a_missing_workspace_is_reported_with_its_folder(at_hand: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(at_hand.folder / "gone"))
    at = AppTest.from_file(str(APP / "main.py"), default_timeout=60).run()
    assert not at.exception
    (error,) = at.error
    assert str(at_hand.folder / "gone") in texts(at, "error"), error.value
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(at_hand.folder))
    forget()


# Explore --------------------------------------------------------------------------------------------------------------


def test_explore_shows_each_corpus_with_k_passages(demo: Workspace) -> None:
    at = drawn("explore", name="Ada", k="3")
    assert sum(label.startswith("P1 ") for label in chips(at)) == 3 * len(demo.corpora())
    at.number_input(key="k").set_value(1)
    again(at)
    assert sum(label.startswith("P1 ") for label in chips(at)) == len(demo.corpora())
    assert says(at, "MRecall@1 [0-9]+", "markdown")


@pytest.mark.usefixtures("demo")
def test_explore_compares_pipelines_side_by_side() -> None:
    at = drawn("explore", name="Ada", k="2")
    at.multiselect(key="pipelines").set_value(["bm25", "dense(static)"])
    at.multiselect(key="corpora").set_value(["web"])
    again(at)
    columns = [c.replace("\\", "") for c in at.table[0].value.columns]
    assert columns == ["web · bm25", "web · dense(static)"]


def test_a_flipped_chip_counts_at_once_and_undo_takes_it_back(demo: Workspace) -> None:
    at = drawn("explore", name="Ada", corpora="encyclopedia")
    before, table = chips(at), at.table[0].value
    next(b for b in at.button if str(b.key).startswith("chip-1-of0-0-")).click()
    again(at)
    after = chips(at)
    assert after[1:] == before[1:]
    assert {before[0][:6], after[0][:6]} == {"P1 yes", "P1 no "}
    assert not at.table[0].value.equals(table)
    (mine,) = [j for j in Judgments.open(demo.judgments_url).present() if j.annotator.name == "Ada"]
    assert (mine.verdict, mine.source) == ("does not support" if "no" in after[0] else "supports", "explore")
    next(b for b in at.button if b.label == "Undo").click()
    again(at)
    assert chips(at) == before
    assert at.table[0].value.equals(table)
    assert says(at, r"\bundone\b")


@pytest.mark.usefixtures("demo")
def test_undo_without_anything_to_undo_is_reported() -> None:
    at = drawn("explore", name="Ada")
    next(b for b in at.button if b.label == "Undo").click()
    assert says(again(at), "nothing to undo")


def test_an_own_question_without_perspectives_shows_passages_alone(demo: Workspace) -> None:
    at = drawn("explore", name="Ada")
    at.selectbox(key="set").set_value("your own question")
    again(at)
    assert says(at, "type a question", "info")
    at.text_input(key="ask").set_value("  Are school **uniforms** <b>good</b>? ")
    again(at)
    assert "Are school **uniforms** <b>good</b>?" in texts(at)
    assert chips(at) == []
    assert not at.table
    assert texts(at).count("score ") == 5 * len(demo.corpora())


def test_an_own_question_with_perspectives_is_checked_against_them(demo: Workspace) -> None:
    at = drawn("explore", name="Ada", set="your own question")
    at.text_input(key="ask").set_value("Are school uniforms good?")
    at.text_area(key="views").set_value("+ Uniforms help.\n\n- Uniforms harm.\nUniforms help.\nThey are *old*.")
    again(at)
    rows = [r.replace("\\", "") for r in at.table[0].value.index]
    assert rows[:3] == [
        f"{perspective_mark(0)} :blue-badge[supporting] Uniforms help.",
        f"{perspective_mark(1)} :orange-badge[opposing] Uniforms harm.",
        f"{perspective_mark(2)} They are *old*.",
    ]
    assert len(chips(at)) == 3 * 5 * len(demo.corpora())


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("bm52", r"retriever 'bm52'.*\bbm25\b"),
        ("bm25 >> mrm(0.9)", r"stage 'mrm'.*\bmmr\b"),
        ("bm25(k1=-1)", r"bm25\(k1=-1\).*range"),
        ("![x](https://example.com/x.png)", "cannot be read"),
    ],
)
def test_a_wrong_pipeline_is_an_error_on_the_page_and_can_be_corrected(
    demo: Workspace, typed: str, expected: str
) -> None:
    at = drawn("explore", name="Ada")
    at.multiselect(key="pipelines").set_value([typed])
    again(at)
    (error,) = at.error
    assert says(at, expected, "error"), error.value
    assert "![" not in error.value
    at.multiselect(key="pipelines").set_value(["bm25"])
    again(at)
    assert not at.error
    assert len(chips(at)) > len(demo.corpora())


@pytest.mark.usefixtures("demo")
def test_nothing_chosen_asks_for_a_choice() -> None:
    at = drawn("explore", name="Ada")
    at.multiselect(key="corpora").set_value([])
    assert says(again(at), r"\bcorpus\b.*\bpipeline\b", "info")


# The other pages ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("demo")
def test_annotate_asks_for_a_name_first() -> None:
    at = drawn("annotate")
    assert [box.label for box in at.main.selectbox] == ["Your name"]
    assert not at.button


def test_annotate_resumes_where_the_person_stopped(demo: Workspace) -> None:
    at = drawn("annotate", name="Ada")
    first = texts(at)
    assert "detector" not in first, "the detector's label would bias the person"
    next(b for b in at.button if b.label == "Does not support").click()
    again(at)
    assert says(at, r"you: \*\*does not support\*\*.*\bstance\b")
    held = Judgments.open(demo.judgments_url)
    (mine,) = [j for j in held.present() if j.annotator.name == "Ada"]
    assert (mine.verdict, mine.source) == ("does not support", "annotate")
    assert held.pair_records([mine.pair])[mine.pair].perspective in first
    judged = held.pair_records([mine.pair])[mine.pair]
    other_session = texts(drawn("annotate", name=" ada "))
    assert not (judged.perspective in other_session and judged.passage in other_session)
    assert "you:" not in other_session


@pytest.mark.usefixtures("demo")
def test_annotate_without_a_run_chosen_asks_for_one() -> None:
    at = drawn("annotate", name="Ada")
    at.multiselect(key="runs").set_value([])
    assert says(again(at), r"\bno run\b")


@pytest.mark.usefixtures("demo")
def test_agreement_names_everyone_and_can_leave_the_demo_out() -> None:
    at = drawn("agreement")
    table = next(shown.value for shown in at.dataframe if {"a", "b", "kappa"} <= set(shown.value.columns))
    assert {tuple(row) for row in table[["a", "b"]].to_numpy().tolist()} == {
        ("Noor", "Tomas"),
        ("Noor", "detector stance"),
        ("Tomas", "detector stance"),
    }
    assert table["kappa"].between(-1, 1).all()
    assert (table["low"] <= table["kappa"]).all()
    assert "Krippendorff's alpha" in set(at.dataframe[0].value["statistic"])
    at.toggle(key="demo").set_value(False)
    assert says(again(at), NEXT_STEPS["agreement"], "info")


def test_runs_shows_each_number_beside_its_labels(demo: Workspace) -> None:
    at = drawn("runs")
    table = at.dataframe[0].value
    assert list(table.columns) == [
        "corpus",
        "pipeline",
        *("debate", "living", "policy"),
        "average",
        "ranks",
        "judged@k",
        "labels",
        "grade",
    ]
    assert set(table["labels"]) == {"human>gold>stance"}
    assert len(table) == 2 * len(demo.corpora())
    at.selectbox(key="labels").set_value("human")
    again(at)
    table = at.dataframe[0].value
    assert set(table["labels"]) == {"human"}
    assert table["debate"].str.startswith("–").all(), "too few judgments for a number"


@pytest.mark.usefixtures("demo")
def test_a_wrong_measure_is_an_error_on_the_page_before_anything_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[tuple[object, ...]] = []
    monkeypatch.setattr("berdseye.app.cached.runs.standings", lambda *asked: scored.append(asked))
    at = drawn("runs", measures="MRecal@5")
    for typed in ("MRecal@5", "MRecall@0", "MRecall", ""):
        at.text_input(key="measures").set_value(typed)
        again(at)
        (error,) = at.error
        assert "@5" in error.value.replace("\\", ""), typed
        assert not at.dataframe
        assert not scored


def test_runs_leaves_out_what_no_longer_fits_its_corpus(demo: Workspace) -> None:
    for path in demo.runs_folder.glob("*--web--*.json"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"corpus_hash": "', '"corpus_hash": "old'), encoding="utf-8")
        run_files(demo, path.stem).seal()
    at = drawn("runs")
    assert says(at, "debate--web--bm25", "warning")
    assert "web" not in set(at.dataframe[0].value["corpus"])
