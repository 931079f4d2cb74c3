"""Jobs of the app: real commands that run beside it, are stopped, killed, taken up again, and listed until dismissed."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from berdseye.annotation.people import Identity
from berdseye.app.components.job_box import left
from berdseye.app.jobs import trainings
from berdseye.app.jobs.reports import VARIABLE, End, Reached, ended, reached, report, reporting, write_end
from berdseye.app.jobs.running import (
    Job,
    dismiss_job,
    first_notice,
    list_jobs,
    read_job,
    resume_job,
    start_job,
    stop_job,
)
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.runs.stored import list_runs
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.detection.throughput import load_throughput
from berdseye.retrieval.running import run_pipeline
from tests.app.drawn_page import APP, again, drawn, says, texts

WITHIN = 120.0
RUN = ("run", "--corpus", "web", "--pipeline", "bm25", "--k", "5", "--missing")
BOTH = (*RUN, "--dataset", "debate", "--dataset", "policy")


def after(job: Job) -> Job:
    """The job once its process is gone."""
    until = time.monotonic() + WITHIN
    while job.runs:
        assert time.monotonic() < until, job.output_tail
        time.sleep(0.05)
    return job


def invented(workspace: Workspace, number: int, *arguments: str, end: End | None = None) -> Job:
    """A job that no process belongs to."""
    folder = workspace.jobs_folder / f"{number:04d}"
    folder.mkdir(parents=True)
    held = {"pid": 0, "arguments": arguments, "person": "Ada", "began": "2026-01-02T03:04:05+00:00", "makes": None}
    (folder / "process.json").write_text(json.dumps(held))
    if end is not None:
        write_end(folder, end)
    return read_job(workspace, folder.name)


# Processes ------------------------------------------------------------------------------------------------------------


def test_a_killed_job_resumes_from_what_it_finished(demo: Workspace) -> None:
    for run in list_runs(demo):
        (demo.runs_folder / f"{run.name}.json").unlink()
    run_pipeline(demo, "debate", "web", "bm25", 5)
    before = {run.name: run.created for run in list_runs(demo)}
    job = start_job(demo, BOTH, person="Ada")
    os.killpg(job.pid, signal.SIGKILL)
    os.waitpid(job.pid, 0)
    (found,) = list_jobs(demo)  # as another process finds it: the app was started again
    assert (found.state, found.person, found.end) == ("cut off", "Ada", None)
    resumed = after(resume_job(demo, found, person="Ada"))
    assert (resumed.id, resumed.state) == (job.id, "done")
    assert "already exists" in resumed.output_tail
    runs = {run.name: run.created for run in list_runs(demo)}
    assert len(runs) == 2
    assert runs.items() >= before.items(), "what was finished is not done again"
    said = resumed.reached
    assert said is not None
    assert (said.work, said.done == said.total) == ("bm25 on policy over web", True)


def test_a_stopped_job_records_by_whom_and_a_running_one_is_not_started_twice(demo: Workspace) -> None:
    job = start_job(demo, ("detector", "train", "--name", "mine", "--demo"))
    with pytest.raises(BadInputError, match="already running"):
        resume_job(demo, job)
    with pytest.raises(BadInputError, match="Stop it first"):
        dismiss_job(demo, job)
    stop_job(job, person="Bela")
    assert job.state == "stopped"
    assert job.end is not None
    assert job.end.stopped_by == "Bela"
    assert not replace(job, pid=1).runs, "a number that another command got"


def test_one_that_fails_keeps_its_exit_status(demo: Workspace) -> None:
    job = after(start_job(demo, ("run", "--dataset", "debate", "--corpus", "web", "--pipeline", "bm26")))
    assert (job.state, job.end and job.end.status) == ("failed", 2)
    assert "bm25" in job.output_tail


# What is kept ---------------------------------------------------------------------------------------------------------


def test_a_new_job_gets_a_number_above_all_others(workspace: Workspace) -> None:
    invented(workspace, 7, "run")
    job = start_job(workspace, ("--help",))
    assert (job.id, [j.id for j in list_jobs(workspace)]) == ("0008", ["0008", "0007"])
    after(job)


@pytest.mark.parametrize("number", ["../0001", "0002", "", "x"])
def test_an_unknown_job_number_is_named_in_the_error(workspace: Workspace, number: str) -> None:
    invented(workspace, 1, "run")
    with pytest.raises(UnknownNameError, match=re.escape(repr(number))):
        read_job(workspace, number)


def test_what_is_half_made_goes_with_the_last_job_that_makes_it(workspace: Workspace) -> None:
    folder = workspace.detectors_folder / "mine"
    folder.mkdir(parents=True)
    first = replace(invented(workspace, 1, "detector", "train"), makes=folder / "card.json")
    second = invented(workspace, 2, "detector", "train")
    held = workspace.jobs_folder / "0002" / "process.json"
    held.write_text(held.read_text().replace("null", '"detectors/mine/card.json"'))
    dismiss_job(workspace, first)
    assert folder.exists(), "the second goes on with it"
    dismiss_job(workspace, read_job(workspace, second.id))
    assert not folder.exists()
    assert list_jobs(workspace) == []


def test_what_is_whole_stays(workspace: Workspace) -> None:
    card = workspace.detectors_folder / "mine" / "card.json"
    card.parent.mkdir(parents=True)
    card.write_text("{}")
    dismiss_job(workspace, replace(invented(workspace, 1, "detector", "improve"), makes=card))
    assert card.exists()


def test_the_end_is_noticed_once(workspace: Workspace) -> None:
    job = invented(workspace, 1, "run", end=End(0, 1.0))
    assert [first_notice(job), first_notice(job)] == [True, False]


def test_a_training_that_was_started_twice_is_listed_once(workspace: Workspace) -> None:
    for number in (1, 2):
        invented(workspace, number, "detector", "train", "--name", "mine", "--kind", "head", end=End(None, 1.0))
    (held,) = trainings.jobs(workspace)
    assert (held.job.id, held.options) == ("0002", ("--kind", "head"))


# Reports --------------------------------------------------------------------------------------------------------------


def test_only_a_job_reports(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = workspace.folder
    with reporting():
        report("indexing", "passages", 1, 10)
    assert (reached(folder), ended(folder)) == (None, None)
    monkeypatch.setenv(VARIABLE, str(folder))
    with reporting():
        assert VARIABLE not in os.environ, "what it starts is not the job"
        for done in range(11):
            report("indexing", "passages", done, 10)
    said, end = reached(folder), ended(folder)
    assert said is not None
    assert end is not None
    assert (said.done, said.share, end.status) == (10, 1.0, 0)


@pytest.mark.parametrize(("left_by", "status"), [(SystemExit(2), 2), (SystemExit(0), 0), (ValueError("no"), 1)])
def test_how_a_command_ended_is_its_exit_status(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, left_by: BaseException, status: int
) -> None:
    monkeypatch.setenv(VARIABLE, str(workspace.folder))
    with pytest.raises(type(left_by)), reporting():
        raise left_by
    end = ended(workspace.folder)
    assert end is not None
    assert end.status == status


# Pages ----------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_hand")
def test_the_page_without_jobs_says_so() -> None:
    assert says(drawn("jobs"), "no jobs", "info")


def test_the_page_lists_every_job_and_the_address_names_one(at_hand: Workspace) -> None:
    invented(at_hand, 1, "index", "<b>web</b>", end=End(2, 1e9))
    folder = invented(at_hand, 2, "run", end=End(None, 1e9, "Bela")).folder
    (folder / "log.txt").write_text("the last line")
    at = drawn("jobs", job="0001")
    told = texts(at)
    assert told.index("<b>web</b>") < told.index(":material/stop_circle: **run**"), "the one of the address comes first"
    assert says(at, r"\bstatus 2\b", "caption")
    assert says(at, r"stopped by Bela", "caption")
    assert [c.value for c in at.code][-1] == "the last line"
    next(b for b in at.button if b.key == "forget-0001").click()
    again(at)
    assert [job.id for job in list_jobs(at_hand)] == ["0002"]
    assert says(drawn("jobs", job="0001"), r"\b0001\b.*dismissed", "caption")


def test_work_is_started_from_the_page_and_counted_on_every_page(demo: Workspace) -> None:
    at = drawn("jobs", work="run")
    next(w for w in at.multiselect if w.label == "Data set").set_value(["debate"])
    next(w for w in at.multiselect if w.label == "Corpus").set_value(["web"])
    next(w for w in at.multiselect if w.label == "Pipeline").set_value(["bm25"])
    next(b for b in at.button if b.label == "Start").click()
    again(at)
    (job,) = list_jobs(demo)
    assert job.arguments[:3] == ("run", "--dataset", "debate")
    main = AppTest.from_file(str(APP / "main.py"), default_timeout=60).run()
    assert not main.exception
    assert after(job).state == "done", job.output_tail
    assert says(drawn("jobs"), r":material/check_circle: \*\*run ")


def test_a_run_of_the_runs_page_is_a_job(demo: Workspace) -> None:
    for run in list_runs(demo):
        (demo.runs_folder / f"{run.name}.json").unlink()  # so that there is nothing to score
    at = drawn("runs")
    next(b for b in at.button if b.label == "Run").click()
    again(at)
    (job,) = list_jobs(demo)
    assert job.arguments[0] == "run"
    assert job.arguments[-1] == "--missing"
    stop_job(job)
    assert says(at, rf"\bjob {int(job.id)}\b")


# Who may --------------------------------------------------------------------------------------------------------------

ISSUER = "https://id.example.org"
ROLES = {"ana": "annotator", "rea": "researcher", "bo": "researcher", "ada": "admin"}


def address(who: str) -> str:
    return f"{who}@example.org"


@pytest.fixture
def jobs_of_a_team(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """A team's three jobs: one of Rea's runs, another was stopped, and a backup of hers is of when she was an admin."""
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    st.cache_resource.clear()
    roles = "".join(f'"{address(who)}" = "{role}"\n' for who, role in ROLES.items())
    (workspace.folder / "berdseye.toml").write_text(
        f'[people]\nmode = "team"\nissuer = "{ISSUER}"\nclient_id = "b"\n[people.roles]\n{roles}'
    )
    for number, arguments in enumerate((("run", "--k", "5"), ("study", "curves"), ("backup", "all.zip")), 1):
        folder = invented(workspace, number, *arguments, end=None if number == 1 else End(None, 1e9)).folder
        held = json.loads((folder / "process.json").read_text())
        (folder / "process.json").write_text(json.dumps(held | {"pid": number, "person": address("rea")}))
    monkeypatch.setattr("berdseye.app.jobs.running.runs_command", lambda pid, _command: pid == 1)
    yield workspace
    st.cache_resource.clear()


def jobs_page(monkeypatch: pytest.MonkeyPatch, who: str) -> AppTest:
    """The page as one of the team sees it, by the door's word for who they are."""
    person = Identity(ISSUER, who, who.title(), address(who))
    monkeypatch.setattr("berdseye.app.access.session.identity", lambda *_: person)
    at = AppTest.from_file(str(APP / "views" / "jobs.py"), default_timeout=60)
    at.session_state["right"] = "research"
    return again(at)


def offered(at: AppTest) -> set[str]:
    return {b.key for b in at.button if b.key and re.fullmatch(r"(stop|go|forget)-\d+", b.key)}


HERS = {"stop-0001", "go-0002", "forget-0002"}


@pytest.mark.usefixtures("jobs_of_a_team")
@pytest.mark.parametrize(
    ("who", "sees", "can"),
    [
        ("ana", (), set()),
        ("bo", ("run", "study"), set()),
        ("rea", ("run", "study"), HERS),
        ("ada", ("run", "study", "backup"), HERS | {"go-0003", "forget-0003"}),
    ],
)
def test_in_a_team_a_job_is_its_starters_and_the_admins(
    monkeypatch: pytest.MonkeyPatch, who: str, sees: tuple[str, ...], can: set[str]
) -> None:
    at = jobs_page(monkeypatch, who)
    told = texts(at)
    assert [word for word in ("run", "study", "backup") if f"**{word} " in told] == list(sees)
    assert offered(at) == can
    assert bool(says(at, r"role.*\bresearcher\b", "error")) == (who == "ana")


def test_in_a_team_a_stopped_job_records_who_stopped_it(
    jobs_of_a_team: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended_groups: list[int] = []
    monkeypatch.setattr("berdseye.app.jobs.running.end_group", lambda pid, **_: ended_groups.append(pid))
    at = jobs_page(monkeypatch, "ada")
    at.button(key="stop-0001").click()
    again(at)
    end = read_job(jobs_of_a_team, "0001").end
    assert (ended_groups, end and end.stopped_by) == ([1], address("ada"))
    at = jobs_page(monkeypatch, "rea")
    at.button(key="forget-0001").click()
    again(at)
    assert [job.id for job in list_jobs(jobs_of_a_team)] == ["0003", "0002"]


@pytest.mark.parametrize("name", ["", "Bela"])
def test_in_local_mode_every_job_is_everybodys(at_hand: Workspace, name: str) -> None:
    for number, word in enumerate(("run", "backup", "detector"), 1):
        invented(at_hand, number, word, end=End(None, 1e9))
    assert offered(drawn("jobs", name=name)) == {f"{what}-000{n}" for what in ("go", "forget") for n in (1, 2, 3)}


def test_what_a_thousand_pairs_cost_is_measured_from_the_lab_in_a_process_of_its_own(at_hand: Workspace) -> None:
    at = drawn("detector_lab", part="Cost", detector="random")

    def row() -> dict[str, Any]:
        (found,) = (d.value for d in at.dataframe if "seconds per 1,000 pairs" in d.value.columns)
        return dict(found.set_index("detector").loc["random"])

    assert row()["measured"] == "not yet"
    next(b for b in at.button if b.label == "Measure random").click()
    again(at)
    (job,) = list_jobs(at_hand)
    assert after(job).state == "done", job.output_tail
    again(at)
    measured = load_throughput(at_hand, "random", parse_detector("random").version)
    assert measured is not None
    assert row()["measured"] == measured.at[:10]
    assert measured.seconds_per_1000 > 0
    assert float(row()["seconds per 1,000 pairs"]) == pytest.approx(measured.seconds_per_1000, abs=6e-4)
    assert "random" in job.output_tail, "its log is the table of the command"


# Time -----------------------------------------------------------------------------------------------------------------


def test_the_time_left_is_that_of_the_speed_so_far() -> None:
    assert left(Reached("w", "u", 25, 100, 30.0, 20.0)) == ", about 0:00:30 left"
    assert left(Reached("w", "u", 25, None, 30.0, 20.0)) == ""
    assert left(Reached("w", "u", 100, 100, 30.0, 20.0)) == ""
