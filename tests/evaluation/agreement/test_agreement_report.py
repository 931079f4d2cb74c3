"""The report on agreement: detectors against people, and the exports."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from berdseye.evaluation.agreement.against_people import against_people
from berdseye.evaluation.agreement.alignment import Rule, aligned
from berdseye.evaluation.agreement.exports import NOTES, TITLES, shown, to_html, to_latex, write_report
from berdseye.evaluation.agreement.report import PARTS, Choices, Parts, report
from berdseye.evaluation.published import published

YES, NO = "supports", "does not support"
HOSTILE = "=<script>alert('&%$#_{}~^\\')</script>"


def labels(**columns: str) -> pd.DataFrame:
    """Labels item by item: y, n, u (unsure), s (skipped) or a dot for none; `detector_x` is a detector."""
    words = {"y": YES, "n": NO, "u": "unsure", "s": "skipped"}
    rows = [
        (f"i{n:03d}", name.replace("detector_", "detector "), words[c])
        for name, said in columns.items()
        for n, c in enumerate(said)
        if c != "."
    ]
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


ANA, BO, MACHINE = "yynnynynny", "ynnnyynnyn", "yyynnynnnn"


def by_rater(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    return {row["rater"]: row for row in table.to_dict("records")}


def test_one_persons_labels_against_anothers_are_scikit_learns_figures() -> None:
    side = aligned(labels(Ana=ANA, Bo=BO, detector_m=MACHINE), (NO, YES))
    found = by_rater(against_people(side, ("Ana", "Bo")))
    a, b, m = ([c == "y" for c in said] for said in (ANA, BO, MACHINE))
    assert found["Ana"]["accuracy"] == pytest.approx(100 * accuracy_score(b, a))
    assert found["Ana"]["f1"] == pytest.approx(100 * f1_score(b, a))
    assert found["Ana"]["kappa"] == pytest.approx(cohen_kappa_score(b, a))
    assert found["Ana"]["pct_positive"] == pytest.approx(100 * np.mean(a))
    assert found["people"]["pct_positive"] == pytest.approx(100 * np.mean(a + b))
    # Two people: 'another human' is either of them against the other.
    assert found["another human"]["accuracy"] == pytest.approx(100 * accuracy_score(b + a, a + b))
    assert found["another human"]["f1"] == pytest.approx(100 * f1_score(b + a, a + b))
    assert found["another human"]["n"] == 20
    machine = found["detector m"]
    assert machine["accuracy"] == pytest.approx(100 * accuracy_score(a + b, m + m))
    assert machine["f1"] == pytest.approx(100 * f1_score(a + b, m + m))
    assert machine["accuracy_low"] < machine["accuracy"] < machine["accuracy_high"]
    printed = published("berds_detectors")
    second = printed[printed["setting"] == "human"].iloc[0]
    assert found["human second (human)"]["accuracy"] == second["accuracy"] == 85.2


def test_counts_are_whole_numbers_beside_rows_without_counts() -> None:
    side = aligned(labels(Ana="yy", Bo="y."), (NO, YES))
    rows = {row["rater"]: row for row in shown(against_people(side, ("Ana", "Bo"))).to_dict("records")}
    assert (rows["Ana"]["n"], rows["Ana"]["n dropped"]) == ("1", "1")
    assert (rows["human second (human)"]["n"], rows["human second (human)"]["n dropped"]) == ("", "")


def test_against_the_majority_ties_and_those_alone_say_nothing() -> None:
    side = aligned(labels(Ana="yyny", Bo="ynn.", Cy="yyn.", detector_m="yynn"), (NO, YES))
    found = by_rater(against_people(side, ("Ana", "Bo", "Cy"), "majority", published=False))
    # Pair 1: Ana and Cy say yes, Bo no; Bo's others agree, Ana's are divided. Pair 3: Ana alone.
    assert (found["Ana"]["n"], found["Ana"]["n_dropped"]) == (2, 2)
    assert (found["Bo"]["n"], found["Bo"]["accuracy"]) == (3, pytest.approx(200 / 3))
    assert (found["detector m"]["n"], found["detector m"]["accuracy"]) == (4, 75)
    assert found["another human"]["n"] == 2 + 3 + 2


def test_against_adjudicators_only_decided_pairs_count() -> None:
    side = aligned(labels(Ana="yyny", detector_m="nynn"), (NO, YES))
    gold = {"i000": True, "i002": True}
    found = by_rater(against_people(side, ("Ana",), "adjudicated", gold=gold, published=False))
    assert (found["Ana"]["n"], found["Ana"]["accuracy"], found["Ana"]["n_dropped"]) == (2, 50, 2)
    assert (found["detector m"]["n"], found["detector m"]["accuracy"]) == (2, 0)


def test_a_report_has_every_part_and_says_what_it_left_out() -> None:
    frame = labels(Ana="yyunnysyny", Bo="yynnnyyyuy", detector_m=MACHINE)
    frame["dataset"], frame["corpus"], frame["stance"] = "made", "web", "supporting"
    frame["at"] = "2026-02-03T00:00:00+00:00"
    found = report(frame)
    assert tuple(found.parts) == PARTS
    assert set(TITLES) == set(PARTS)
    assert set(NOTES) == set(PARTS) - {"matrix"}
    assert (found.unsure_left_out, found.skipped_left_out) == (2, 1)
    assert "2 unsure and 1 skipped left out" in found.summary
    assert "simulated" not in found.summary
    made_up = report(frame.assign(demo=frame["annotator"] == "Bo"))
    assert "by 3 raters, 9 of them by simulated annotators of the demo; rule" in made_up.summary
    assert found.people == ("Ana", "Bo")
    assert len(found.parts["guidelines"]) == 0
    matrix = found.parts["matrix"].set_index("rater")
    assert np.allclose(matrix, matrix.T)
    [pair] = [p for p in found.agreement.pairs if (p.a, p.b) == ("Ana", "Bo")]
    assert matrix.loc["Bo", "Ana"] == pair.cohen_kappa
    assert set(found.parts["together"]["who"]) == {"people", "people and detectors"}
    third = report(frame, Choices(Rule("a third label")))
    assert third.labels.values == (NO, YES, "unsure")


def test_a_table_is_computed_when_it_is_asked_for_and_once() -> None:
    made: list[str] = []

    def table() -> pd.DataFrame:
        made.append("b")
        return pd.DataFrame({"of": ["b"]})

    parts = Parts({"a": pytest.fail, "b": table})
    assert list(parts) == ["a", "b"]
    assert parts["b"] is parts["b"]
    assert made == ["b"]


def test_a_report_of_nothing_or_of_one_person_is_no_error() -> None:
    empty = pd.DataFrame(columns=["item", "annotator", "label"])
    for frame in (empty, labels(Ana="yn"), labels(Ana="u")):
        found = report(frame)
        assert tuple(found.parts) == PARTS
        assert b"<h1>Agreement</h1>" in to_html(found)


def hostile() -> pd.DataFrame:
    frame = labels(Ana=ANA, Bo=BO, detector_m=MACHINE).replace({"annotator": {"Ana": HOSTILE}})
    return frame.assign(dataset=HOSTILE, corpus="web", stance="supporting")


def test_hostile_names_are_text_on_the_page_of_the_report() -> None:
    page = to_html(report(hostile())).decode("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert page.count("data:image/svg+xml;base64,") >= 3
    assert re.findall(r"""(?:src|href)=["'](?!data:image)""", page) == []


def test_hostile_names_are_text_in_every_file(tmp_path: Path) -> None:
    found = report(hostile())
    names = {path.name for path in write_report(found, tmp_path / "out")}
    assert {"report.html", "pairs.csv", "pairs.parquet", "pairs.tex", "matrix.csv", "slices.tex"} <= names
    for path in (tmp_path / "out").glob("*.csv"):
        cells = pd.read_csv(path, dtype=str, keep_default_na=False)
        for text in (*cells.columns, *cells.to_numpy().ravel()):
            assert not str(text).startswith("=")
    exact = pd.read_parquet(tmp_path / "out" / "pairs.parquet")
    assert HOSTILE in set(exact["a"]) | set(exact["b"])
    latex = (tmp_path / "out" / "pairs.tex").read_text(encoding="utf-8")
    assert r"\&\%\$\#\_\{\}" in latex
    assert "toprule" in latex


def test_latex_shows_each_figure_with_its_interval() -> None:
    found = report(labels(Ana=ANA, Bo=BO))
    latex = to_latex(found.parts["together"], "People & all")
    assert "Fleiss' kappa" in latex
    assert re.search(r"raw agreement & 0\.\d+ \[0\.\d+, 0\.\d+\]", latex)
    assert r"\caption{People \& all}" in latex
