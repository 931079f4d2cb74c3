"""The page Batches: the list, the form of a new batch, and what one does with a batch."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.progress import batch_progress
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch, list_batches, load_batch
from berdseye.annotation.guidelines.versions import load
from berdseye.annotation.judgments.log import PairRecord
from berdseye.app.access.roles import RefusedError
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.batches import batch_details, new_batch
from berdseye.app.components.batches.kinds import BY_NAME, KINDS, suggested_name
from berdseye.app.jobs.batches import create_arguments
from berdseye.app.jobs.running import list_jobs, stop_job
from berdseye.data.people import Role
from berdseye.data.runs.stored import list_runs
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.opinions import Graded, write_grade
from berdseye.evaluation.selection.request import BatchRequest
from tests.app.drawn_page import again, drawn, says, texts

HOSTILE = "<b>x</b> **y** :red[w]"


def items(number: int = 3) -> list[Item]:
    return [
        Item(PairRecord("made", "q", "Ban cars?", f"Perspective {n}.", None, "web", "", f"Passage {n}."), 0.9, True)
        for n in range(number)
    ]


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    return again(at)


def debate(workspace: Workspace) -> list[str]:
    return [run.name for run in list_runs(workspace) if (run.dataset, run.corpus) == ("debate", "web")]


# The list and the details -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_hand")
def test_without_batches_the_page_says_what_one_is_and_offers_a_new_one_and_runs() -> None:
    at = drawn("batches", name="Lea")
    assert says(at, r"no batches.*\bpairs\b", "info")
    assert {"new-batch", "empty-to-runs"} <= {b.key for b in at.button}
    at = press(at, "new-batch")
    assert [b.label for b in at.button if (b.key or "").startswith("kind-")] == [kind.title for kind in KINDS]
    assert says(press(at, "kind-label"), "no runs", "info")
    assert "to-runs" in {b.key for b in at.button}


@pytest.mark.usefixtures("at_hand")
def test_batches_are_listed_newest_first_and_one_opens_with_its_numbers() -> None:
    held = shared_judgments()
    create_batch(held, BatchPlan("old"), items(2))
    create_batch(held, BatchPlan("new", per_pair=2, people=("Ana", "Bo")), items())
    for name, verdict in (("Ana", "supports"), ("Bo", "does not support")):
        held.judge(held.sign_in(name), items()[0].record.key, verdict, source="annotate")  # type: ignore[arg-type]
    held.flag(held.sign_in("Bo"), items()[1].record.key, source="annotate", comment=HOSTILE)
    at = drawn("batches", name="Lea")
    assert [b.key for b in at.button if (b.key or "").startswith("open-")] == ["open-new", "open-old"]
    assert [p.proto.text for p in at.get("progress")] == ["2 of 6", "1 of 2"], "what counts towards a batch, not twice"
    at = press(at, "open-new")
    assert at.query_params["batch"] in ("new", ["new"])
    assert says(at, r"\b1 of 3 pairs finished · 1 disputed · 0 adjudicated", "caption")
    shares = at.dataframe[0].value.set_index("name")
    assert list(shares.loc["Bo", ["judgments", "skipped", "flagged"]]) == [1, 0, 1]
    assert at.dataframe[1].value["comment"].tolist() == [HOSTILE]
    assert at.button(key="judge-it").disabled, "Lea is not one of its people"
    assert not at.button(key="adjudicate-it").disabled
    assert not drawn("batches", name="Ana", batch="new").button(key="judge-it").disabled


@pytest.mark.usefixtures("at_hand")
def test_a_batch_is_closed_and_opened_again() -> None:
    create_batch(shared_judgments(), BatchPlan("b"), items())
    at = drawn("batches", name="Lea", batch="b")
    press(at, "close-batch")
    assert not load_batch(shared_judgments(), "b").is_open
    assert at.button(key="judge-it").disabled
    press(at, "close-batch")
    assert load_batch(shared_judgments(), "b").is_open
    with shared_judgments().reading() as connection:
        names = connection.exec_driver_sql("SELECT made_by FROM batch_events").scalars().all()
    assert names == ["Lea", "Lea"]


@pytest.mark.usefixtures("at_hand")
def test_a_batch_that_does_not_exist_is_reported_above_the_list() -> None:
    create_batch(shared_judgments(), BatchPlan("b"), items())
    at = drawn("batches", batch=HOSTILE)
    assert says(at, r"no batch is called <b>x</b>", "warning")
    assert "open-b" in {b.key for b in at.button}


@pytest.mark.usefixtures("at_hand")
def test_an_experiment_offers_no_tasks_for_label_studio() -> None:
    create_batch(shared_judgments(), BatchPlan("plain"), items())
    create_batch(shared_judgments(), BatchPlan("trial", blind=False, shown_share=0.5), items())
    offered = {
        name: [b.proto.label for b in drawn("batches", batch=name).get("download_button")]
        for name in ("plain", "trial")
    }
    assert offered["plain"] == ["CSV", "JSONL", "Parquet", "Tasks", "Labeling interface"]
    assert offered["trial"] == ["CSV", "JSONL", "Parquet"]
    batch = load_batch(shared_judgments(), "plain")
    tasks = json.loads(batch_details.tasks_file(batch, interface=False))
    assert [task["data"]["perspective"] for task in tasks] == [item.record.perspective for item in items()]
    assert b"<View" in batch_details.tasks_file(batch, interface=True)


def test_a_batch_is_pushed_as_a_job_where_a_server_runs(at_hand: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    create_batch(shared_judgments(), BatchPlan("b"), items())
    at = drawn("batches", name="Lea", batch="b")
    assert "push-batch" not in {b.key for b in at.button}, "no server"
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_URL", "http://127.0.0.1:9")
    press(drawn("batches", name="Lea", batch="b"), "push-batch")
    (job,) = list_jobs(at_hand)
    stop_job(job)
    assert job.arguments == ("label-studio", "push", "b")


@pytest.mark.parametrize("role", ["annotator", "adjudicator"])
def test_roles_without_the_right_can_neither_create_nor_close(
    at_hand: Workspace, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    batch = create_batch(shared_judgments(), BatchPlan("b"), items())
    for module in (batch_details, new_batch):
        monkeypatch.setattr(module, "role", lambda: role)
    monkeypatch.setattr(batch_details, "errors_in_place", lambda: pytest.raises(RefusedError, match="a researcher"))
    batch_details.change_state(batch)
    assert load_batch(shared_judgments(), "b").is_open
    with pytest.raises(RefusedError, match="a researcher"):
        new_batch.create(BatchRequest("c", runs=("x",)), unlabelled=0)
    assert at_hand.people.team is False


# A new batch ------------------------------------------------------------------------------------------------------------


def test_a_batch_of_runs_is_created_as_announced(demo: Workspace) -> None:
    at = drawn("batches", name="Lea", new="agreement")
    assert at.text_input(key="new-name-agreement").value == "agreement-1"
    assert says(at, r"choose at least one run", "caption")
    assert at.button(key="create-batch").disabled
    at.multiselect(key="new-runs").set_value(debate(demo)[:1])
    assert says(again(at), r"at least 2 people", "caption") or says(at, r"name the people", "caption")
    at.multiselect(key="new-people").set_value(["Ana", "Bo"])
    again(at)
    press(at, "create-batch")
    batch = load_batch(shared_judgments(), "agreement-1")
    assert (batch.per_pair, batch.calibration, [p.name for p in batch.people], batch.made_by) == (
        2,
        20,
        ["Ana", "Bo"],
        "Lea",
    )
    progress = batch_progress(shared_judgments(), batch, time=0)
    assert says(at, rf"created agreement-1: {progress.pairs} pairs", "success")
    assert at.button(key="judge-it").proto.type == "primary"
    at = drawn("batches", name="Lea", new="agreement")
    assert at.text_input(key="new-name-agreement").value == "agreement-2", "a name that no batch has"


def test_what_will_be_created_is_counted_for_each_person_and_in_hours(demo: Workspace) -> None:
    held = shared_judgments()
    at = drawn("batches", name="Lea", new="agreement")
    at.multiselect(key="new-runs").set_value(debate(demo)[:1])
    at.multiselect(key="new-people").set_value(["Ana", "Bo", "Cy"])
    at.number_input(key="new-calibration-agreement").set_value(20)
    again(at)
    assert says(at, r"\*\*80 pairs\*\*, \*\*180 judgments\*\*", "markdown"), "20 pairs for three people, 60 for two"
    assert says(at, r"\*\*60\*\* for each of 3 people, 20 of them calibration pairs", "markdown")
    assert not says(at, r"mean so far", "markdown"), "nobody was timed yet"
    key = held.add_pairs([items()[0].record])[0]
    ana = held.sign_in("Ana")
    held.judge(ana, key, "supports", source="annotate", seconds=30.0)
    assert says(again(at), r"about \*\*30 min\*\* each, at 30 s a judgment", "markdown")


def test_a_name_that_is_taken_and_one_that_cannot_be_are_reported_with_the_form_kept(demo: Workspace) -> None:
    create_batch(shared_judgments(), BatchPlan("mine"), items())
    at = drawn("batches", name="Lea", new="label")
    at.multiselect(key="new-runs").set_value(debate(demo)[:1])
    at.text_input(key="new-name-label").set_value("mine")
    assert says(again(at), r"another batch has this name", "caption")
    at.text_input(key="new-name-label").set_value("Not a name!")
    press(again(at), "create-batch")
    assert says(at, r"cannot be the name of a batch", "error")
    assert at.multiselect(key="new-runs").value == debate(demo)[:1]
    assert [b.name for b in list_batches(shared_judgments())] == ["mine"]


def test_two_runs_are_decided_between_and_the_standing_is_shown(demo: Workspace) -> None:
    first, second = debate(demo)[:2]
    at = drawn("batches", name="Lea", new="decide")
    at.selectbox(key="new-a").set_value(first)
    again(at)
    at.selectbox(key=f"new-b-{first}").set_value(second)
    assert says(again(at), r"up to \*\*\d+ pairs", "markdown")
    press(at, "create-batch")
    batch = load_batch(shared_judgments(), "decide-1")
    assert (batch.order, batch.recipe["decide"]) == ("decision", [first, second])
    assert says(at, r"ahead.*MRecall@5", "info", "success")


def test_a_form_asks_only_for_what_its_kind_needs(demo: Workspace) -> None:
    assert demo.datasets()
    at = drawn("batches", name="Lea", new="random")
    keys = {w.key for w in (*at.selectbox, *at.number_input, *at.multiselect)}
    assert "new-questions-random" in keys
    assert not keys & {"new-order", "new-sample", "new-without", "new-calibration-random"}, "they would bias the draw"
    at.multiselect(key="new-runs").set_value(debate(demo)[:1])
    at.number_input(key="new-questions-random").set_value(2)
    press(again(at), "create-batch")
    recipe = load_batch(shared_judgments(), "random-1").recipe
    assert (recipe["preset"], recipe["questions"]) == ("random-questions", 2)
    assert len(recipe["drawn"]["debate"]) == 2


def test_pairs_and_answers_come_from_files(demo: Workspace) -> None:
    assert demo.datasets()
    at = drawn("batches", name="Lea", new="file")
    upload = at.file_uploader(key="new-pairs-file")
    upload.set_value(
        ("pairs.csv", b"passage,perspective\nStreets are quiet.,Cars should go.\n,Cars stay.\n", "text/csv")
    )
    again(at)
    assert says(at, r"^pairs\.csv:3: ", "error"), "the file is called by its own name"
    assert at.button(key="create-batch").disabled
    upload = at.file_uploader(key="new-pairs-file")
    upload.set_value(("pairs.csv", b"passage,perspective\nStreets are quiet.,Cars should go.\n", "text/csv"))
    press(again(at), "create-batch")
    assert load_batch(shared_judgments(), "file-1").recipe["file"] == "pairs.csv"
    at = drawn("batches", name="Lea", new="compare")
    answers = {"question": "Why?", "first": "Because.", "second": "Why not."}
    at.file_uploader(key="new-answers-file").set_value(("answers.jsonl", json.dumps(answers).encode(), "text/plain"))
    press(again(at), "create-batch")
    assert load_batch(shared_judgments(), "compare-1").task == "prefer"


def test_settings_of_a_batch_reach_it(demo: Workspace) -> None:
    at = drawn("batches", name="Lea", new="label")
    at.multiselect(key="new-runs").set_value(debate(demo)[:1])
    at.selectbox(key="new-sight").set_value("A random share")
    again(at)
    at.number_input(key="new-sample").set_value(10)
    at.number_input(key="new-reservation").set_value(5)
    at.text_area(key="new-guidelines").set_value("Ask Noor.")
    again(at)
    at.multiselect(key="new-strata").set_value(["stance"])
    press(again(at), "create-batch")
    batch = load_batch(shared_judgments(), "label-1")
    assert (batch.shown_share, batch.hold, batch.blind) == (0.5, 300, False)
    assert (batch.recipe["sample"], batch.recipe["by"]) == (10, ["stance"])
    assert batch.guidelines is not None
    assert load(shared_judgments(), batch.guidelines).text == "Ask Noor."


def test_a_batch_whose_pairs_need_many_labels_is_created_as_a_job(
    demo: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_batch, "MANY_UNLABELLED", 10)
    version = parse_detector("similarity(static)").version
    write_grade(demo, Graded("similarity(static)", version, "stance", 0.9, 0.8, 1.0, 87))
    write_grade(demo, Graded("stance", parse_detector("stance").version, "topic", 0.5, 0.4, 0.6, 87))
    at = drawn("batches", name="Lea", new="verify")
    assert says(at, "stance has the grade.*topic", "warning"), "the detector in use"
    at.multiselect(key="new-runs").set_value(debate(demo)[:1])
    assert says(again(at), "Choose a detector of the grade stance", "caption")
    assert at.button(key="create-batch").disabled
    at.selectbox(key="new-detector-verify").set_value("similarity(static)")
    assert not says(again(at), "has the grade", "warning")
    assert says(at, r"labels \d+ pairs first.*\bjob\b", "caption")
    press(at, "create-batch")
    (job,) = list_jobs(demo)
    stop_job(job)
    assert job.arguments[:5] == ("batch", "create", "verify-1", "--run", debate(demo)[0])
    assert job.arguments[job.arguments.index("--task") + 1] == "verify"
    assert says(again(at), r"creation of the batch verify-1", "markdown")
    create_batch(shared_judgments(), BatchPlan("verify-1", task="verify", blind=False), items())  # as the job would
    assert "judge-it" in {b.key for b in again(at).button}, "the batch opens once it exists"


# What the page and the command share ------------------------------------------------------------------------------------


def test_names_are_suggested_that_no_batch_has() -> None:
    kind = BY_NAME["label"]
    assert suggested_name(kind, []) == "label-1"
    assert suggested_name(kind, ["label-1", "label-2", "other"]) == "label-3"


def test_the_arguments_of_the_command_say_the_same_as_the_request() -> None:
    request = BatchRequest(
        "b", runs=("r", "s"), k=3, people=("Ana", "bo@example.org"), per_pair=2, calibration=4, order="uncertainty",
        sample=9, strata=("stance", "dataset"), without=("old",), experiment=0.25, detector="embedded", seed=7,
        reservation_seconds=600,
    )  # fmt: skip
    words = " ".join(create_arguments(request))
    assert words == (
        "batch create b --run r --run s --k 3 --order uncertainty --without-batch old --sample 9 --by stance,dataset "
        "--person Ana --person bo@example.org --per-pair 2 --calibration 4 --seed 7 --reservation-minutes 10 "
        "--detector embedded --experiment 0.25"
    )
    decision = " ".join(create_arguments(BatchRequest("b", decide=("r", "s"), measure="Precision@5")))
    assert "--decide r s --measure Precision@5" in decision
    assert "--order" not in decision
    assert "--k " not in decision


def test_texts_of_the_page_are_shown_as_they_are(at_hand: Workspace, tmp_path: Path) -> None:
    assert at_hand.folder != tmp_path
    plan = BatchPlan("b", made_by=HOSTILE, people=(HOSTILE,), recipe={"file": HOSTILE})
    create_batch(shared_judgments(), plan, items())
    at = drawn("batches", batch="b")
    assert "<b>" not in "".join(m.value for m in at.markdown)
    assert HOSTILE not in str(at.table[0].value.to_numpy().tolist())
    assert "Created" in at.table[0].value.index
    assert texts(drawn("batches"))


# How many -----------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_hand")
def test_the_page_computes_how_many_questions_pairs_and_people_a_study_needs() -> None:
    at = drawn("batches", name="Lea")
    assert not at.metric, "nothing is computed before it is asked for"
    at.toggle(key="power").set_value(True)
    assert {m.label: m.value for m in again(at).metric} == {"Questions": "128", "Pairs": "296", "People": "7"}
    at.number_input(key="power-width").set_value(0.4)
    assert {m.label: m.value for m in again(at).metric}["Pairs"] == "74"
    at.number_input(key="power-accuracy").set_value(0.5)
    at.run()
    assert not at.exception
    assert any("The accuracy must be between" in error.value for error in at.error)
    assert {m.label for m in at.metric} == {"Questions", "Pairs"}
