"""`berdseye dataset`: add, fetch, convert, version and list data sets of questions with perspectives."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.facts import print_facts
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.data.texts.counts import counted, plural

dataset = typer.Typer(no_args_is_help=True, help="Add and list data sets of questions with perspectives.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(dataset, name="dataset")


@dataset.command("add")
def add(
    name: Annotated[str, typer.Argument(help="The name of the data set in the workspace.")],
    path: Annotated[Path, typer.Argument(help="A .jsonl, .json, .csv, .tsv or .parquet file.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing data set of this name.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Add questions with perspectives. Berdseye recognises the layout from the contents of the file.

    Berdseye's own layout is JSON Lines, one question per line:
    {"id", "question", "perspectives": ["text" or {"text", "stance", "explanation"}]}.
    Only "question" is required. Ids must be unique; without ids, lines are numbered. A stance is supporting or opposing.
    A table (CSV or TSV) has one row per perspective, with the columns question, perspective, stance, explanation and id.

    Berdseye also reads BERDS (as released, and the Hub's rows in JSONL or Parquet), PIR tasks (the demo's JSON with gold
    labels, or a folder as on the Hub), DebateQA, Perspectrum (with its pool in the same folder) and debates (with gold labels).
    data/README.md documents all the layouts.

    Example: `berdseye dataset add kialo kialo.jsonl`
    """
    from berdseye.data.datasets.stored import import_dataset

    ws = open_workspace(workspace)
    if name in ws.datasets() and not replace:
        raise BadInputError(f"The data set '{name}' already exists.", hint="Choose another name, or pass --replace.")
    imported = import_dataset(ws, name, path)
    note(
        f"{name}: {counted(len(imported.questions), 'question')} ({imported.layout}), {counted(len(imported.gold), 'gold label')}"
    )


@dataset.command("fetch")
def fetch(
    name: Annotated[
        str,
        typer.Argument(
            help="berds-arguana, berds-kialo, berds-opinionqa (or berds), pir-TASK (or pir), debateqa, perspectrum, dmerit."
        ),
    ],
    source: Annotated[
        Path | None, typer.Option("--from", help="A folder of local copies to read instead of downloading.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace existing data sets of these names.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Add a published data set from its public source or from local copies, and check it.

    Berdseye checks downloads against their known checksums. Where no checksum is known, the first fetch records it in the
    workspace, and later fetches must match it. The numbers of questions and perspectives are compared with the paper's.

    Example: `berdseye dataset fetch berds-kialo`
    """
    from berdseye.data.datasets.fetching import Missing
    from berdseye.data.datasets.fetching import fetch as fetched

    ws = open_workspace(workspace)
    with counting(name) as progress:
        for done in fetched(ws, name, source, replace=replace, progress=progress):
            if isinstance(done, Missing):
                note(f"{done.dataset}: skipped, because the local copies do not include {done.file}")
                continue
            gold = f"; {counted(done.gold, 'gold label')}" if done.gold else ""
            print(f"{done.dataset}\t{done.counts}{gold}")
            for text in done.notes:
                note(text)


@dataset.command("reformat")
def reformat(
    kind: Annotated[str, typer.Argument(help="perspectrum, allsides, ambigqa, fact-check or analogy.")],
    source: Annotated[Path, typer.Argument(help="The file to read; for perspectrum the released folder.")],
    out: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The .json file to write the task to.")],
    split: Annotated[str, typer.Option(help="For perspectrum: train, dev, test or all.")] = "",
) -> None:
    """Convert texts with perspectives into a PIR task in the layout of PIR's demo.

    Sources other than perspectrum are JSON Lines: allsides {"topic", "ideology", "article"};
    ambigqa {"question", "readings": [{"question", "evidence"}]}; fact-check {"sentence", "claim", "label"};
    analogy {"story", "aspect", "match"}. data/README.md has the details.

    Example: `berdseye dataset reformat fact-check claims.jsonl task.json`
    """
    from berdseye.data.datasets.pir_reformat import reformat as reformatted
    from berdseye.data.files.atomic import write_json

    task = reformatted(kind, source, split)
    layout = task.layout()
    write_json(out, layout)
    note(
        f"{out}: {counted(len(layout['queries']), 'query', 'queries')} over {counted(len(layout['corpus']), 'passage')}"
    )
    if task.lone_roots():
        note(f"{task.lone_roots():,} root queries have only one perspective and are omitted; their passages are kept.")


@dataset.command("remove")
def remove(
    name: Annotated[str, typer.Argument(help="The data set.")],
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that the data set and its versions are deleted.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Delete a data set and its versions. Runs, gold labels and judgments stay.

    Example: `berdseye dataset remove debate --yes`
    """
    from berdseye.data.datasets.stored import load_dataset, remove_dataset

    ws = open_workspace(workspace)
    count = len(load_dataset(ws, name))
    if not yes:
        raise BadInputError(
            f"This deletes the {counted(count, 'question')} of '{name}'.", hint="Pass --yes to confirm."
        )
    remove_dataset(ws, name)
    note(f"{name}: deleted")


@dataset.command("version")
def version(
    name: Annotated[str, typer.Argument(help="The data set.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Create a version of a data set, such as NAME@2, from the accepted edits of its perspectives.

    A version never changes, and the data set itself stays unchanged. Runs of the data set fit every version:
    `berdseye evaluate --run RUN --dataset-version 1 --dataset-version 2`.

    Example: `berdseye dataset version debate`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.perspective_edits.log import EditLog
    from berdseye.annotation.perspective_edits.versions import create_version, next_version
    from berdseye.app.access.acting import acting_name

    ws = open_workspace(workspace)
    log = EditLog(ws, Judgments.open(ws.judgments_url), name)
    coming = next_version(log)
    new_version = create_version(log, acting_name(ws))
    if json:
        print_json(asdict(new_version))
        return
    changed = len(coming.changes)
    differing = f"{counted(changed, 'question')} {plural(changed, 'differs', 'differ')} from {new_version.parent}"
    print(f"{new_version.name}\t{counted(len(new_version.edits), 'edit')}\t{differing}\t{new_version.hash}")


@dataset.command("versions")
def versions(
    name: Annotated[str, typer.Argument(help="The data set.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the versions of a data set, with the problem of each version that has one.

    Example: `berdseye dataset versions debate`
    """
    from berdseye.data.datasets.versions import list_versions, version_problem

    ws = open_workspace(workspace)
    rows = [asdict(v) | {"trouble": version_problem(ws, v)} for v in list_versions(ws, name)]
    if json:
        print_json(rows)
        return
    for row in rows:
        values = [
            row["name"],
            row["parent"],
            counted(len(row["edits"]), "edit"),
            row["at"],
            row["made_by"],
            row["hash"][:16],
        ]
        print("\t".join([*values, *([row["trouble"]] if row["trouble"] else [])]))


@dataset.command("describe")
def describe(
    name: Annotated[str, typer.Argument(help="The data set.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the sizes and lengths of a data set, beside those that the papers print.

    Words and tokens per question and perspective, perspectives per question, stances, and the base rate of gold labels.

    Example: `berdseye dataset describe debate`
    """
    from berdseye.evaluation.describing import describe_dataset

    print_facts(describe_dataset(open_workspace(workspace), name), json)


@dataset.command("list")
def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the data sets.

    Example: `berdseye dataset list`
    """
    from berdseye.data.datasets.stored import load_dataset

    ws = open_workspace(workspace)
    rows = [(name, load_dataset(ws, name)) for name in ws.datasets()]
    table = [{"name": n, "questions": len(q), "perspectives": sum(len(x.perspectives) for x in q)} for n, q in rows]
    if json:
        print_json(table)
        return
    for row in table:
        print("\t".join(map(str, row.values())))
