"""The drift report on the page, hostile texts included, and in `judgments doctor`."""

import json

import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cli import cli
from berdseye.data.workspace import Workspace
from tests.app.command_line import output
from tests.app.drawn_page import says


def drawn() -> None:
    from berdseye.annotation.label_studio.drift import Contested, Drift, JudgmentDrift, SideState
    from berdseye.app.components.label_studio import drift_table

    here, there = (
        SideState("supports", "<b>=cmd|'x'</b>", "2026-01-01T00:00:00"),
        SideState("unsure", "", "2026-01-02T00:00:00"),
    )
    drift = Drift(
        "Project :red[x] <i>",
        judgments=(JudgmentDrift("p1", "Ana", "differing", here, there, "the next receiving brings what is there"),),
        unreadable=("Annotation 5 of task 6: no *verdict*",),
        contested=(Contested("p2", "Bo", here, there, "there"),),
    )
    drift_table(lambda: [drift, Drift("Sound")])


@pytest.mark.usefixtures("at_hand")
def test_drift_is_computed_only_after_the_button_is_pressed() -> None:
    page = AppTest.from_function(drawn, default_timeout=30).run()
    assert not page.dataframe
    page.button[0].click().run()
    assert not page.exception
    words, contested = (frame.value for frame in page.dataframe)
    assert words.loc[0, "here"] == "'supports' (<b>=cmd|'x'</b>) of 2026-01-01T00:00:00"
    assert contested.loc[0, "counts"] == "there"
    assert says(page, r"\b1 judgments? differing", "warning")
    assert ":red[x]" not in page.warning[0].value
    assert says(page, "Sound", "success")


def test_the_doctor_finds_and_repairs_a_reservation(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERDSEYE_LABEL_STUDIO_URL", raising=False)
    judgments = Judgments.open(workspace.judgments_url)
    ana = judgments.sign_in("Ana")
    with judgments.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO batches (name, at, made_by, task, per_pair, calibration, ordering, blind, seed, hold, recipe) "
            "VALUES ('b', '', '', 'judge', 1, 0, 'batch', 1, 0, 1, '{}')"
        )
        connection.exec_driver_sql("INSERT INTO pairs VALUES ('k', 'd', 'q', 'q?', 'p', NULL, 'c', 't', 'text', '')")
        connection.exec_driver_sql(
            f"INSERT INTO reservations (batch_id, pair, annotator_id, until) VALUES (1, 'k', {ana.id}, 9e9)"
        )
    judgments.engine.dispose()
    place = ("--workspace", str(workspace.folder))
    result = CliRunner().invoke(cli, ["judgments", "doctor", "--json", *place])
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert [one["check"] for one in told["left"]] == ["reservations"]
    assert "not running" in told["label_studio"]
    told = json.loads(output("judgments", "doctor", "--fix", "--json", *place))
    assert (len(told["mended"]), told["left"]) == (1, [])
    assert json.loads(output("judgments", "doctor", "--json", *place))["mended"] == []
