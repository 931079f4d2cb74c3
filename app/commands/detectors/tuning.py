"""`berdseye detector tune`: choose a detector's threshold on labelled pairs, or move it to the base rate of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import counting, note, note_truncated, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.given_options import not_with, only_with
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.detectors.protocol import Detector


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(tune)


def tune(
    file: Annotated[Path | None, typer.Argument(help="Labelled pairs, as for `detector score`.")] = None,
    detector: Annotated[str | None, typer.Option(help="The detector. Default: the adopted one.")] = None,
    at_base_rate: Annotated[bool, typer.Option(help="Weight the rows so that 16.8% of them are positive.")] = False,
    run: Annotated[
        str | None, typer.Option(help="Move the threshold to the base rate of this run's pairs, instead of a FILE.")
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="With --run: the top k passages.")] = 5,
    share: Annotated[
        float | None,
        typer.Option(min=0, max=100, help="With --run: call this share of its pairs supporting, in percent."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --run: confirm that a threshold with an implausible effect is stored.")
    ] = False,
    forget: Annotated[bool, typer.Option(help="Remove the tuned threshold; takes no FILE.")] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Print all thresholds tuned so far, the oldest first; takes no FILE.")
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Choose the threshold with the best F1 on labelled pairs, and use it from now on in this workspace.

    From a file with a column split, only the rows of split dev are used, never those of split test. With --run, no labels are
    needed: the share of supporting pairs in its top k is estimated from the probabilities, and from people's judgments of these
    pairs if there are some, and the threshold moves with it. The demo's simulated annotators do not count. A threshold that calls
    more than half of the pairs supporting, or more than twice or less than half as many as the one in use, is not stored unless
    people judged 30 of the pairs or you pass --yes. With --share as well, this share of the pairs reaches the threshold, which
    is the better choice without judgments.

    The workspace keeps what each threshold was made from. --history prints it beside the text `VERSION at THRESHOLD` that numbers
    measured with a tuned threshold keep.

    Example: `berdseye detector tune judged.tsv --detector embedded --at-base-rate`
    """
    from dataclasses import asdict

    from berdseye.data.errors import BadInputError
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.thresholds import forget_threshold, write_threshold
    from berdseye.detectors.trained import adopted_detector
    from berdseye.evaluation.detection.thresholds import choose_threshold

    not_with("--forget", forget, "file", "at_base_rate", "run", "k", "share", "yes")
    not_with("--history", history, "file", "at_base_rate", "run", "k", "share", "forget", "yes")
    not_with("--run", run is not None, "file", "at_base_rate", why="whose pairs have no labels")
    only_with("--run", run is not None, "k", "share", "yes")
    not_with("--share", share is not None, "yes", why="which is always stored")
    ws = open_workspace(workspace)
    chosen = parse_detector(detector or adopted_detector(ws), ws)
    if history:
        _history(ws, chosen.name, json=json)
        return
    if forget:
        had_threshold = forget_threshold(ws, chosen.name)
        default = parse_detector(chosen.name, ws).threshold
        if json:
            print_json({"detector": chosen.name, "forgotten": bool(had_threshold), "value": default})
        note(
            f"{chosen.name} {'uses its default threshold' if had_threshold else 'has no tuned threshold and keeps'} {default:g}."
        )
        return
    if run is not None:
        _move_to_run(ws, chosen, run, k, None if share is None else share / 100, yes=yes, json=json)
        return
    if file is None:
        raise BadInputError("FILE is missing.", hint="Give a file of labelled pairs, --run, or --forget.")
    with counting(chosen.name) as progress:
        tuned = choose_threshold(chosen, file, at_base_rate=at_base_rate, made_by=acting_name(ws), progress=progress)
    write_threshold(ws, tuned)
    note_truncated(tuned.detector, tuned.truncated)
    if json:
        print_json(asdict(tuned))
        return
    print(f"{tuned.detector}\t{tuned.value:g}\t{tuned.change}")


def _move_to_run(
    ws: Workspace, detector: "Detector", name: str, k: int, share: float | None, *, yes: bool, json: bool
) -> None:
    from dataclasses import asdict

    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.errors import BadInputError
    from berdseye.data.runs.stored import load_run
    from berdseye.data.texts.counts import counted
    from berdseye.detectors.baselines import BASE_RATE
    from berdseye.detectors.thresholds import write_threshold
    from berdseye.evaluation.detection.thresholds import ENOUGH_JUDGED, doubt_of, is_well_judged, moved_to_run

    judgments = Judgments.open(ws.judgments_url)
    with counting(detector.name) as progress:
        tuned = moved_to_run(
            ws, judgments, detector, load_run(ws, name), k, share=share, made_by=acting_name(ws), progress=progress
        )
    doubt, stored = doubt_of(tuned), yes or is_well_judged(tuned) or not doubt_of(tuned)
    if stored:
        write_threshold(ws, tuned)
    if json:
        print_json(asdict(tuned) | {"doubt": doubt, "stored": stored})
    if tuned.simulated:
        nobody = "" if tuned.judged else " No person has judged any of these pairs."
        note(f"Left out: {counted(tuned.simulated, 'judgment')} by simulated annotators of the demo.{nobody}")
    if not stored:
        raise BadInputError(
            f"{doubt} It is not stored.",
            hint=f"Give the share that you expect, such as --share 18, judge at least {ENOUGH_JUDGED} of the pairs, or pass "
            "--yes.",
        )
    if doubt:
        note(f"{doubt} It is stored; --share sets another one.")
    if json:
        return
    judged = tuned.judged or 0
    pairs = f"{tuned.n:,} pairs, {judged:,} judged"
    rates = f"base rate {BASE_RATE:.1%} -> {tuned.base_rate:.1%} ({pairs})" if share is None else pairs
    print(
        f"{detector.name}: {rates}\n"
        f"threshold {tuned.before:.4f} -> {tuned.value:.4f}, "
        f"called supporting {tuned.called_before:.1%} -> {tuned.called_after:.1%}"
    )
    if share is None and judged < ENOUGH_JUDGED:
        note(
            f"Fewer than {ENOUGH_JUDGED} of these pairs are judged, so the base rate is uncertain. Compare the labels with "
            f"judgments before you use them. `berdseye detector tune --detector '{detector.name}' --forget` undoes the change."
        )


def _history(ws: Workspace, detector: str, *, json: bool) -> None:
    from dataclasses import asdict

    from berdseye.detectors.thresholds import threshold_history

    entries = threshold_history(ws, detector)
    if json:
        print_json([{"stamp": entry.stamp} | asdict(entry) for entry in entries])
        return
    for entry in entries:
        print(f"{entry.stamp}\t{entry.change}")
    if not entries:
        note(f"No threshold of {detector} was tuned in this workspace.")
