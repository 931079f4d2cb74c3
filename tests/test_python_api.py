"""`import berdseye`: the examples of docs/python.md as they stand there, and what objects say of themselves."""

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import berdseye
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.runs.stored import load_run, run_files
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.scoring import score_run
from berdseye.evaluation.studies.result import StudyResult, Table

PAGE = (Path(__file__).parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = "\n".join(re.findall(r"```pycon\n(.*?)```", PAGE, flags=re.DOTALL))
RUN = "policy--web--bm25"


@pytest.fixture(scope="module")
def ws(demo_workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> berdseye.Workspace:
    """A copy of the demo that may be written to."""
    folder = tmp_path_factory.mktemp("python") / "workspace"
    shutil.copytree(demo_workspace.folder, folder)
    return berdseye.open(folder)


def test_examples_of_the_page_say_what_the_page_says(
    demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(demo_workspace.folder, tmp_path / "workspace")
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(tmp_path / "workspace"))
    parsed = doctest.DocTestParser().get_doctest(EXAMPLES, {}, "docs/python.md", "docs/python.md", 0)
    told: list[str] = []
    with pd.option_context("display.width", 110, "display.max_columns", 20):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        results = runner.run(parsed, out=told.append)
    assert results.attempted >= 35
    assert results.failed == 0, "".join(told)


def test_a_workspace_opens_without_what_only_charts_models_and_tests_of_significance_need(
    ws: berdseye.Workspace,
) -> None:
    """Each of these takes a quarter of a second or more to import."""
    heavy = {
        "alembic",
        "altair",
        "faiss",
        "httpx",
        "numba",
        "openai",
        "scipy",
        "sklearn",
        "statsmodels",
        "streamlit",
        "torch",
    }
    code = f"import sys, berdseye; berdseye.open(sys.argv[1]).runs(); print(sorted({heavy!r} & set(sys.modules)))"
    opened = subprocess.run(
        [sys.executable, "-c", code, str(ws.folder.folder)], capture_output=True, text=True, check=True, timeout=120
    )
    assert opened.stdout.strip() == "[]"


def test_the_page_describes_every_public_name() -> None:
    public = {name for name in vars(berdseye.Workspace) if not name.startswith("_")}
    assert {name for name in public if not re.search(rf"\b(ws|run)\.{name}\b", PAGE)} == set()


def test_measures_are_those_of_the_command_line(ws: berdseye.Workspace) -> None:
    found = berdseye.measures(ws.stored(RUN), "MRecall@5 nDCG@10", labels="human>gold")
    run, judgments = load_run(ws.folder, RUN), Judgments.open(ws.folder.judgments_url)
    asked = (parse_label_source("human>gold"), parse_measures("MRecall@5 nDCG@10"))
    expected = score_run(ws.folder, judgments, run, *asked)
    assert found["value"].tolist() == [s.estimate.value for s in expected]
    assert found["judged"].tolist() == [s.judged for s in expected]


def test_measures_without_a_run_hold_the_means_over_data_sets(ws: berdseye.Workspace) -> None:
    found = ws.measures(names="Precision@1", labels="gold").set_index(["dataset", "corpus", "pipeline"])["value"]
    each = [found[name, "web", "bm25"] for name in ws.datasets]
    assert found["average", "web", "bm25"] == pytest.approx(np.mean(each))


def test_a_stored_run_is_not_made_again(ws: berdseye.Workspace) -> None:
    before = ws.runs().set_index("run").loc[RUN, "created"]
    assert ws.run("policy", "web", "bm25", k=10).stored.manifest.created == before
    assert len(ws.stored(RUN).rankings()) == int((ws.stored(RUN).stored.ids >= 0).sum())


def test_search_labels_a_perspective_by_the_source(ws: berdseye.Workspace) -> None:
    pairs = ws.labels(RUN, k=3, labels="gold")
    asked = ws.question("policy", pairs["question_id"][0])
    found = ws.search(asked, "web", "bm25", k=3, labels="gold")
    same = pairs[pairs["question_id"] == asked.id]
    assert found["passage"].tolist() == same.drop_duplicates("rank")["passage"].tolist()
    for place in range(1, len(asked.perspectives) + 1):
        assert found[f"P{place}"].tolist() == same[same["place"] == place]["supports"].tolist()


def test_a_word_counts_until_it_is_withdrawn(ws: berdseye.Workspace) -> None:
    pairs = ws.labels(RUN, labels="human")
    row = pairs[pairs["supports"].isna()].iloc[0]
    ws.judge(dict(row), "does not support", person="Bo", comment="not this")

    def said() -> object:
        return ws.labels(RUN, labels="human").set_index("pair")["supports"][row["pair"]]

    assert said() is False
    assert ws.judgments().query("annotator == 'Bo'")["comment"].tolist() == ["not this"]
    ws.withdraw(row, person="Bo")
    assert said() is None


def test_a_place_that_no_perspective_has_is_refused(ws: berdseye.Workspace) -> None:
    row = dict(ws.labels(RUN, k=1).iloc[0])
    with pytest.raises(berdseye.BerdseyeError, match="perspectives 1 to"):
        ws.judge({**row, "place": 0}, "supports", person="Bo")


def test_holes_say_who_found_them(ws: berdseye.Workspace) -> None:
    holes, whole = ws.holes(RUN, labels="gold"), ws.hole_map(RUN, labels="gold")
    assert len(holes) == int(whole["hole"].sum()) > 0
    assert set(holes.query("reason == 'another pipeline'")["found_by"]) == {"dense(static)"}


def test_a_run_that_fits_no_more_is_left_out_of_the_pool_and_named(ws: berdseye.Workspace) -> None:
    older = ws.folder.runs_folder / "policy--web--dense(static).json"
    whole = older.read_text(encoding="utf-8")
    older.write_text(whole.replace(ws.stored(RUN).stored.manifest.corpus_hash, "another"), encoding="utf-8")
    run_files(ws.folder, older.stem).seal()
    try:
        with pytest.warns(UserWarning, match=r"Not in the pool of policy--web--bm25.*policy--web--dense\(static\)"):
            assert set(ws.holes(RUN, labels="gold")["found_by"]) == {""}
    finally:
        older.write_text(whole, encoding="utf-8")
        run_files(ws.folder, older.stem).seal()


def test_compared_runs_give_the_difference_of_their_means(ws: berdseye.Workspace) -> None:
    change = ws.compare(RUN, "policy--web--dense(static)", "Precision@5", labels="gold")
    first, second = (
        ws.measures(name, "Precision@5", labels="gold")["value"][0] for name in (RUN, "policy--web--dense(static)")
    )
    [row] = change.summary.to_dict("records")
    assert row["difference"] == pytest.approx(second - first)
    assert row["win"] + row["loss"] + row["tie"] == row["n"] == len(change.questions)
    assert "dense(static) against bm25, policy over web" in repr(change)


def test_own_files_become_a_corpus_and_a_data_set(ws: berdseye.Workspace, tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text('{"text": "Trams carry many people, quietly."}\n', encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "t", "question": "Are trams good?", "perspectives": ["Trams are good."]}\n', encoding="utf-8"
    )
    assert ws.add_corpus("mine", tmp_path / "documents.jsonl") == 1
    assert ws.add_dataset("mine", tmp_path / "questions.jsonl")["perspectives"].tolist() == [("Trams are good.",)]
    assert len(ws.run("mine", "mine", "bm25").rankings()) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"study": "berds bas"}, "Did you mean berds base"),
        ({"study": "compare", "mesure": "MRecall@5"}, "Did you mean measure"),
        ({"study": "compare", "test": "sign"}, "berdseye study compare --help"),
    ],
)
def test_studies_answer_what_is_wrong(ws: berdseye.Workspace, options: dict[str, str], told: str) -> None:
    name = options.pop("study")
    with pytest.raises(berdseye.BerdseyeError, match=told):
        ws.study(name, **options)


def test_studies_take_the_options_of_their_commands(ws: berdseye.Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    result = ws.study("curves", dataset=["policy"], corpus="web", pipeline="bm25", deepest=3, labels="gold")
    assert sorted(result.tables[0].cells["k"]) == [1, 2, 3]
    assert capsys.readouterr().out == ""


def test_texts_are_escaped_in_notebooks(ws: berdseye.Workspace) -> None:
    hostile = "<script>alert(1)</script>"
    cells = pd.DataFrame({"system": [hostile], "measure": ["x"], "value": [1.0]})
    shown = StudyResult("made", {}, [Table("made", hostile, cells, ("system",), ("measure",))], notes=(hostile,))
    change = ws.compare(RUN, RUN, "Precision@5", labels="gold")
    change.contrast.questions.loc[0, "question"] = hostile
    for one in (shown, change, ws, ws.stored(RUN)):
        text = one._repr_html_()
        assert "<script>" not in text
        assert "<table" in text
    assert "&lt;script&gt;" in shown._repr_html_()
    assert "&lt;script&gt;" in change._repr_html_()
