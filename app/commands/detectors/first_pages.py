"""`berdseye detector first-pages`: how often a detector agrees with gold labels on what people read first."""

from typing import Annotated

import typer

from berdseye.app.commands.console import counting, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector, open_workspace


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command("first-pages")(first_pages)


def first_pages(
    run: Annotated[list[str], typer.Argument(help="Runs, such as debate--web--bm25.")],
    detector: Annotated[str | None, typer.Option(help="The detector. Default: the adopted one.")] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="The passages of each run that a page shows.")] = 5,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compare a detector with gold labels on the first passages of each question, as the page Explore shows them.

    All figures are percentages of the pairs with a gold label: `agree`, where the detector's label is the gold label; `unsure`,
    whose probability is near the threshold (the setting `unsure`), with the agreement on the others, `agree_sure`; `wrong`, where
    the detector is not unsure and does not agree; and the pairs that the detector (`called`) and the gold labels (`true`) call
    supporting. A pair that several runs retrieve counts once.

    `docs/detector-tables.md` explains every column; the app shows it on the page Documentation.

    Example: `berdseye detector first-pages debate--web--bm25 debate--pages--bm25 --detector stance`
    """
    from berdseye.data.runs.stored import load_run
    from berdseye.evaluation.detection.first_pages import first_pages as compared
    from berdseye.evaluation.detection.readable import readable

    ws = open_workspace(workspace)
    runs = [load_run(ws, name) for name in run]
    chosen = chosen_detector(detector, workspace)
    with counting(chosen.name) as progress:
        found = compared(ws, chosen, runs, k, progress=progress)
    if json:
        print_json(found.to_dict("records"))
        return
    print(readable(found).to_string(index=False))
