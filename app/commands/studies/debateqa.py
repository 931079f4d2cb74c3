"""`berdseye study debateqa`, `debateqa-meta`, `debateqa-stability` and `debateqa-sweep`: measures of answers, their validity, and
answers under several settings."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
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
    group.command("debateqa-sweep")(sweep)


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


@study_command("debateqa-sweep")
def sweep(
    dataset: DatasetOption = DATASET,
    model: ModelOption = DEFAULT_MODEL,
    temperature: Annotated[list[float] | None, typer.Option(help="A temperature, from 0 to 2; repeatable.")] = None,
    top_p: Annotated[
        list[float] | None,
        typer.Option(help="A share of the probability from which tokens are drawn, up to 1; repeatable."),
    ] = None,
    length: Annotated[
        list[int] | None, typer.Option(help="A length in words that the prompt asks for; repeatable.")
    ] = None,
    base_temperature: Annotated[
        float, typer.Option(min=0, max=2, help="The temperature while top-p or the length varies.")
    ] = 1.0,
    style: Annotated[
        Literal["basic", "comprehensive", "detailed"], typer.Option(help="The built-in prompt.")
    ] = "basic",
    max_tokens: Annotated[int, typer.Option(min=1, help="Maximum length of an answer in tokens.")] = 512,
    measures: MeasuresOption = "PD(gpt2)",
    limit: LimitOption = None,
    sample: SampleOption = None,
    sample_seed: SampleSeedOption = 0,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed for temperatures above 0.")] = 0,
) -> None:
    """Let a model answer under several temperatures, top-p values and lengths, and measure the answers: DebateQA's figures 12 to
    14.

    One setting varies at a time. The table also has the mean number of words written. Completions are stored: re-running
    resumes.

    Example: `berdseye study debateqa-sweep --model llm --temperature 0 --temperature 1 --length 50 --length 200`
    """
