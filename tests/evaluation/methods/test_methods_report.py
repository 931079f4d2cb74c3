"""The methods report states what the workspace holds, and nothing else; texts of the workspace cannot break its form."""

import pytest

from berdseye.annotation.judgments import log
from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.methods.report import methods_report
from berdseye.evaluation.methods.wording import MethodsReport, Section, listed
from tests.evaluation.small_workspace import judge, key


def made(workspace: Workspace, judgments: Judgments, source: str = "human>embedded") -> MethodsReport:
    return methods_report(workspace, judgments, parse_label_source(source), parse_measures("MRecall@2 Precision@2"))


def facts(report: MethodsReport, section: str) -> dict[str, str]:
    return {fact.what: fact.value for fact in report.facts if fact.section == section}


def test_it_counts_what_people_did(small: Workspace, judgments: Judgments) -> None:
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    for text in range(3):
        judge(judgments, ana, 0, 0, text, "supports" if text == 0 else "does not support")
    judge(judgments, bo, 0, 0, 0, "does not support")
    judge(judgments, bo, 1, 0, 3, "unsure")
    judge(judgments, judgments.sign_in("Made up", demo=True), 0, 1, 0, "supports")
    adjudicate(judgments, ana, key(0, 0, 0), "supports")
    report = made(small, judgments)
    said = facts(report, "Annotation")
    assert said["annotators"] == "2"
    assert said["judgments"] == "5"
    assert said["judgments per annotator"] == "2 to 3 (median 2.5)"
    assert said["pairs"] == "4"
    assert said["pairs with two or more annotators"] == "1"
    assert said["questions"] == "2"
    assert said["unsure"] == "1"
    assert said["guidelines"] == "not recorded (5 judgments)"
    assert said["adjudicated pairs"] == "1"
    text = " ".join(report.sections[0].sentences)
    assert "2 annotators gave 5 judgments of 4 pairs" in text
    assert "1 adjudicator settled the label of 1 pair." in text
    assert "Made up" not in report.markdown()
    evaluated = facts(report, "Evaluation")
    assert evaluated["label source"] == "human>embedded"
    assert evaluated["grade of the detector"] == "topic"
    assert evaluated["judgments of simulated annotators"] == "1, which the source human counts"
    assert "test of differences" not in evaluated, "one system is compared with none"


def test_one_day_is_named_once(small: Workspace, judgments: Judgments, monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for day in ("2026-11-26", "2026-11-26", "2026-11-27"):
        monkeypatch.setattr(log, "now", lambda day=day: f"{day}T12:00:00.000000+00:00")
        judge(judgments, judgments.sign_in("Ana"), 0, 0, len(said), "supports")
        said.append(" ".join(made(small, judgments).sections[0].sentences))
    assert "The judgments were given on 2026-11-26." in said[1]
    assert "The judgments were given between 2026-11-26 and 2026-11-27." in said[2]


def test_nothing_is_said_of_what_is_not_there(small: Workspace, judgments: Judgments) -> None:
    report = made(small, judgments, "gold")
    assert report.sections[0].sentences == ["No person has judged a pair."]
    assert facts(report, "Annotation") == {}
    assert not any("detector" in what or "simulated" in what for what in facts(report, "Evaluation"))


def test_texts_of_the_workspace_are_escaped() -> None:
    section = Section("Annotation")
    section.say(r"data_set | 5% of $x$ \input{file} <b>")
    section.fact("a|b", "50% & more_")
    report = MethodsReport((section,))
    latex, markdown = report.latex(), report.markdown()
    assert r"Data\_set | 5\% of \$x\$ \textbackslash{}input\{file\}" in latex
    assert r"a|b & 50\% \& more\_ \\" in latex
    assert r"| Annotation | a\|b | 50% & more\_ |" in markdown
    assert r"\<b\>" in markdown


def test_wording() -> None:
    assert [listed(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_an_unknown_correction_is_refused(small: Workspace, judgments: Judgments) -> None:
    with pytest.raises(UnknownNameError, match="holm"):
        methods_report(small, judgments, parse_label_source("gold"), parse_measures("MRecall@2"), correction="Holm")
