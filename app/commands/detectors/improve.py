"""`detector improve`: from judgments to a better detector, in one command."""

from typing import Annotated

import typer

from berdseye.app.acting import acting_name
from berdseye.app.arguments import not_with
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.app.commands.training_sets import AnnotatorOption, DemoOption, LeaksOption, RuleOption, UnsureOption
from berdseye.app.console import counting, note, print_json


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(improve)


def improve(
    adopt: Annotated[str, typer.Option(help="Use it from now on: if-better, always or never.")] = "if-better",
    kind: Annotated[str, typer.Option(help="head, crossencoder or lora.")] = "head",
    base: Annotated[
        str | None, typer.Option(help="The model to fine-tune, or the detector a head starts from.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What it is to be called; else as its training set.")] = None,
    set_: Annotated[
        str | None, typer.Option("--set", help="A training set there is, in place of the present judgments.")
    ] = None,
    rule: RuleOption = "adjudicated",
    unsure: UnsureOption = "ignored",
    annotator: AnnotatorOption = "",
    leaks: LeaksOption = "drop",
    demo: DemoOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Learn from the present judgments, and use what was learned where it proves better on questions held out.

    Makes the next version of the training set 'judged', trains on its train split, chooses the threshold on dev, and compares
    with the detector in use on test. `if-better` adopts where the 95% interval of the difference in F1 (a paired bootstrap
    over questions) lies above 0.

    Example: `berdseye detector improve --adopt if-better`
    """
    from berdseye.annotation.training_sets.store import find_set
    from berdseye.app.improving import improve as improved
    from berdseye.app.training_sets import made_set, one_of
    from berdseye.detectors.training.training import DETECTOR_OF, Plan
    from berdseye.evaluation.detection.improvement import ADOPTS

    not_with("--set", set_ is not None, "rule", "unsure", "annotator", "leaks", "demo", why="which was made by rules")
    held = opened(workspace)
    mode = one_of("rule for adopting", adopt, ADOPTS)
    chosen = one_of("kind of training", kind, tuple(k for k in DETECTOR_OF if k != "stacked"))
    person = acting_name(held)
    made = (
        find_set(held, set_)
        if set_
        else made_set(held, "judged", rule, unsure, annotator, leaks, demo=demo, made_by=person)
    )
    called = name or (made.id if chosen == "head" else f"{made.id}-{chosen}")
    plan = Plan(kind=chosen, name=called, bases=(base,) if base else ())
    if made_up := made.manifest["judgments_of_made_up_annotators"]:
        note(f"{made_up:,} of {made.manifest['judgments']:,} judgments are of the demo's made-up annotators.")
    note(f"Training set {made.id} ({made.hash}). {made.manifest['leakage']['told']}")
    with counting(f"{kind} '{called}'") as progress:
        result = improved(held, made, plan, mode, made_by=person, progress=progress)
    if json:
        print_json(result.as_row())
        return
    print(f"{result.trained.detector}\t{result.trained.card['measured']}")
    print(result.found)
    if result.adopted:
        note(f"{result.found.new} ({result.found.new_version}) is used from now on.")
    else:
        note(f"{result.found.present} stays in use; change that with `berdseye detector adopt '{result.found.new}'`.")
