"""What three commands print, which others rely on: `search`, `agreement` and `evaluate` with `--json`."""

import csv
import json
from pathlib import Path

import pytest

from berdseye.data.workspace import Workspace
from tests.app.command_line import output

QUESTION = "Should cities ban private cars from their centres?"


def test_search_prints_the_ranked_passages(demo_workspace: Workspace) -> None:
    asked = ("search", QUESTION, "--corpus", "encyclopedia", "--pipeline", "bm25", "--k", 5)
    rows = json.loads(output(*asked, "--json", "--workspace", demo_workspace.folder))
    assert [set(row) for row in rows] == [{"rank", "passage", "title", "text", "score"}] * 5
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]
    order = [(row["score"], row["passage"]) for row in rows]
    assert order == sorted(order, reverse=True)
    assert all(isinstance(row["passage"], int) and row["text"] and row["title"] for row in rows)
    assert any("car" in row["text"].lower() for row in rows)


def test_search_for_more_than_there_is_prints_what_there_is(workspace: Workspace) -> None:
    path = workspace.folder / "two.jsonl"
    path.write_text('{"text": "Blue uniforms."}\n{"text": "Red uniforms."}\n', encoding="utf-8")
    output("corpus", "add", "two", path, "--workspace", workspace.folder)
    rows = json.loads(output("search", "uniforms", "--corpus", "two", "-k", 50, "--json", "-w", workspace.folder))
    assert sorted(row["text"] for row in rows) == ["Blue uniforms.", "Red uniforms."]


@pytest.fixture
def fifty_items(tmp_path: Path) -> Path:
    """50 items of two annotators: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no, Bo's rows in the opposite order."""
    said = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    path = tmp_path / "labels.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("item", "annotator", "label"))
        rows.writerows((f"i{n}", "Ada", a) for n, (a, _) in enumerate(said))
        rows.writerows((f"i{n}", "Bo", b) for n, (_, b) in reversed(list(enumerate(said))))
    return path


def test_agreement_prints_the_worked_example(fifty_items: Path) -> None:
    """By hand: p_o = .7, p_e = .5; kappa's variance after Fleiss, Cohen and Everitt (1969) is .2016 / 12.5, and
    its interval is near the one printed; Fleiss' chance agreement is .55^2 + .45^2; alpha's expected disagreement is
    1 - (55 * 54 + 45 * 44) / 9900 = .5."""
    found = json.loads(output("agreement", fifty_items, "--json"))
    half = 1.959964 * (0.2016 / 12.5) ** 0.5
    (pair,) = found["pairs"]
    assert {pair["a"], pair["b"]} == {"Ada", "Bo"}
    assert pair["n"] == 50
    assert pair["raw"] == pytest.approx(0.7)
    assert pair["cohen_kappa"] == pytest.approx(0.4)
    assert (pair["low"], pair["high"]) == pytest.approx((0.4 - half, 0.4 + half), abs=0.04)
    assert found["fleiss_kappa"] == pytest.approx((0.7 - 0.505) / (1 - 0.505))
    assert found["krippendorff_alpha"] == pytest.approx(0.4)


def test_agreement_of_three_names_each_two_and_leaves_empty_labels_out(fifty_items: Path) -> None:
    with fifty_items.open("a", encoding="utf-8") as file:
        file.write("i0,Cy,yes\ni1,Cy,yes\ni49,Cy,no\ni48,Cy,\n")
    found = json.loads(output("agreement", fifty_items, "--json"))
    pairs = {frozenset((p["a"], p["b"])): p for p in found["pairs"]}
    assert {key: p["n"] for key, p in pairs.items()} == {
        frozenset(("Ada", "Bo")): 50,
        frozenset(("Ada", "Cy")): 3,
        frozenset(("Bo", "Cy")): 3,
    }
    assert pairs[frozenset(("Ada", "Cy"))]["cohen_kappa"] == pytest.approx(1.0)
    assert found["n_complete"] == 3


def test_agreement_that_is_undefined_is_null_and_still_json(tmp_path: Path) -> None:
    path = tmp_path / "same.csv"
    path.write_text("item,annotator,label\n1,Ada,yes\n1,Bo,yes\n2,Ada,yes\n2,Bo,yes\n", encoding="utf-8")
    found = json.loads(output("agreement", path, "--json"), parse_constant=pytest.fail)
    assert found["pairs"][0]["cohen_kappa"] is None
    assert found["pairs"][0]["raw"] == 1.0


@pytest.fixture
def released_run(tmp_path: Path) -> Path:
    """Four questions whose MRecall@5 is 1, 0, 1, 1 and whose Precision@5 is 3/5, 1/5, 5/5, 2/5."""
    labels: list[list[list[int]]] = [
        [[1, 0], [0, 1], [0, 0], [1, 1], [0, 0]],
        [[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1]],  # the other perspective comes sixth: too late
        [[int(place == rank) for place in range(6)] for rank in range(5)],  # five of six fill the five places
        [[1], [0], [1]],  # a short list is still divided by 5
    ]
    lines = [
        {
            "question": f"Question {n}?",
            "perspectives": [f"View {place}" for place in range(len(rows[0]))],
            "ctxs": [{"text": f"Passage {rank}", "labels": row} for rank, row in enumerate(rows)],
        }
        for n, rows in enumerate(labels)
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def test_evaluate_prints_the_worked_example(released_run: Path) -> None:
    """MRecall@5 is 3 of 4; Wilson's interval of 3 of 4 with z = 1.96 is .62752 -+ .32689. Precision@5 with 0 and 1 added has mean
    3.2 / 6 and variance .85333 / 5; Student's quantile of 5 degrees is 2.57058, so that half the interval is .43354."""
    found = json.loads(output("evaluate", "--run", released_run, "--measures", "MRecall@5 Precision@5", "--json"))
    assert list(found) == ["MRecall@5", "Precision@5"]
    recall, precision = found["MRecall@5"], found["Precision@5"]
    assert {"value", "low", "high", "n"} <= set(recall)
    assert recall["value"] == pytest.approx(0.75)
    assert (recall["low"], recall["high"]) == pytest.approx((0.30063, 0.95441), abs=2e-4)
    assert precision["value"] == pytest.approx((0.6 + 0.2 + 1.0 + 0.4) / 4)
    assert (precision["low"], precision["high"]) == pytest.approx((3.2 / 6 - 0.43354, 3.2 / 6 + 0.43354), abs=1e-5)
    assert (recall["n"], precision["n"]) == (4, 4)


def test_evaluate_sees_the_sixth_passage_at_6(released_run: Path) -> None:
    found = json.loads(output("evaluate", "--run", released_run, "--measures", "MRecall@6", "--json"))
    # Question 2 is covered now; question 3 has six perspectives and only five covered.
    assert found["MRecall@6"]["value"] == pytest.approx(0.75)
    found = json.loads(output("evaluate", "--run", released_run, "--measures", "Coverage@6", "--json"))
    assert found["Coverage@6"]["value"] == pytest.approx((1 + 1 + 5 / 6 + 1) / 4)


def test_evaluate_of_a_stored_run_names_its_label_source(demo_workspace: Workspace) -> None:
    asked = ("evaluate", "--run", "debate--web--bm25", "--labels", "gold", "--json", "-w", demo_workspace.folder)
    rows = json.loads(output(*asked))
    assert {row["measure"] for row in rows} == {"MRecall@5", "Precision@5", "Precision@1"}
    assert {row["labels"] for row in rows} == {"gold"}
    assert all(row["low"] <= row["value"] <= row["high"] and 0 <= row["judged"] <= 1 for row in rows)
