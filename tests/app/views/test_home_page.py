"""The start page: what the workspace holds, what waits for the person, and the first steps."""

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch, load_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.verdict_counts import pairs_of_others
from berdseye.app.components.first_steps import PAIRS
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import drawn, says


def links(at: AppTest) -> list[str]:
    return [button.label.replace("\\", "") for button in at.button]


@pytest.mark.usefixtures("at_hand")
def test_an_empty_workspace_is_set_up_step_by_step() -> None:
    at = drawn("home", name="Ada")
    assert [b.label for b in at.button][:4] == ["Add a corpus", "Add questions", "Run a pipeline", "Load the demo data"]
    assert at.button(key="set-up-0").proto.type == "primary"
    assert not at.dataframe


@pytest.mark.usefixtures("demo")
def test_the_holdings_and_the_last_runs_are_shown() -> None:
    at = drawn("home", name="Ada")
    assert "**3** corpora" in links(at)
    table = at.dataframe[0].value
    assert len(table) == 6
    same = table[(table["data set"] == table["data set"][0]) & (table["corpus"] == table["corpus"][0])]
    assert len(same) == 2, "a run of each pipeline"
    assert same["difference"].tolist() == [-same["difference"].tolist()[1], -same["difference"].tolist()[0]]
    assert same["MRecall@5"].diff().abs().iloc[1] == pytest.approx(abs(same["difference"].iloc[0]))


def test_a_batch_waits_for_the_people_whom_it_is_for(demo: Workspace) -> None:
    judgments = Judgments.open(demo.judgments_url)
    records = list(judgments.pair_records().values())[:3]
    create_batch(judgments, BatchPlan("first", people=("Ada",)), [Item(record) for record in records])
    assert ":material/rule: 3 of 3 pairs to judge in the batch first" in links(drawn("home", name="Ada"))
    assert says(drawn("home", name="Bo"), "nothing waits", "caption")


def test_pairs_that_enough_others_have_judged_do_not_wait(demo: Workspace) -> None:
    judgments = Judgments.open(demo.judgments_url)
    records = list(judgments.pair_records().values())[:3]
    batch = create_batch(judgments, BatchPlan("shared", people=("Ada", "Bo")), [Item(record) for record in records])
    BatchQueue(judgments, batch).give(judgments.sign_in("Bo"), records[0].key, "supports")
    assert ":material/rule: 2 of 3 pairs to judge in the batch shared" in links(drawn("home", name="Ada"))


def test_the_first_project_creates_a_batch_of_pairs_that_others_judged(demo: Workspace) -> None:
    at = drawn("home", name="Ada")
    judgments = Judgments.open(demo.judgments_url)
    at.button(key="kappa-0").click()
    at.run()
    ada = judgments.annotator("Ada")
    batch = load_batch(judgments, f"first-{PAIRS}-{ada.id}")
    assert [person.name for person in batch.people] == ["Ada"]
    at = drawn("home", name="Ada")
    assert f":material/rule: {PAIRS} of {PAIRS} pairs to judge in the batch {batch.name}" in links(at)


def test_steps_are_ticked_by_what_the_person_did(demo: Workspace) -> None:
    judgments = Judgments.open(demo.judgments_url)
    ada = judgments.sign_in("Ada")
    for record in pairs_of_others(judgments, ada, PAIRS + 2):
        judgments.judge(ada, record.key, "supports", source="annotate", shown=False)
    (demo.folder / "first_steps.json").write_text('{"Ada": ["agreement"], "Bo": ["failures"]}', encoding="utf-8")
    at = drawn("home", name="Ada")
    assert says(at, rf"judge {PAIRS} pairs.*\({PAIRS + 2} so far\)", "markdown")
    finished = [e.label for e in at.expander]
    assert [label.split(" · ")[1] for label in finished] == ["2 of 2", "0 of 3", "1 of 2"]
