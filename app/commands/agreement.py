"""`agreement`: kappas of a table, or of the workspace's judgments."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import JsonOption, WorkspaceOption, opened
from app.console import note, print_json
from data.errors import BadInputError

if TYPE_CHECKING:
    import pandas as pd

    from annotation.agreement import Agreement


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command("agreement")(command)


def command(
    file: Annotated[
        Path | None, typer.Argument(help="CSV with columns item, annotator, label; else the workspace.")
    ] = None,
    detector: Annotated[
        str | None, typer.Option(help="Without a file: the detector to set beside people; else the adopted one.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Cohen's kappa with its 95% interval and raw agreement of each two annotators; Fleiss' kappa and alpha of all.

    Items are aligned by their id. An empty label is a label that was not given.

    Example: `berdseye agreement labels.csv --json`
    """
    from annotation.agreement import agreement

    labels = _read(file) if file is not None else _stored(workspace, detector)
    result = agreement(labels)
    if json:
        print_json(
            {
                "pairs": [p._asdict() for p in result.pairs],
                "fleiss_kappa": result.fleiss_kappa,
                "krippendorff_alpha": result.krippendorff_alpha,
                "n_items": result.n_items,
                "n_complete": result.n_complete,
            }
        )
    else:
        _print(result)


def _read(file: Path) -> "pd.DataFrame":
    import pandas as pd

    try:
        labels = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        said = str(error).strip().rstrip(".")
        raise BadInputError(f"Cannot be read as CSV: {said}.", where=file, hint="Save it as UTF-8 CSV.") from error
    if "label" in labels.columns and (empty := int((labels["label"] == "").sum())):
        note(f"{empty} rows have no label and are left out")
        labels = labels[labels["label"] != ""]
    return labels


def _stored(workspace: Path | None, detector: str | None) -> "pd.DataFrame":
    from annotation.judgments import Judgments
    from detectors.registry import parse_detector
    from detectors.trained import adopted_detector
    from evaluation.agreement_labels import agreement_labels

    held = opened(workspace)
    chosen = parse_detector(detector or adopted_detector(held), held)
    return agreement_labels(held, Judgments.open(held.judgments_url).frame(), chosen)


def _print(result: "Agreement") -> None:
    for p in result.pairs:
        print(f"{p.a}\t{p.b}\tkappa {p.cohen_kappa:.3f} [{p.low:.3f}, {p.high:.3f}]\traw {p.raw:.3f}\tn {p.n}")
    print(f"Fleiss' kappa {result.fleiss_kappa:.3f} ({result.n_complete} items)\talpha {result.krippendorff_alpha:.3f}")
