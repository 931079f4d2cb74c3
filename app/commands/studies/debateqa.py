"""`berdseye study debateqa`, `debateqa-meta` and `debateqa-stability`: measures of answers, and the measures' validity."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.arguments import only_with
from berdseye.app.commands.console import counting
from berdseye.app.commands.options import LARGEST_SEED, WorkspaceOption, open_workspace
from berdseye.app.commands.studies.options import Form, FormOption, finish

if TYPE_CHECKING:
    from berdseye.data.answers import AnswerSet
    from berdseye.data.records import Question
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.answer_measures.measures import AnswerMeasure

DatasetOption = Annotated[str, typer.Option(help="The data set of questions, with partial answers as perspectives.")]
AnswersOption = Annotated[
    list[str] | None,
    typer.Option(help="A stored set of answers, or a JSONL file of id and answer (or generation); repeatable. "
                      "Default: all sets stored for the data set."),
]  # fmt: skip
MeasuresOption = Annotated[
    str, typer.Option(help="The measures: PD(MODEL), DA(MODEL), Direct-Score(MODEL), G-Eval(MODEL), Num-of-POVs(MODEL), BLEU, "
                           "ROUGE-L, BARTScore, SemScore; PD(MODEL,variant=released).")
]  # fmt: skip
LimitOption = Annotated[int | None, typer.Option(help="Only the first N questions.", min=1)]
PromptsOption = Annotated[
    Path | None,
    typer.Option(help="The prompt of D.A.: a text file with [Question] and [Answer], or the released script."),
]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("debateqa")(debateqa)
    group.command("debateqa-meta")(meta)
    group.command("debateqa-stability")(stability)


def debateqa(
    dataset: DatasetOption = "debateqa-test",
    answers: AnswersOption = None,
    measures: MeasuresOption = "PD(gpt2) DA(llm)",
    stratify_by: Annotated[
        str,
        typer.Option(
            help="The setting of the answer sets that splits the table: style (table 3), strategy (4) or trusted_only (5).",
        ),
    ] = "",
    prompts: PromptsOption = None,
    limit: LimitOption = None,
    paper: Annotated[bool, typer.Option(help="Include the rows of the paper's own models.")] = True,
    workspace: WorkspaceOption = None,
    form: FormOption = Form.TEXT,
) -> None:
    """Compute DebateQA's table 2 (3, 4 or 5 with --stratify-by), paired tests between systems, and figures 2 and 3.

    P.D. measures how well a local model predicts the partial answers from an answer (lower is better); D.A. measures whether the
    answer acknowledges the dispute. Every value is stored as soon as it is computed: re-running resumes.

    Example: `berdseye study debateqa --answers mine.jsonl --measures "PD(gpt2,variant=released) DA(llm)"`
    """
    from berdseye.evaluation.studies.debateqa import study

    ws, chosen = open_workspace(workspace), _measures(measures, prompts)
    questions = _questions(ws, dataset, limit)
    with counting("debateqa") as progress:
        result = study.debateqa(
            ws,
            dataset,
            _sets(ws, dataset, answers),
            questions,
            chosen,
            by=stratify_by,
            paper_rows=paper,
            progress=progress,
        )
    finish(ws, result, form)


def meta(
    dataset: DatasetOption = "debateqa-test",
    preferences: Annotated[
        Path | None,
        typer.Option(help='Preferences, JSONL: {"id", "a", "b", "winner": "a", "b" or "tie", "annotator"}.'),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help='Labels, JSONL: {"id", "system", "label": 0 or 1, "annotator"}.')
    ] = None,
    answers: AnswersOption = None,
    measures: MeasuresOption = "PD(gpt2) BLEU ROUGE-L SemScore",
    prompts: PromptsOption = None,
    limit: LimitOption = None,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the orders over which Elo is averaged.")
    ] = 0,
    workspace: WorkspaceOption = None,
    form: FormOption = Form.TEXT,
) -> None:
    """Compute DebateQA's tables 14 and 15: the agreement of measures with people's preferences, and of D.A. with people's labels.

    Systems in both files have the names of the sets of answers.

    Example: `berdseye study debateqa-meta --preferences people.jsonl --measures "PD(gpt2) G-Eval(llm) BLEU"`
    """
    from berdseye.evaluation.answer_measures.people import read_dispute_labels, read_preferences
    from berdseye.evaluation.studies.debateqa.meta import debateqa_meta

    ws, chosen = open_workspace(workspace), _measures(measures, prompts)
    only_with("--preferences", preferences, "seed")
    preferred = read_preferences(preferences) if preferences else []
    labelled = read_dispute_labels(labels) if labels else []
    questions = _questions(ws, dataset, limit)
    with counting("debateqa-meta") as progress:
        result = debateqa_meta(
            ws, dataset, _sets(ws, dataset, answers), questions, chosen,
            preferences=preferred, labels=labelled, seed=seed, progress=progress,
        )  # fmt: skip
    finish(ws, result, form)


def stability(
    dataset: DatasetOption = "debateqa-test",
    answers: AnswersOption = None,
    measures: MeasuresOption = "PD(gpt2)",
    wraps: Annotated[
        bool,
        typer.Option(
            "--wraps", help="Compute every P.D. with each of the five wraps: restate, again, views, summary, quote."
        ),
    ] = False,
    limit: LimitOption = None,
    workspace: WorkspaceOption = None,
    form: FormOption = Form.TEXT,
) -> None:
    """Test whether the order of systems is stable across evaluators and prompts, with Kendall's tau for each two of them.

    Example: `berdseye study debateqa-stability --measures "PD(gpt2) PD(Qwen/Qwen2-0.5B)" --wraps`
    """
    from berdseye.evaluation.answer_measures.reading import WRAPS
    from berdseye.evaluation.studies.debateqa.meta import debateqa_stability

    ws, chosen = open_workspace(workspace), _measures(measures, None)
    only_with("PD(MODEL) among the measures", any(m.name == "PD" for m in chosen), "wraps")
    if wraps:
        chosen = [
            m.with_setting("wrap", wrap) if wrap else m for m in chosen for wrap in (WRAPS if m.name == "PD" else ("",))
        ]
    questions = _questions(ws, dataset, limit)
    with counting("debateqa-stability") as progress:
        result = debateqa_stability(ws, dataset, _sets(ws, dataset, answers), questions, chosen, progress=progress)
    finish(ws, result, form)


def _measures(text: str, prompts: Path | None) -> list["AnswerMeasure"]:
    from berdseye.evaluation.answer_measures.measures import parse_answer_measures

    measures = parse_answer_measures(text)
    only_with("DA(MODEL) among the measures", any(m.name == "DA" for m in measures), "prompts")
    if prompts is None:
        return measures
    return [m.with_setting("prompt", str(prompts)) if m.name == "DA" else m for m in measures]


def _questions(workspace: "Workspace", dataset: str, limit: int | None) -> list["Question"]:
    from berdseye.data.datasets.stored import load_dataset

    return load_dataset(workspace, dataset)[:limit]


def _sets(workspace: "Workspace", dataset: str, names: list[str] | None) -> list["AnswerSet"]:
    """The sets of answers in `names`, which are stored sets or files; all stored sets of the data set for None."""
    from berdseye.data.answers import AnswerSet, list_answers, load_answers, read_answer_file

    if not names:
        return [load_answers(workspace, m.name) for m in list_answers(workspace) if m.dataset == dataset]
    return [
        AnswerSet(Path(name).stem, dataset, Path(name).stem, {}, read_answer_file(Path(name)))
        if Path(name).suffix in (".jsonl", ".json")
        else load_answers(workspace, name)
        for name in names
    ]
