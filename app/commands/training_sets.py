"""`berdseye training-set`: create, list, show and export versioned fine-tuning data from judgments."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace

if TYPE_CHECKING:
    from berdseye.annotation.training_sets.store import TrainingSetVersion

training_set = typer.Typer(no_args_is_help=True, help="Create versioned, traceable fine-tuning data from judgments.")

DemoOption = Annotated[bool, typer.Option(help="Count the votes of the simulated annotators of the demo.")]
RuleOption = Annotated[
    str,
    typer.Option(
        help="How votes become a label: adjudicated (the adjudicated label, otherwise the majority label), "
        "majority, unanimous or one."
    ),
]
UnsureOption = Annotated[
    str, typer.Option(help="How unsure votes count: 'ignored', 'left out' (drops the pair) or 'no'.")
]
AnnotatorOption = Annotated[str, typer.Option(help="The annotator whose judgments count under the rule 'one'.")]
LeaksOption = Annotated[
    str,
    typer.Option(
        help="Passages that occur in two splits: drop them, move their questions, or keep them (drop, move or keep)."
    ),
]
FORMATS = ("jsonl", "chat", "huggingface", "label-studio")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(training_set, name="training-set")


@training_set.command("create")
def create(
    name: Annotated[str, typer.Option(help="The name of the set; its versions are numbered.")] = "judged",
    rule: RuleOption = "adjudicated",
    unsure: UnsureOption = "ignored",
    annotator: AnnotatorOption = "",
    leaks: LeaksOption = "drop",
    demo: DemoOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Create the next version of a training set from the current judgments; without new judgments, no version is added.

    Questions are divided 80/10/10 by a hash of their text, so a question stays in its split when judgments are added.

    Example: `berdseye training-set create --rule unanimous --no-demo`
    """
    from berdseye.app.jobs.training_sets import create_set_version

    ws = open_workspace(workspace)
    _print_summary(
        create_set_version(ws, name, rule, unsure, annotator, leaks, demo=demo, made_by=acting_name(ws)), json
    )


@training_set.command("list")
def list_(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the versions of all training sets.

    Example: `berdseye training-set list`
    """
    from berdseye.annotation.training_sets.store import list_sets

    versions = list_sets(open_workspace(workspace))
    if json:
        print_json([{"id": s.id, **s.manifest} for s in versions])
        return
    for version in versions:
        counts = version.manifest["splits"]
        pairs = sum(n["pairs"] for n in counts.values())
        print(f"{version.id}\t{version.hash}\t{pairs} pairs\t{version.manifest['rules']['rule']}")


@training_set.command("show")
def show(
    wanted: Annotated[
        str, typer.Argument(metavar="SET", help="A version such as judged-3, or a name for its newest version.")
    ],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show how a version was made: its rules, class balance by split, dropped pairs, and leaks between splits.

    Example: `berdseye training-set show judged-1`
    """
    from berdseye.annotation.training_sets.store import find_set

    _print_summary(find_set(open_workspace(workspace), wanted), json)


@training_set.command("export")
def export(
    wanted: Annotated[
        str, typer.Argument(metavar="SET", help="A version such as judged-3, or a name for its newest version.")
    ],
    path: Annotated[
        Path,
        typer.Argument(
            writable=True, help="A .jsonl or .json file; for the formats chat and huggingface, a new folder."
        ),
    ],
    form: Annotated[
        str, typer.Option("--format", help=f"The format: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    ] = "jsonl",
    workspace: WorkspaceOption = None,
) -> None:
    """Write a version for other tools: JSON Lines, chats for LoRA, a Hugging Face `datasets` folder, or Label Studio's JSON.

    Example: `berdseye training-set export judged-1 hub --format huggingface`
    """
    from berdseye.annotation.training_sets.store import find_set
    from berdseye.app.jobs.training_sets import write_set

    for written in write_set(find_set(open_workspace(workspace), wanted), path, form):
        note(f"{written}: {written.stat().st_size:,} bytes")


def _print_summary(version: "TrainingSetVersion", json: bool) -> None:
    manifest: dict[str, Any] = version.manifest
    if json:
        print_json({"id": version.id, "folder": str(version.folder), **manifest})
        return
    print(f"{version.id}\t{version.hash}\tmade {manifest['created']} from {manifest['judgments']:,} judgments")
    print("rules\t" + ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in manifest["rules"].items() if v != ""))
    for split, n in manifest["splits"].items():
        share = f"{n['positives'] / n['pairs']:.0%} supporting" if n["pairs"] else "empty"
        print(f"{split}\t{n['pairs']:,} pairs of {n['questions']:,} questions, {share}")
    for reason, n in manifest["left_out"].items():
        print(f"dropped\t{n:,} pairs: {reason}")
    print(f"leaks\t{version.leakage}")
    if simulated := manifest["judgments_of_made_up_annotators"]:
        note(
            f"{simulated:,} of the judgments are by simulated annotators of the demo: a detector trained on them learns nothing."
        )
