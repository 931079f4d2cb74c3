"""`berdseye study debateqa`, `debateqa-meta` and `debateqa-stability`: measures of answers, and the measures' validity."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.options import LARGEST_SEED, LimitOption, SampleOption, SampleSeedOption
from berdseye.app.commands.studies.options import study_command
from berdseye.evaluation.studies.by_name.debateqa import DATASET

DatasetOption = Annotated[str, typer.Option(help="The data set of questions, with partial answers as perspectives.")]
AnswersOption = Annotated[
    list[str] | None,
    typer.Option(help="A stored set of answers, or a JSONL file of id and answer (or generation); repeatable. "
                      "Default: all sets stored for the data set."),
]  # fmt: skip
MeasuresOption = Annotated[
    str, typer.Option(help="The measures: PD(MODEL), DA(MODEL), Acknowledge, Direct-Score(MODEL), G-Eval(MODEL), "
                           "Num-of-POVs(MODEL), BLEU, ROUGE-L, BARTScore, SemScore; PD(MODEL,variant=released).")
]  # fmt: skip
PromptOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[MEASURE=]FILE",
        help="Another prompt of DA, Direct-Score, G-Eval or Num-of-POVs: a text file with [Question] and [Answer], or a script "
        "such as the released eval_DA.py; of DA if no measure is named; repeatable.",
    ),
]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("debateqa")(debateqa)
    group.command("debateqa-meta")(meta)
    group.command("debateqa-stability")(stability)


@study_command("debateqa")
def debateqa(
    dataset: DatasetOption = DATASET,
    answers: AnswersOption = None,
    measures: MeasuresOption = "PD(gpt2) DA(llm)",
    stratify_by: Annotated[
        str,
        typer.Option(
            help="The setting of the answer sets that splits the table: style (table 3), strategy (4) or trusted_only (5).",
        ),
    ] = "",
    prompt: PromptOption = None,
    limit: LimitOption = None,
    sample: SampleOption = None,
    sample_seed: SampleSeedOption = 0,
    paper: Annotated[bool, typer.Option(help="Include the rows of the paper's own models.")] = True,
) -> None:
    """Compute DebateQA's table 2 (3, 4 or 5 with --stratify-by), paired tests between systems, and figures 2 and 3.

    P.D. measures how well a local model predicts the partial answers from an answer (lower is better); D.A. measures whether the
    answer acknowledges the dispute. Every value is stored as soon as it is computed: re-running resumes.

    Example: `berdseye study debateqa --answers mine.jsonl --measures "PD(gpt2,variant=released) DA(llm)"`
    """


@study_command("debateqa-meta")
def meta(
    dataset: DatasetOption = DATASET,
    preferences: Annotated[
        Path | None,
        typer.Option(help='Preferences, JSONL: {"id", "a", "b", "winner": "a", "b" or "tie", "annotator"}.'),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help='Labels, JSONL: {"id", "system", "label": 0 or 1, "annotator"}.')
    ] = None,
    answers: AnswersOption = None,
    measures: MeasuresOption = "PD(gpt2) BLEU ROUGE-L SemScore",
    prompt: PromptOption = None,
    limit: LimitOption = None,
    sample: SampleOption = None,
    sample_seed: SampleSeedOption = 0,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the orders over which Elo is averaged.")
    ] = 0,
) -> None:
    """Compute DebateQA's tables 14 and 15: the agreement of measures with people's preferences, and of D.A. with people's labels.

    Further tables have the agreement of every two annotators and measures (figures 8 and 11; decisions on dispute). Table 15
    includes the baseline Acknowledge. Systems in both files have the names of the sets of answers.

    Example: `berdseye study debateqa-meta --preferences people.jsonl --measures "PD(gpt2) G-Eval(llm) BLEU"`
    """


@study_command("debateqa-stability")
def stability(
    dataset: DatasetOption = DATASET,
    answers: AnswersOption = None,
    measures: MeasuresOption = "PD(gpt2)",
    wraps: Annotated[
        bool,
        typer.Option(
            "--wraps",
            help="Compute every P.D. with each of the six wraps: restate, bare, again, views, summary, quote.",
        ),
    ] = False,
    limit: LimitOption = None,
    sample: SampleOption = None,
    sample_seed: SampleSeedOption = 0,
) -> None:
    """Test whether the order of systems is stable across evaluators and prompts, with Kendall's tau for each two of them.

    For D.A. measures, a further table has the share of answers that each two of them decide equally.

    Example: `berdseye study debateqa-stability --measures "PD(gpt2) PD(Qwen/Qwen2-0.5B)" --wraps`
    """
