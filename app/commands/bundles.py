"""`berdseye bundle` packs results with everything they were computed from; `berdseye verify` recomputes them."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.given_options import only_with
from berdseye.data.texts.counts import counted


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(bundle)
    cli.command()(verify)


def bundle(
    names: Annotated[
        list[str], typer.Argument(help="Stored runs or stored results of studies; `all` means all stored runs.")
    ],
    file: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The zip file to write.")],
    measures: Annotated[str, typer.Option(help="Measures, separated by spaces.")] = "MRecall@5 Precision@5 Precision@1",
    labels: Annotated[
        str | None,
        typer.Option(help="The label source. Default: human>gold>DETECTOR with gold labels, otherwise the detector."),
    ] = None,
    with_passages: Annotated[
        bool, typer.Option("--with-passages", help="Include the texts of passages; check their licences first.")
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Pack tables with the runs, labels and questions they come from, their versions, and the SHA-256 of every file.

    Tables are CSV, LaTeX and JSON; runs are TREC files; labels are qrels with perspectives as subtopics. The same workspace
    gives a byte-identical bundle.

    Example: `berdseye bundle debate--web--bm25 "debate--web--dense(static)" bundle.zip --measures "MRecall@5 nDCG@5"`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.files.atomic import write_bytes
    from berdseye.data.runs.stored import list_runs, load_run
    from berdseye.evaluation.bundle.writing import bundle_of
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.measures import parse_measures
    from berdseye.evaluation.studies.result import list_results, load_result

    ws = open_workspace(workspace)
    stored, results = [r.name for r in list_runs(ws)], list_results(ws)
    wanted = list(dict.fromkeys(n for name in names for n in (stored if name == "all" else [name])))
    for name in wanted:
        if name not in stored and name not in results:
            raise UnknownNameError("run or study result", name, [*stored, *results])
    if file.suffix != ".zip":
        raise BadInputError("A bundle must be a .zip file.", where=file, hint="Give the file last, such as bundle.zip.")
    source = parse_label_source(labels or default_source(ws))
    # Stored results of studies are packed unchanged, so measures and labels do not apply to them.
    only_with("a stored run", any(name in stored for name in wanted), "measures", "labels", "with_passages")
    parsed = parse_measures(measures)
    runs = [load_run(ws, name) for name in wanted if name in stored]
    study_results = [load_result(ws, name) for name in wanted if name in results]
    with counting("bundle") as progress:
        content = bundle_of(
            ws, Judgments.open(ws.judgments_url), runs, source, parsed,
            results=study_results, with_passages=with_passages, progress=progress,
        )  # fmt: skip
    write_bytes(file, content)
    note(
        f"{file}: {counted(len(runs), 'run')}, {counted(len(study_results), 'result')} of studies, {len(content):,} bytes"
    )


def verify(
    file: Annotated[Path, typer.Argument(help="The bundle to verify.")],
    json: JsonOption = False,
) -> None:
    """Compare every file of a bundle with its checksum, and recompute every number in its tables from the bundle's contents.

    Each mismatch is printed as a line and sets exit status 1. Nothing is unpacked to disk, and no workspace is needed.

    Example: `berdseye verify bundle.zip`
    """
    from berdseye.evaluation.bundle.verifying import verify as check

    verification = check(file)
    if json:
        print_json(
            {
                "mismatches": list(verification.mismatches),
                "files": verification.files,
                "numbers": verification.numbers,
                "only_hashed": list(verification.only_hashed),
                "notes": list(verification.notes),
            }
        )
    else:
        for text in verification.mismatches:
            print(text)
        for text in verification.notes:
            note(text)
        if verification.only_hashed:
            note(f"Only compared with their checksums: {', '.join(verification.only_hashed)}.")
        note(
            f"{file}: {len(verification.mismatches)} mismatches; {verification.files} files compared, "
            f"{verification.numbers} numbers recomputed."
        )
    if verification.mismatches:
        raise typer.Exit(1)
