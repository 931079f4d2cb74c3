"""`bundle` and `verify`: results with all that they were computed from, and the check that they follow from it."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.arguments import only_with
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.data.errors import BadInputError, UnknownNameError


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(bundle)
    cli.command()(verify)


def bundle(
    names: Annotated[list[str], typer.Argument(help="Stored runs, or stored results of studies.")],
    file: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The zip file to write.")],
    measures: Annotated[str, typer.Option(help="Measures, separated by spaces.")] = "MRecall@5 Precision@5 Precision@1",
    labels: Annotated[
        str | None,
        typer.Option(help="The label source; default: human>gold>DETECTOR with gold labels, else the detector."),
    ] = None,
    with_passages: Annotated[
        bool, typer.Option("--with-passages", help="Passages' texts too: mind their licences.")
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Pack tables with the runs, labels and questions they come from, with versions and the SHA-256 of every file.

    Tables are CSV, LaTeX and JSON, runs TREC files, labels qrels with perspectives as subtopics. `all` stands for all stored
    runs. The same workspace gives the same bytes.

    Example: `berdseye bundle debate--web--bm25 "debate--web--dense(static)" bundle.zip --measures "MRecall@5 nDCG@5"`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.files.atomic import write_bytes
    from berdseye.data.runs.stored import list_runs, load_run
    from berdseye.evaluation.bundle.writing import bundle_of
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.measures import parse_measures
    from berdseye.evaluation.studies.result import list_results, load_result

    held = opened(workspace)
    stored, results = [r.name for r in list_runs(held)], list_results(held)
    asked = list(dict.fromkeys(n for name in names for n in (stored if name == "all" else [name])))
    for name in asked:
        if name not in stored and name not in results:
            raise UnknownNameError("run or study result", name, [*stored, *results])
    if file.suffix != ".zip":
        raise BadInputError("A bundle is a .zip file.", where=file, hint="Name the file last, such as bundle.zip.")
    source = parse_label_source(labels or default_source(held))
    # Stored results of studies are packed as they are.
    only_with("a stored run", any(name in stored for name in asked), "measures", "labels", "with_passages")
    parsed = parse_measures(measures)
    runs = [load_run(held, name) for name in asked if name in stored]
    kept = [load_result(held, name) for name in asked if name in results]
    with counting("bundle") as progress:
        content = bundle_of(
            held, Judgments.open(held.judgments_url), runs, source, parsed,
            results=kept, with_passages=with_passages, progress=progress,
        )  # fmt: skip
    write_bytes(file, content)
    note(f"{file}: {len(runs)} runs, {len(kept)} results of studies, {len(content):,} bytes")


def verify(
    file: Annotated[Path, typer.Argument(help="A bundle.")],
    json: JsonOption = False,
) -> None:
    """Compare every file of a bundle with its hash, and compute every number in its tables anew from what is inside.

    Each mismatch is a line, and the exit status 1; nothing is unpacked to the disk, and no workspace is needed.

    Example: `berdseye verify bundle.zip`
    """
    from berdseye.evaluation.bundle.verifying import verify as check

    found = check(file)
    if json:
        print_json(
            {
                "mismatches": list(found.mismatches),
                "files": found.files,
                "numbers": found.numbers,
                "only_hashed": list(found.only_hashed),
            }
        )
    else:
        for text in found.mismatches:
            print(text)
        if found.only_hashed:
            note(f"Compared with their hashes alone: {', '.join(found.only_hashed)}.")
        note(
            f"{file}: {len(found.mismatches)} mismatches; {found.files} files compared, "
            f"{found.numbers} numbers computed anew."
        )
    if found.mismatches:
        raise typer.Exit(1)
