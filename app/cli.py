"""The command line `berdseye`, with the table of its commands."""

import sys
from typing import Annotated

import typer

from berdseye.app.commands.console import note
from berdseye.app.commands.loading import MARKUP, LazyGroup, Listed
from berdseye.app.jobs.reports import reporting
from berdseye.data.errors import BerdseyeError
from berdseye.data.extras import missing

_FAULT = "berdseye: this is a bug in Berdseye. Please report it with the command and the lines below."

COMMANDS = {
    "init": Listed("app_command", "Create an empty workspace."),
    "demo": Listed("app_command", "Build the demo workspace, or complete a partly built one; finished parts are kept."),
    "app": Listed("app_command", "Serve the app and Label Studio on this machine until Ctrl-C."),
    "index": Listed(
        "indexes", "Build the indexes that a pipeline needs. (`search` and `run` build missing indexes themselves.)"
    ),
    "detect": Listed(
        "search",
        "Report for each perspective whether the passage supports it, opposes it or does neither, with the probability of this.",
    ),
    "search": Listed("search", "Show the top k passages for a question."),
    "expansion": Listed("search", "Store perspectives for a question, for pipelines that begin with `expand(manual)`."),
    "run": Listed("search", "Run pipelines on whole data sets and store the runs."),
    "answer": Listed("answer", "Have a language model answer the questions of a data set."),
    "evaluate": Listed(
        "evaluate",
        "Compute measures, each with its 95% interval over n questions, judged@k and the source of its labels.",
    ),
    "failures": Listed(
        "failures",
        "List the holes of a run (perspectives that no passage of its top k supports) with their reasons, and count these.",
    ),
    "compare": Listed(
        "failures",
        "Compare two runs question by question: wins, losses and ties, and the perspectives that the second run loses and gains.",
    ),
    "bundle": Listed(
        "bundles",
        "Pack tables with the runs, labels and questions they come from, their versions, and the SHA-256 of every file.",
    ),
    "verify": Listed(
        "bundles",
        "Compare every file of a bundle with its checksum, and recompute every number in its tables from the bundle's contents.",
    ),
    "tune": Listed(
        "tuning", "Choose lambda of `mmr(tuned)` from BERDS's grid, and store it for this pipeline and corpus."
    ),
    "encoders": Listed(
        "models",
        "List the encoders whose pooling, prefixes and similarity Berdseye knows; others use their own configuration.",
    ),
    "llm": Listed("models", "Show what language models have cost, and ask one about sides or disputes."),
    "backup": Listed("backups", "Back up the workspace into one file; annotators may keep working meanwhile."),
    "restore": Listed("backups", "Restore a workspace from a backup."),
    "doctor": Listed(
        "doctor",
        "Compare every stored file with its checksum, and look for faults in the judgments. Exit status 1 means damage.",
    ),
    "agreement": Listed("agreement", "Report the agreement of annotators, and of a detector with them."),
    "report": Listed("methods", "Write what a paper must state about its annotation and evaluation."),
    "corpus": Listed("corpora", "Add and list corpora, and find near-duplicate passages."),
    "dataset": Listed("datasets", "Add and list data sets of questions with perspectives."),
    "construct": Listed(
        "constructions",
        "Make data sets step by step, as the papers made theirs: questions, perspectives, evidence and their checks.",
    ),
    "detector": Listed("detectors", "List, measure, tune, train and adopt detectors."),
    "runs": Listed("runs", "List stored runs, and exchange runs and labels with other programs."),
    "study": Listed("studies", "Compute the tables and figures of papers from stored runs, labels and answers."),
    "judgments": Listed("judgments", "Exchange judgments with Label Studio, check them, and export them."),
    "label-studio": Listed(
        "label_studio",
        "Serve Label Studio on this workspace, and exchange batches with it or with another server.",
    ),
    "batch": Listed("batches", "Create, follow and export batches: pairs that are sent out for judging."),
    "guidelines": Listed("guidelines", "Show, set and list the versions of the annotation guidelines."),
    "perspective": Listed(
        "perspectives", "Edit the perspectives of a data set: propose edits, decide on them, and list the outcome."
    ),
    "training-set": Listed("training_sets", "Create versioned, traceable fine-tuning data from judgments."),
    "people": Listed("people", "List people, link names to addresses, and estimate how reliable each person is."),
    "power": Listed("power", "Compute how many questions, pairs and people a study needs."),
}
"""Every command and group in the order of the help, with the first paragraph of its own help; a test compares them."""


class Commands(LazyGroup):
    """The commands of `berdseye`."""

    table = COMMANDS


cli = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=MARKUP,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@cli.callback()
def berdseye(
    person: Annotated[
        str,
        typer.Option("--as", help="Who you are: a name, or in team mode an e-mail address. Default: BERDSEYE_PERSON."),
    ] = "",
    verbose: Annotated[bool, typer.Option(help="Show the log on standard error, with details.")] = False,
) -> None:
    """A bird's-eye view of the perspectives that retrieval shows, and of those it misses.

    The workspace is the folder in `--workspace`, otherwise in `BERDSEYE_WORKSPACE`, otherwise `./workspace`.
    """
    from berdseye.app.access.acting import act_as
    from berdseye.data.logs import show_log

    act_as(person)
    if verbose:
        show_log()


def main() -> None:
    """Run the command line. An error that a person can fix is one line on standard error, with exit status 2."""
    with reporting():
        try:
            cli()
        except BerdseyeError as error:
            note(f"berdseye: {' '.join(str(error).splitlines())}")
            sys.exit(2)
        except ModuleNotFoundError as error:
            found = missing(error, "This command")
            if found is None:
                note(_FAULT)
                raise
            note(f"berdseye: {found}")
            sys.exit(2)
        except KeyboardInterrupt:
            note("berdseye: interrupted; finished work is kept.")
            sys.exit(130)
        except Exception:
            note(_FAULT)
            raise


if __name__ == "__main__":
    main()
