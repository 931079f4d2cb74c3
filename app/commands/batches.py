"""The commands of `berdseye batch`: create, list, show, close and export batches."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.batch_results import NameArgument, export, judgments_of, preferences, qualification
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.data.given_options import given_options, not_with, only_with
from berdseye.data.texts.counts import counted

if TYPE_CHECKING:
    from berdseye.annotation.batches.stored import Batch
    from berdseye.annotation.judgments.log import Judgments

batch = typer.Typer(
    no_args_is_help=True, help="Create, follow and export batches: pairs that are sent out for judging."
)
RESERVATION_MINUTES = 30
_LONGEST_RESERVATION = 366 * 24 * 60


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    batch.command("create")(create)
    batch.command("list")(list_all)
    batch.command("show")(show)
    batch.command("close")(close)
    batch.command("export")(export)
    batch.command("preferences")(preferences)
    batch.command("qualification")(qualification)
    cli.add_typer(batch, name="batch")


def create(
    name: NameArgument,
    run: Annotated[list[str] | None, typer.Option(help="A stored run; repeat the option to pool several runs.")] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many passages of each ranking to take.")] = 5,
    file: Annotated[
        Path | None,
        typer.Option(
            help="A TSV, CSV, JSONL or Parquet file of pairs (passage, perspective); for the task check a JSONL file of items."
        ),
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(help="For the task prefer: a JSON Lines file of question, first and second answer.")
    ] = None,
    answer_set: Annotated[
        list[str] | None,
        typer.Option(
            help="For the task prefer: a stored set of answers (or a JSONL file of id and answer); repeat the option. Every two "
            "answers to a question are a blind pair."
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(help="With --answer-set: the data set of the questions. Default: that of the stored sets."),
    ] = None,
    decide: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help="Two runs. The batch decides which one is better, and serves the most informative pairs first."
        ),
    ] = None,
    measure: Annotated[
        str, typer.Option(help="With --decide: the measure to decide by, MRecall@k, Precision@k or Coverage@k.")
    ] = "MRecall@5",
    preset: Annotated[
        Literal["berds", "dmerit", "debateqa", "random-questions"] | None,
        typer.Option(
            help="berds: the test set of BERDS, from the runs of two retrievers for each data set. dmerit: agree or "
            "disagree with a decision that is shown. debateqa: prefer one of two answers. random-questions: whole "
            "questions drawn at random, which corrected(DETECTOR) needs."
        ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The number of drawn questions. Default: 10 of each data set for the presets berds and random-questions; with "
            "--answer-set 100, as in DebateQA, or all if there are fewer.",
        ),
    ] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Draw this many of the pairs with the seed.")] = None,
    by: Annotated[
        str, typer.Option(help="Strata of the sample, separated by commas: probability, dataset, stance.")
    ] = "",
    without_batch: Annotated[
        list[str] | None,
        typer.Option(help="A batch whose questions are left out, so that two batches share no question; repeatable."),
    ] = None,
    task: Annotated[
        Literal["judge", "verify", "prefer", "check"],
        typer.Option(
            help="What annotators do: judge a pair, verify a decision of a detector of grade stance, prefer one of two answers, "
            "or check constructed data."
        ),
    ] = "judge",
    check: Annotated[
        str | None,
        typer.Option(
            help="For the task check: what people decide about an item, one of inspect, debatable, duplicate, grounded, "
            "addresses, covered, relevant and dispute."
        ),
    ] = None,
    exam: Annotated[
        bool,
        typer.Option(
            "--exam",
            help="For the task check: each person judges every item, whose `expected` verdict is known to you alone.",
        ),
    ] = False,
    training: Annotated[
        bool,
        typer.Option(
            "--training", help="As --exam, but each person sees the `expected` verdict after their own, as feedback."
        ),
    ] = False,
    per_pair: Annotated[int, typer.Option(min=1, help="How many people judge each pair.")] = 1,
    person: Annotated[
        list[str] | None,
        typer.Option(help="A person who may judge; repeat the option for several. By default everyone may."),
    ] = None,
    calibration: Annotated[
        int, typer.Option(min=0, help="How many pairs, drawn with the seed, every person judges first.")
    ] = 0,
    order: Annotated[
        Literal["batch", "uncertainty", "disagreement", "decision", "random"],
        typer.Option(
            help="The order of the pairs. uncertainty, decision and random draw each with a probability that is stored with "
            "its judgments, as corrected(DETECTOR) needs. --decide sets it to decision."
        ),
    ] = "batch",
    draw_by: Annotated[
        Literal["pair", "passage", "question"] | None,
        typer.Option(
            help="What these orders draw as a whole. Default: passage, which Precision needs; question with --decide by "
            "another measure than Precision."
        ),
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(help="The detector that gives probabilities and decisions. By default the adopted one."),
    ] = None,
    shown: Annotated[
        bool, typer.Option(help="Show the detector's label before the judgment. By default the batch is blind.")
    ] = False,
    experiment: Annotated[
        float | None,
        typer.Option(help="Show the detector's label for a random share, from 0 to 1, of pairs and people."),
    ] = None,
    guidelines: Annotated[
        Path | None, typer.Option(help="A Markdown file with guidelines for this batch alone.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of every random choice.")] = 0,
    reservation_minutes: Annotated[
        int,
        typer.Option(
            min=1, max=_LONGEST_RESERVATION, help="Minutes for which a pair stays reserved for an annotator who left."
        ),
    ] = RESERVATION_MINUTES,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Choose pairs and send them out for judging on the Annotate page.

    Example: `berdseye batch create first --run "debate--web--bm25" --k 5 --per-pair 2 --person Ana --person Bo`
    """
    from berdseye.app.commands.guidelines import read_guidelines
    from berdseye.evaluation.selection.answer_pairs import QUESTIONS
    from berdseye.evaluation.selection.request import QUESTION_PRESETS, BatchRequest, create_requested_batch

    only_with("--decide", decide, "measure")
    only_with("--run", run, "k")
    only_with("--task check", task == "check", "check", "exam", "training")
    not_with("--exam", exam, "training", why="which gives feedback")
    not_with(
        "--exam or --training", exam or training, "per_pair", "calibration", why="in which everyone judges every item"
    )
    drawn = preset in QUESTION_PRESETS or bool(answer_set)
    only_with("--preset berds or random-questions, or --answer-set", drawn, "questions")
    only_with("--answer-set", answer_set, "dataset")
    only_with("--sample", sample, "by")
    not_with("--experiment", experiment is not None, "shown", why="which shows labels to some people")
    if decide and order != "decision" and given_options("order"):
        raise BadInputError(
            f"--order {order} has no effect with --decide, which sets the order.",
            hint="Omit --order, or use --order decision.",
        )
    request = BatchRequest(
        name,
        runs=tuple(run or ()),
        k=k,
        file=file,
        answers=answers,
        decide=decide,
        measure=measure,
        preset=preset,
        questions=questions or (QUESTIONS if answer_set else 10),
        sample=sample,
        strata=tuple(stratum.strip() for stratum in by.split(",") if stratum.strip()),
        without=tuple(without_batch or ()),
        task=task,
        per_pair=per_pair,
        people=tuple(person or ()),
        calibration=calibration,
        order=order,
        detector=detector,
        shown=shown,
        experiment=experiment,
        guidelines=None if guidelines is None else read_guidelines(guidelines),
        seed=seed,
        reservation_seconds=reservation_minutes * 60,
        answer_sets=tuple(answer_set or ()),
        dataset=dataset,
        check=check,
        purpose="exam" if exam else "training" if training else None,
        drawn_by=draw_by,
    )
    not_with("--task check", task == "check", "detector", "shown", why="which uses no detector")
    not_with("--task prefer", request.resolved_task == "prefer", "detector", "shown", why="which uses no detector")
    folder = open_workspace(workspace)
    made_by = acting_name(folder)
    created, pairs = create_requested_batch(folder, judgments_of(folder), request, made_by=made_by, counting=counting)
    people = len(created.people) if request.purpose else per_pair
    note(f"{created.name}: {counted(pairs, 'pair')}, {counted(people, 'person', 'people')} a pair")
    if repeated := created.recipe.get("repeated"):
        note(f"{repeated} pairs have the texts of another question's pair, and are judged for that question only.")
    if json:
        print_json(_as_json(created))


def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the batches, the newest first.

    Example: `berdseye batch list`
    """
    import time

    from berdseye.annotation.batches.progress import batch_progress
    from berdseye.annotation.batches.stored import list_batches

    judgments = judgments_of(open_workspace(workspace))
    rows = [(found, batch_progress(judgments, found, time=time.time())) for found in list_batches(judgments)]
    if json:
        print_json(
            [_as_json(found) | {"pairs": p.pairs, "wanted": p.wanted, "judgments": p.judgments} for found, p in rows]
        )
        return
    for found, p in rows:
        state = "open" if found.is_open else "closed"
        print(
            f"{found.name}\t{state}\t{found.task}\t{p.pairs} pairs\t{p.judgments} of {p.wanted} judgments\t{found.at[:10]}"
        )


def show(name: NameArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show what a batch asks for, its progress, the share of each person, and the flagged perspectives.

    Of one that decides between two runs: which is ahead, how likely that is wrong, and about how many more judgments settle it.
    Of one of checks: how many items people accept and reject, with the figure of the paper.

    Example: `berdseye batch show first`
    """
    import time

    from berdseye.annotation.batches.check_outcomes import check_outcomes, outcome_text
    from berdseye.annotation.batches.progress import batch_progress, batch_shares, flags
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.evaluation.selection.decision import decision_standing

    held = open_workspace(workspace)
    judgments = judgments_of(held)
    found = load_batch(judgments, name)
    p = batch_progress(judgments, found, time=time.time())
    shares = batch_shares(judgments, found)
    flagged = flags(judgments, found)
    standing = decision_standing(held, judgments, found)
    if json:
        numbers = p._asdict() | {"people": [share._asdict() for share in shares]}
        decision = None if standing is None else standing._asdict() | {"needed": standing.needed._asdict()}
        rest = {"progress": numbers, "flags": flagged.to_dict(orient="records"), "decision": decision}
        print_json(_as_json(found) | rest | _outcomes(judgments, found))
        return
    sight = "blind" if found.blind else "shown"
    if found.shown_share is not None:
        sight = f"an experiment, the detector's label shown for {found.shown_share:.0%}"
    print(f"{found.name}\t{'open' if found.is_open else 'closed'}\t{found.task}, {sight}")
    if standing is not None:
        print(standing)
    if found.check is not None:
        print(outcome_text(found.check, check_outcomes(judgments, found)))
    print(
        f"{p.finished} of {p.pairs} pairs finished, {p.judgments} of {p.wanted} judgments, {p.reserved} reserved, {p.extra} extra"
    )
    print(f"{p.disputed} pairs disputed, {p.decided} adjudicated")
    for share in shares:
        took = "" if share.seconds is None else f"\tmedian {share.seconds:.1f} s"
        print(f"{share.name}\t{share.judgments} judgments\t{share.skipped} skipped\t{share.flagged} flagged{took}")
    for row in flagged.to_dict(orient="records"):
        print(f"flagged by {row['annotator']}: {row['perspective']} ({row['comment'] or 'no comment'})")


def close(
    name: NameArgument,
    reopen: Annotated[bool, typer.Option("--reopen", help="Open the batch again.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Close a batch: no more pairs are served, and its judgments are kept.

    Example: `berdseye batch close first`
    """
    from berdseye.annotation.batches.stored import close_batch, load_batch

    held = open_workspace(workspace)
    judgments = judgments_of(held)
    found = close_batch(judgments, load_batch(judgments, name), made_by=acting_name(held), reopen=reopen)
    note(f"{found.name} is {'open' if found.is_open else 'closed'}")


def _outcomes(judgments: "Judgments", batch: "Batch") -> dict[str, object]:
    """Return the outcomes of a batch of checks for JSON; nothing for another task."""
    from berdseye.annotation.batches.check_outcomes import check_outcomes

    if batch.check is None:
        return {}
    outcomes = {pair: outcome._asdict() for pair, outcome in check_outcomes(judgments, batch).items()}
    return {"outcomes": outcomes, "printed": batch.check.printed}


def _as_json(batch: "Batch") -> dict[str, object]:
    from berdseye.annotation.checks import KNOWN

    # Known answers are left out: people who take an exam may read this.
    return {
        **{field: getattr(batch, field) for field in ("name", "at", "made_by", "task", "per_pair", "calibration")},
        **{field: getattr(batch, field) for field in ("order", "drawn_by", "blind", "shown_share", "seed")},
        "reservation_minutes": batch.hold / 60 if batch.hold % 60 else batch.hold // 60,
        "recipe": {key: value for key, value in batch.recipe.items() if key != KNOWN},
        "guidelines": batch.guidelines,
        "people": [person.name for person in batch.people],
        "open": batch.is_open,
    }
