"""`training-set create | list | show | export`: judgments as versioned fine-tuning data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened

if TYPE_CHECKING:
    from berdseye.annotation.training_sets.store import TrainingSetVersion

training_set = typer.Typer(no_args_is_help=True, help="Make fine-tuning data from judgments, versioned and traceable.")

DemoOption = Annotated[bool, typer.Option(help="Let the made-up annotators of the demo vote.")]
RuleOption = Annotated[
    str, typer.Option(help="adjudicated (that word first, else the majority), majority, unanimous, or one.")
]
UnsureOption = Annotated[str, typer.Option(help="Unsure votes: 'ignored', 'left out' (the pair), or 'no'.")]
AnnotatorOption = Annotated[str, typer.Option(help="Whose word is taken under the rule 'one'.")]
LeaksOption = Annotated[str, typer.Option(help="A passage in two splits: drop, move (the questions) or keep.")]
FORMATS = ("jsonl", "chat", "huggingface", "label-studio")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(training_set, name="training-set")


@training_set.command("create")
def create(
    name: Annotated[str, typer.Option(help="What the set is to be called; versions are counted.")] = "judged",
    rule: RuleOption = "adjudicated",
    unsure: UnsureOption = "ignored",
    annotator: AnnotatorOption = "",
    leaks: LeaksOption = "drop",
    demo: DemoOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Make the next version of a training set from the present judgments; nothing new makes no new version.

    Questions are divided 80/10/10 by a hash of their text, so a question never changes its split as judgments grow.

    Example: `berdseye training-set create --rule unanimous --no-demo`
    """
    from berdseye.app.jobs.training_sets import made_set

    held = opened(workspace)
    _tell(made_set(held, name, rule, unsure, annotator, leaks, demo=demo, made_by=acting_name(held)), json)


@training_set.command("list")
def list_(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the versions there are.

    Example: `berdseye training-set list`
    """
    from berdseye.annotation.training_sets.store import list_sets

    held = list_sets(opened(workspace))
    if json:
        print_json([{"id": s.id, **s.manifest} for s in held])
        return
    for version in held:
        counts = version.manifest["splits"]
        pairs = sum(n["pairs"] for n in counts.values())
        print(f"{version.id}\t{version.hash}\t{pairs} pairs\t{version.manifest['rules']['rule']}")


@training_set.command("show")
def show(
    wanted: Annotated[str, typer.Argument(metavar="SET", help="A version such as judged-3, or a name: its newest.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show how a version was made: rules, class balance by split, what was left out, and leaks.

    Example: `berdseye training-set show judged-1`
    """
    from berdseye.annotation.training_sets.store import find_set

    _tell(find_set(opened(workspace), wanted), json)


@training_set.command("export")
def export(
    wanted: Annotated[str, typer.Argument(metavar="SET", help="A version such as judged-3, or a name: its newest.")],
    path: Annotated[
        Path, typer.Argument(writable=True, help="A .jsonl or .json file; for chat and huggingface a new folder.")
    ],
    form: Annotated[str, typer.Option("--format", help=f"{', '.join(FORMATS)}.")] = "jsonl",
    workspace: WorkspaceOption = None,
) -> None:
    """Write a version for other tools: JSON Lines, chats for LoRA, a Hugging Face `datasets` folder, or Label Studio's JSON.

    Example: `berdseye training-set export judged-1 hub --format huggingface`
    """
    from berdseye.annotation.training_sets.store import find_set
    from berdseye.app.jobs.training_sets import write_set

    for written in write_set(find_set(opened(workspace), wanted), path, form):
        note(f"{written}: {written.stat().st_size:,} bytes")


def _tell(made: "TrainingSetVersion", json: bool) -> None:
    known: dict[str, Any] = made.manifest
    if json:
        print_json({"id": made.id, "folder": str(made.folder), **known})
        return
    print(f"{made.id}\t{made.hash}\tmade {known['created']} from {known['judgments']:,} judgments")
    print("rules\t" + ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in known["rules"].items() if v != ""))
    for split, n in known["splits"].items():
        share = f"{n['positives'] / n['pairs']:.0%} supporting" if n["pairs"] else "empty"
        print(f"{split}\t{n['pairs']:,} pairs of {n['questions']:,} questions, {share}")
    for reason, n in known["left_out"].items():
        print(f"left out\t{n:,} pairs: {reason}")
    print(f"leaks\t{known['leakage']['told']}")
    if made_up := known["judgments_of_made_up_annotators"]:
        note(
            f"{made_up:,} of the judgments are of the demo's made-up annotators: a detector that learns them learns nothing."
        )
