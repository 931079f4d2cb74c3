"""DebateQA's studies over answer sets made here, by a tiny model and by texts alone."""

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from berdseye.data.answers import Answer, AnswerSet, save_answers
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.measures import AnswerMeasure, parse_answer_measures
from berdseye.evaluation.answer_measures.people import DisputeLabel, Preference
from berdseye.evaluation.published import published
from berdseye.evaluation.studies.by_name.study_registry import run_study
from berdseye.evaluation.studies.debateqa.figures import group_figures, printed_column, same_model
from berdseye.evaluation.studies.debateqa.meta import debateqa_meta
from berdseye.evaluation.studies.debateqa.stability import debateqa_stability
from berdseye.evaluation.studies.debateqa.study import debateqa
from berdseye.evaluation.studies.result import StudyResult, list_results, load_result, save_result
from tests.app.command_line import output
from tests.data.language_models.scripted import ScriptedModel
from tests.evaluation.answer_measures.answer_models import tiny_model

VIEWS = (Perspective("a b c", None, "zoo d"), Perspective("e f", None, "g h yes"))
QUESTIONS = [Question(str(n), "debate", f"zoo {n}?", VIEWS) for n in range(6)]
TEXTS = {"whole": "a b c zoo d e f g h yes debated", "half": "a b c zoo d", "none": "x y"}


def answer_set(name: str, **settings: str) -> AnswerSet:
    answers = [Answer(q.id, f"{TEXTS[name]} {'z ' * int(q.id)}".strip()) for q in QUESTIONS]
    return AnswerSet(name, "debate", f"api({name})", settings, answers)


SETS = [answer_set(name) for name in TEXTS]


def questions(count: int) -> list[Question]:
    """As many questions as the paper has, of which the first six are `QUESTIONS`."""
    return [*QUESTIONS, *(Question(str(n), "debate", f"zoo {n}?", VIEWS) for n in range(len(QUESTIONS), count))][:count]


def cells(result: StudyResult, table: str) -> pd.DataFrame:
    return next(t for t in result.tables if t.name == table).cells


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    tiny_model(folder)
    return str(folder)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that finds a dispute where the word stands."""

    def opened(*_: object) -> ScriptedModel:
        return ScriptedModel(lambda prompt: "1" if "debated" in prompt else "0")

    monkeypatch.setattr("berdseye.evaluation.answer_measures.measures.open_language_model", opened)


@pytest.mark.usefixtures("judge")
def test_table_2_and_the_figures(workspace: Workspace, model: str) -> None:
    measures = parse_answer_measures(f'PD("{model}") DA(llm) ROUGE-L')
    result = debateqa(workspace, "debate", SETS, QUESTIONS, measures)
    systems = cells(result, "debateqa-systems")
    da = systems[(systems["figure"] == "DA(llm)") & systems["value"].notna()].set_index("system")["value"]
    assert da.to_dict() == {"whole": 1.0, "half": 0.0, "none": 0.0}
    ranks = systems[(systems["figure"] == "rank D.A.") & systems["value"].notna()].set_index("system")["value"]
    assert ranks.to_dict() == {"whole": 1, "half": 2, "none": 2}
    paper = systems[(systems["system"] == "gpt-4o (paper)") & (systems["figure"] == "PD(gpt2)")].iloc[0]
    assert (np.isnan(paper["value"]), paper["published"]) == (True, 4.03)
    compared = cells(result, "debateqa-comparisons")
    assert len(compared) == 3 * 3 * 2 + 3
    # exp(-(a - b) / n) with the two partial answers of every question
    rows = compared[compared["measure"] == str(measures[0])].set_index(["a", "b", "figure"])["value"]
    for a, b in (("whole", "half"), ("whole", "none"), ("half", "none")):
        assert rows[a, b, "recovery"] == pytest.approx(np.exp(-rows[a, b, "a - b"] / 2))
    weighted = cells(result, "debateqa-weighted-ranks").query("system == 'whole' and k == '0'")
    assert weighted["value"].tolist() == [1]
    assert sorted(result.charts) == ["correlation", "weighted-ranks"]
    save_result(workspace, result)
    assert load_result(workspace, list_results(workspace)[0]).settings["measures"] == [str(m) for m in measures]


def test_the_papers_own_means_give_its_weighted_ranks_as_a_study(workspace: Workspace) -> None:
    """Figure 3, k = 0.5, through the study: systems named as in the paper, with its table 2 as their values."""
    main = published("debateqa_main")
    sets = [AnswerSet(f"s{n}", "debate", f"api({m})", {}, [Answer("0", "x")]) for n, m in enumerate(main["model"])]
    held = {f"s{n}": row for n, row in enumerate(main.to_dict("records"))}

    class Printed:
        version = "paper"

        def __init__(self, column: str) -> None:
            self.column, self.turn = column, 0

        def values(self, *_: object, **__: object) -> object:
            from berdseye.evaluation.answer_measures.items import Measured

            self.turn += 1
            return Measured(np.array([held[f"s{self.turn - 1}"][self.column]]))

    def ranked(asked: int, systems: int) -> pd.DataFrame:
        measures = parse_answer_measures("PD(qwen2-0.5b,variant=released) DA(api(phi-3-medium))")
        pd_column, da_column = Printed("pd_qwen2_05b"), Printed("da_phi3_medium")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(AnswerMeasure, "open", lambda self, _: pd_column if self.name == "PD" else da_column)
            patched.setattr("berdseye.evaluation.studies.debateqa.study._tokenizer", lambda _: None)
            result = debateqa(workspace, "debate", sets[:systems], questions(asked), measures)
        return cells(result, "debateqa-weighted-ranks")

    found = ranked(1000, 12)
    assert len(found) == 12 * 5
    assert found["value"].tolist() == found["published"].tolist()
    assert ranked(999, 12)["published"].isna().all()
    assert ranked(1000, 11)["published"].isna().all(), "ranks among eleven systems are others"


def test_groups_by_a_setting(workspace: Workspace) -> None:
    sets = [
        AnswerSet(f"gpt-{style}", "debate", "api(gpt-4o-mini)", {"style": style}, SETS[n].answers)
        for n, style in enumerate(("detailed", "basic", "comprehensive"))
    ]
    measures = parse_answer_measures("ROUGE-L")
    result = debateqa(workspace, "debate", sets, QUESTIONS, measures, by="style", paper_rows=False)
    laid = next(t for t in result.tables if t.name == "debateqa-by-style").laid_out()
    assert [column[1] for column in laid.columns] == ["basic", "comprehensive", "detailed"]
    assert laid.index.tolist() == ["api(gpt-4o-mini)"]
    with pytest.raises(BadInputError, match=r"No set of answers has a setting 'strategy'. Their settings are style"):
        debateqa(workspace, "debate", sets, QUESTIONS, measures, by="strategy")
    twice = [sets[1], AnswerSet("other", "debate", sets[1].model, {"style": "basic"}, sets[0].answers)]
    with pytest.raises(BadInputError, match=r"Two sets of api\(gpt-4o-mini\) have style basic"):
        debateqa(workspace, "debate", twice, QUESTIONS, measures, by="style")


def test_lengths_stand_beside_lengths_in_the_same_unit(workspace: Workspace, model: str) -> None:
    """Table 2 prints 434 tokens for GPT-4o; our words once had them in brackets."""
    texts = ["a,b c", "zoo d e f g"]  # 2 and 5 words; the tiny tokenizer splits at the comma: 4 and 5 tokens
    written = AnswerSet("mine", "debate", "api(gpt-4o)", {}, [Answer(str(n), t) for n, t in enumerate(texts)])
    measures = parse_answer_measures(f'PD("{model}")')
    found = cells(debateqa(workspace, "debate", [written], questions(1000), measures), "debateqa-systems")
    lengths = found[found["figure"].isin(["words", "tokens"])].set_index(["system", "figure"])
    ours = lengths.loc[[("mine", "words"), ("mine", "tokens")]]
    assert ours["value"].tolist() == [3.5, 4.5]
    assert (np.isnan(ours["published"].iloc[0]), ours["published"].iloc[1]) == (True, 434)
    assert lengths.loc[("gpt-4o (paper)", "tokens"), "published"] == 434
    assert ("gpt-4o (paper)", "words") not in lengths.index
    fewer = cells(debateqa(workspace, "debate", [written], QUESTIONS, measures), "debateqa-systems")
    assert fewer.loc[fewer["system"] == "mine", "published"].isna().all(), "printed for 1,000 questions"
    assert 434 in fewer.loc[fewer["system"] == "gpt-4o (paper)", "published"].tolist()
    table = debateqa(workspace, "debate", [written], QUESTIONS[:2], parse_answer_measures("ROUGE-L")).tables[0]
    assert "tokens" not in set(table.cells.loc[table.cells["system"] == "mine", "figure"])
    assert any("ours are counted in tokens only with a P.D. measure" in note for note in table.notes)


def test_table_5_stands_beside_the_papers_sites_only(workspace: Workspace, model: str) -> None:
    """3.63 is printed for .edu, .org, .gov, .info and .pro, and 3.77 for any site."""
    wider = ["gov", "edu", "org", "ac.*"]
    sites = {"paper": ["edu", "org", "gov", "info", "pro"], "wider": wider, "any": [], "corpus": wider}
    measure = parse_answer_measures(f'PD("{model}",variant=released)')[0]
    printed = {}
    for name, endings in sites.items():
        settings = {"trusted_only": name in ("paper", "wider"), "trusted": endings}
        one = AnswerSet(name, "debate", "api(gpt-4o-mini)", settings, SETS[0].answers)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("berdseye.evaluation.studies.debateqa.figures.printed_column", lambda _: "pd_qwen2_05b")
            result, fewer = (
                debateqa(workspace, "debate", [one], asked, [measure], by="trusted_only", paper_rows=False)
                for asked in (questions(100), questions(99))
            )
        printed[name] = cells(result, "debateqa-by-trusted-only")["published"].tolist()
        assert cells(fewer, "debateqa-by-trusted-only")["published"].isna().all(), "printed for 100 questions"
    assert printed == {"paper": [3.63], "wider": [None], "any": [3.77], "corpus": [None]}


def test_which_printed_figure_is_of_what() -> None:
    def column(name: str) -> str | None:
        return printed_column(parse_answer_measures(name)[0])

    assert column("PD(openai-community/gpt2,variant=released)") == "pd_gpt2"
    assert column("PD(gpt2)") is None
    assert column("PD(gpt2,variant=released)") == "pd_gpt2"
    assert column("DA(microsoft/Phi-3-medium-4k-instruct)") == "da_phi3_medium"
    assert column("DA(api(Qwen/Qwen2-1.5B-Instruct))") == column("DA(api(qwen2-1.5b))") == "da_qwen2_15b"
    assert column("DA(Qwen/Qwen2-1.5B-Instruct,prompt=zero-shot)") is None
    assert same_model("api(gpt-4o-mini)", "gpt-4o mini")
    assert not same_model("api(gpt-4o)", "gpt-4o mini")
    pd_measure, da_measure, other = parse_answer_measures(
        "PD(Qwen/Qwen2-0.5B,variant=released) DA(microsoft/Phi-3-medium-4k-instruct) DA(llm)"
    )
    # Tables 4, 5 and 3; of table 3 only what is legible.
    assert group_figures("strategy", pd_measure)["gpt-4o mini", "react"] == 3.70
    assert group_figures("strategy", pd_measure)["gpt-4o mini", "plain"] == 4.02
    assert group_figures("trusted_only", pd_measure)["gpt-4o mini", "True"] == 3.63
    assert group_figures("style", da_measure)["gpt-4o mini", "comprehensive"] == 0.955
    assert group_figures("style", pd_measure) == {}
    assert group_figures("style", other) == group_figures("strategy", da_measure) == {}, "another evaluator or measure"


@pytest.mark.usefixtures("judge")
def test_agreement_with_people(workspace: Workspace) -> None:
    order = ["whole", "half", "none"]
    preferences = [
        Preference(q.id, a, b, "a", "p") for q in QUESTIONS for n, a in enumerate(order) for b in order[n + 1 :]
    ]
    labels = [DisputeLabel(q.id, s, s != "none", who) for q in QUESTIONS for s in order for who in ("p", "q")]
    result = debateqa_meta(
        workspace, "debate", SETS, QUESTIONS, parse_answer_measures("ROUGE-L BLEU DA(llm)"),
        preferences=[*preferences, Preference("0", "whole", "other", "a", "p")], labels=labels,
    )  # fmt: skip
    alignment = cells(result, "debateqa-alignment").set_index(["metric", "figure"])
    assert alignment.loc[("ROUGE-L", "rho"), "value"] == pytest.approx(1.0)
    assert alignment.loc[("ROUGE-L", "rho"), "n"] == len(QUESTIONS)
    assert alignment.loc[("ROUGE-L", "tau, systems"), "value"] == pytest.approx(1.0)
    assert alignment.loc[("ROUGE-L", "pairs"), "value"] == 1.0
    raters = cells(result, "debateqa-raters").set_index(["rater", "other"])["value"]
    assert raters["p", "ROUGE-L"] == raters["ROUGE-L", "p"] == pytest.approx(1.0)
    decided = cells(result, "debateqa-decisions").set_index(["rater", "other"])
    assert decided.loc[("p", "q"), ["value", "n"]].tolist() == [1.0, 18]
    assert decided.loc[("DA(llm)", "q"), "value"] == pytest.approx(2 / 3)
    assert alignment["published"].isna().all(), "printed for 5 systems on 100 questions"
    # D.A. is 1 for 'whole' alone: 12 of 18 right; F1 = 2*6/(2*6+6) = 2/3; AUROC = 0.75; MCC = (6*6-0)/sqrt(6*12*6*12) = 1/2.
    dispute = cells(result, "debateqa-dispute").set_index("figure")
    baseline = dispute[dispute["metric"] == "Acknowledge"]
    assert baseline["published"].isna().all(), "printed for 500 answers"
    assert baseline["value"]["accuracy"] == pytest.approx(1 / 3), (
        "no answer has the word, people call 12 of 18 disputed"
    )
    dispute = dispute[dispute["metric"] == "DA(llm)"]["value"]
    assert dispute.to_dict() == pytest.approx({"accuracy": 2 / 3, "f1": 2 / 3, "auroc": 0.75, "mcc": 0.5})
    assert sorted(result.charts) == ["debateqa-alignment", "debateqa-decisions", "debateqa-dispute", "debateqa-raters"]
    assert "Fleiss' kappa among people: 1.000 on the 18 answers that all people labelled." in result.notes
    assert "1 of 19 preferences are left out: they concern other systems." in result.notes
    with pytest.raises(BadInputError, match="no preferences or labels"):
        debateqa_meta(workspace, "debate", SETS, QUESTIONS, parse_answer_measures("BLEU"))
    with pytest.raises(BadInputError, match=r"need a D.A. measure"):
        debateqa_meta(workspace, "debate", SETS, QUESTIONS, parse_answer_measures("BLEU"), labels=labels)


def test_tables_14_and_15_stand_beside_as_many_judgments_as_the_papers(workspace: Workspace) -> None:
    """5 systems on 100 questions: table 14 has .565 as the tau of BLEU, and table 15 .220 as the accuracy of Acknowledge."""
    asked, names = questions(100), [f"s{n}" for n in range(5)]
    sets = [AnswerSet(name, "debate", name, {}, [Answer(q.id, f"a b {name}") for q in asked]) for name in names]
    labels = [DisputeLabel(q.id, name, name != "s0", "p") for q in asked for name in names]
    preferences = [Preference(q.id, a, b, "a", "p") for q in asked for a, b in combinations(names, 2)]

    def printed(preferences: list[Preference], labels: list[DisputeLabel]) -> list[set[float]]:
        result = debateqa_meta(
            workspace, "debate", sets, asked, parse_answer_measures("BLEU Acknowledge"),
            preferences=preferences, labels=labels,
        )  # fmt: skip
        return [
            set(cells(result, f"debateqa-{table}")["published"].dropna().tolist()) for table in ("alignment", "dispute")
        ]

    assert printed(preferences, labels) == [{0.667, 0.565}, {0.220, 0.049, 0.430, -0.252}]
    assert printed(preferences[10:], labels[1:]) == [set(), set()]


@pytest.mark.usefixtures("judge")
def test_stability(workspace: Workspace) -> None:
    result = debateqa_stability(workspace, "debate", SETS, QUESTIONS, parse_answer_measures("ROUGE-L BLEU"))
    taus = cells(result, "debateqa-stability")
    # Both put 'none' last. ROUGE-L puts 'whole' first, which shares words with both partial answers. BLEU, a precision, puts
    # 'half' first, which is one of them without another word. So two of the three pairs of systems agree: tau is (2 - 1) / 3.
    assert taus["value"].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert "debateqa-decisions" not in [table.name for table in result.tables]
    two = debateqa_stability(workspace, "debate", SETS, QUESTIONS, parse_answer_measures("DA(llm) Acknowledge"))
    decided = cells(two, "debateqa-decisions")
    # D.A. is 1 on the 6 answers of 'whole', Acknowledge never.
    assert decided["value"].tolist() == pytest.approx([2 / 3, 2 / 3])
    assert decided["n"].tolist() == [18, 18]
    with pytest.raises(BadInputError, match="at least 3 sets"):
        debateqa_stability(workspace, "debate", SETS[:2], QUESTIONS, parse_answer_measures("ROUGE-L BLEU"))


@pytest.mark.usefixtures("judge")
def test_the_command_takes_files_and_stored_sets(workspace: Workspace, tmp_path: Path, model: str) -> None:
    save_dataset(workspace, "debate", QUESTIONS)
    save_answers(workspace, SETS[0])
    path = tmp_path / "mine.jsonl"
    path.write_text('{"generation": "a b", "id": 0}\n{"generation": "", "id": 1}\n')
    asked = ["study", "debateqa", "--dataset", "debate", "--workspace", str(workspace.folder), "--no-paper"]
    shown = output(
        *asked, "--answers", "whole", "--answers", path, "--measures", f'PD("{model}") BLEU', "--format", "json"
    )
    systems = json.loads(shown)["debateqa-systems"]
    assert [c["n"] for c in systems if c["figure"] == "BLEU"] == [6, 2]
    (kept,) = list_results(workspace)
    assert not {"limit", "sample"} & set(load_result(workspace, kept).settings)
    assert "mine: 4 of 6 questions have no answer." in load_result(workspace, kept).notes
    prompt = tmp_path / "count.txt"
    prompt.write_text("Count the views. [Question] [Answer]")
    judged = [*asked, "--answers", "whole", "--measures", "Num-of-POVs(llm) DA(llm)", "--format", "json"]
    counted = json.loads(output(*judged, "--prompt", f"Num-of-POVs={prompt}"))["debateqa-systems"]
    assert [c["value"] for c in counted if c["figure"].startswith("Num-of-POVs")] == [1.0]
    named = {c["figure"] for c in counted}
    assert {f"Num-of-POVs(llm,prompt={prompt})", "DA(llm)"} <= named
    alone = json.loads(output(*judged, "--prompt", str(prompt)))["debateqa-systems"]
    assert {"Num-of-POVs(llm)", f"DA(llm,prompt={prompt})"} <= {c["figure"] for c in alone}
    with pytest.raises(UnknownNameError, match="Did you mean G-Eval"):
        output(*judged, "--prompt", f"GEval={prompt}")
    with pytest.raises(UnknownNameError, match="Did you mean whole"):
        output(*asked, "--answers", "hole", "--measures", "BLEU")


def test_a_seeded_sample_is_recorded_with_the_result(workspace: Workspace) -> None:
    save_dataset(workspace, "debate", QUESTIONS)
    for answers in SETS:
        save_answers(workspace, answers)
    options = {"dataset": "debate", "measures": "BLEU"}
    drawn = run_study(workspace, "debateqa", **options, paper=False, sample=4, sample_seed=7)
    assert (drawn.settings["sample"], drawn.settings["sample_seed"]) == (4, 7)
    assert set(cells(drawn, "debateqa-systems").query("figure == 'BLEU'")["n"]) == {4}
    stable = run_study(workspace, "debateqa-stability", dataset="debate", measures="BLEU ROUGE-L", limit=2)
    assert stable.settings["limit"] == 2
    names = {save_result(workspace, run_study(workspace, "debateqa", **options, paper=False, sample=4, sample_seed=seed)).name
             for seed in (7, 8)}  # fmt: skip
    assert len(names) == 2
    with pytest.raises(BadInputError, match="no effect with --sample"):
        run_study(workspace, "debateqa", **options, limit=2, sample=2)


def test_answers_are_swept_over_one_setting_at_a_time(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    save_dataset(workspace, "debate", QUESTIONS)

    def written(prompt: str) -> str:
        wanted = re.search(r"about (\d+) words", prompt)
        return " ".join(["a b c", "zoo d", "e f", "g h yes"][: int(wanted[1]) if wanted else 1])

    model = ScriptedModel(written)
    monkeypatch.setattr("berdseye.evaluation.answering.running.open_language_model", lambda *_: model)
    options = {"dataset": "debate", "model": "llm", "measures": "BLEU ROUGE-L", "limit": 2}
    result = run_study(workspace, "debateqa-sweep", **options, length=[1, 4], top_p=[0.5, 1.0])
    swept = cells(result, "debateqa-sweep").pivot(index=["setting", "of"], columns="measure", values="value")
    # "a b c" has 3 words; four parts have 10. The longer answer holds every partial answer, so ROUGE-L rises.
    assert swept["words"].to_dict() == {
        ("length", "1"): 3, ("length", "4"): 10, ("top-p", "0.5"): 3, ("top-p", "1"): 3,
    }  # fmt: skip
    assert swept.loc[("length", "4"), "ROUGE-L"] > swept.loc[("length", "1"), "ROUGE-L"]
    assert set(result.charts) == {"BLEU", "ROUGE-L", "words"}
    assert len(result.charts["words"].to_dict()["hconcat"]) == 2
    asked = len(model.asked)
    assert asked == 8, "top-p 0.5 and 1 are different completions, and so are the lengths"
    run_study(workspace, "debateqa-sweep", **options, length=[1, 4], top_p=[0.5, 1.0])
    assert len(model.asked) == asked
    for wrong, why in (
        ({}, "Nothing varies"), ({"length": [5]}, "values of length"), ({"temperature": [1.0, 1.0]}, "temperature"),
        ({"top_p": [0.5, 1.0], "base_temperature": 0.0}, "no effect"), ({"top_p": [0.0, 1.0]}, "share 0"),
    ):  # fmt: skip
        with pytest.raises(BadInputError, match=why):
            run_study(workspace, "debateqa-sweep", **options, **wrong)
