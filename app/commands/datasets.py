"""`dataset`: questions with their perspectives."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.data.errors import BadInputError

dataset = typer.Typer(no_args_is_help=True, help="Add and list data sets.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(dataset, name="dataset")


@dataset.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Its name in the workspace.")],
    path: Annotated[Path, typer.Argument(help="A .jsonl or .json file.")],
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a data set of this name.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Add questions with perspectives. The layout is recognised by what the file holds.

    Ours is JSON Lines, a question a line: {"id", "question", "perspectives": ["text" or {"text", "stance", "explanation"}]}.
    Only "question" is needed; ids must differ, and without them lines are numbered. A stance is supporting or opposing.

    Also read: BERDS (as released, and the Hub's rows in JSONL or Parquet), PIR tasks (the demo's JSON with gold, or a folder
    as on the Hub), DebateQA, Perspectrum (with its pool beside it), debates (with gold). data/README.md has all the schemas.

    Example: `berdseye dataset add kialo kialo.jsonl`
    """
    from berdseye.data.datasets.stored import import_dataset

    held = opened(workspace)
    if name in held.datasets() and not replace:
        raise BadInputError(f"There is a data set '{name}' already.", hint="Choose another name, or pass --replace.")
    imported = import_dataset(held, name, path)
    note(f"{name}: {len(imported.questions)} questions ({imported.layout}), {len(imported.gold)} gold labels")


@dataset.command("fetch")
def fetch(
    name: Annotated[
        str,
        typer.Argument(
            help="berds-arguana, berds-kialo, berds-opinionqa (or berds), pir-TASK (or pir), debateqa, perspectrum, dmerit."
        ),
    ],
    source: Annotated[
        Path | None, typer.Option("--from", help="A folder of local copies; nothing is downloaded.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of data sets of these names.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Add a published data set, from its public home or from local copies, and check it.

    Downloads are checked against their known hashes. Where none is known, the first fetch records it in the workspace, and
    later ones must match. Counts are held against the papers'.

    Example: `berdseye dataset fetch berds-kialo`
    """
    from berdseye.data.datasets.fetching import Missing
    from berdseye.data.datasets.fetching import fetch as fetched

    held = opened(workspace)
    with counting(name) as progress:
        for done in fetched(held, name, source, replace=replace, progress=progress):
            if isinstance(done, Missing):
                note(f"{done.dataset}: left out, since {done.file} is not among the copies")
                continue
            gold = f"; {done.gold:,} gold labels" if done.gold else ""
            print(f"{done.dataset}\t{done.counts}{gold}")
            for text in done.notes:
                note(text)


@dataset.command("reformat")
def reformat(
    kind: Annotated[str, typer.Argument(help="perspectrum, allsides, ambigqa, fact-check or analogy.")],
    source: Annotated[Path, typer.Argument(help="What to read; for perspectrum the released folder.")],
    out: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The task to write, a .json file.")],
    split: Annotated[str, typer.Option(help="For perspectrum: train, dev, test or all.")] = "",
) -> None:
    """Make a PIR task, in the layout of PIR's demo, of a source of texts with perspectives.

    JSON Lines each: allsides {"topic", "ideology", "article"}; ambigqa {"question", "readings": [{"question", "evidence"}]};
    fact-check {"sentence", "claim", "label"}; analogy {"story", "aspect", "match"}. data/README.md says more.

    Example: `berdseye dataset reformat fact-check claims.jsonl task.json`
    """
    from berdseye.data.datasets.pir_reformat import reformat as reformatted
    from berdseye.data.files.atomic import write_json

    task = reformatted(kind, source, split)
    written = task.layout()
    write_json(out, written)
    note(f"{out}: {len(written['queries']):,} queries over {len(written['corpus']):,} passages")
    if task.lone_roots():
        note(f"{task.lone_roots():,} root queries have one perspective alone and are not asked; their passages stay.")


@dataset.command("version")
def version(
    name: Annotated[str, typer.Argument(help="The data set.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Make the accepted edits of perspectives a version, NAME@2 and so on, which never changes; the data set stays as it is.

    Runs of the data set fit every version: `berdseye evaluate --run RUN --dataset-version 1 --dataset-version 2`.

    Example: `berdseye dataset version debate`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.perspective_edits.log import EditLog
    from berdseye.annotation.perspective_edits.versions import coming_version, make_version
    from berdseye.app.access.acting import acting_name

    held = opened(workspace)
    log = EditLog(held, Judgments.open(held.judgments_url), name)
    coming = coming_version(log)
    made = make_version(log, acting_name(held))
    if json:
        print_json(asdict(made))
        return
    print(
        f"{made.name}\t{len(made.edits)} edits\t{len(coming.changes)} questions differ from {made.parent}\t{made.hash}"
    )


@dataset.command("versions")
def versions(
    name: Annotated[str, typer.Argument(help="The data set.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the versions of a data set, and what is wrong with one, if anything is.

    Example: `berdseye dataset versions debate`
    """
    from berdseye.data.datasets.versions import list_versions, trouble

    held = opened(workspace)
    rows = [asdict(v) | {"trouble": trouble(held, v)} for v in list_versions(held, name)]
    if json:
        print_json(rows)
        return
    for row in rows:
        told = [row["name"], row["parent"], f"{len(row['edits'])} edits", row["at"], row["made_by"], row["hash"][:16]]
        print("\t".join([*told, *([row["trouble"]] if row["trouble"] else [])]))


@dataset.command("list")
def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the data sets.

    Example: `berdseye dataset list`
    """
    from berdseye.data.datasets.stored import load_dataset

    held = opened(workspace)
    rows = [(name, load_dataset(held, name)) for name in held.datasets()]
    table = [{"name": n, "questions": len(q), "perspectives": sum(len(x.perspectives) for x in q)} for n, q in rows]
    if json:
        print_json(table)
        return
    for row in table:
        print("\t".join(map(str, row.values())))
