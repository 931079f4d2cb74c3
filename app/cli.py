"""The command line `berdseye`: the same backend without a browser."""

import sys
from typing import Annotated

import typer

from berdseye.app.access.acting import act_as, guard
from berdseye.app.commands import (
    agreement,
    answer,
    app_command,
    backups,
    batches,
    bundles,
    corpora,
    datasets,
    detectors,
    doctor,
    evaluate,
    failures,
    guidelines,
    indexes,
    judgments,
    label_studio,
    models,
    people,
    perspectives,
    runs,
    search,
    studies,
    training_sets,
    tuning,
)
from berdseye.app.commands.arguments import check_arguments
from berdseye.app.commands.console import note
from berdseye.app.jobs.reports import reporting
from berdseye.data.errors import BerdseyeError

cli = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", add_completion=False, pretty_exceptions_enable=False
)


@cli.callback()
def berdseye(
    person: Annotated[
        str, typer.Option("--as", help="Who you are: a name, in team mode an e-mail address; else BERDSEYE_PERSON.")
    ] = "",
) -> None:
    """A bird's-eye view of the perspectives that retrieval shows, and of those it misses.

    The workspace is `./workspace`, or the folder in `BERDSEYE_WORKSPACE`, or what `--workspace` says.
    """
    act_as(person)


app_command.register(cli)
corpora.register(cli)
indexes.register(cli)
datasets.register(cli)
search.register(cli)
answer.register(cli)
detectors.register(cli)
evaluate.register(cli)
failures.register(cli)
runs.register(cli)
bundles.register(cli)
tuning.register(cli)
studies.register(cli)
models.register(cli)
judgments.register(cli)
label_studio.register(cli)
batches.register(cli)
guidelines.register(cli)
perspectives.register(cli)
training_sets.register(cli)
backups.register(cli)
doctor.register(cli)
agreement.register(cli)
people.register(cli)
guard(cli)
check_arguments(cli)


def main() -> None:
    """Entry point: an error that a person can mend is one line on standard error, and exit status 2."""
    with reporting():
        try:
            cli()
        except BerdseyeError as error:
            note(f"berdseye: {' '.join(str(error).splitlines())}")
            sys.exit(2)
        except KeyboardInterrupt:
            note("berdseye: interrupted; what was finished is kept.")
            sys.exit(130)
        except Exception:
            note(
                "berdseye: this is a fault of Berdseye itself. Please report it, with the command and the lines below."
            )
            raise


if __name__ == "__main__":
    main()
