"""The command line `berdseye`: the same backend without a browser."""

import sys
from typing import Annotated

import typer

from berdseye.app.commands.console import note
from berdseye.app.commands.loading import MARKUP, LazyGroup, Listed
from berdseye.app.jobs.reports import reporting
from berdseye.data.errors import BerdseyeError
from berdseye.data.extras import missing

_FAULT = "berdseye: this is a fault of Berdseye itself. Please report it, with the command and the lines below."

COMMANDS = {
    "init": Listed("app_command", "Make an empty workspace."),
    "demo": Listed("app_command", "Build the demo workspace, or complete a half-built one; what stands is kept."),
    "app": Listed("app_command", "Serve the app and Label Studio on this machine until Ctrl-C."),
    "index": Listed(
        "indexes", "Build the indexes a pipeline needs. (`search` and `run` build a missing one by themselves.)"
    ),
    "detect": Listed("search", "Say of each perspective whether the passage supports it, and with which probability."),
    "search": Listed("search", "Show the top k passages for a question."),
    "perspectives": Listed(
        "search", "Keep perspectives for a question, for pipelines that begin with `expand(typed)`."
    ),
    "run": Listed("search", "Run pipelines on whole data sets and store the runs."),
    "answer": Listed("answer", "Have a language model answer the questions of a data set."),
    "evaluate": Listed(
        "evaluate",
        "Compute measures, each with its 95% interval over n questions, judged@k and the source of its labels.",
    ),
    "failures": Listed(
        "failures", "List the perspectives that a run's top k misses, each with the reason, and count the reasons."
    ),
    "compare": Listed(
        "failures",
        "Compare two runs question by question: wins, losses and ties, and the perspectives that the second loses and gains.",
    ),
    "bundle": Listed(
        "bundles",
        "Pack tables with the runs, labels and questions they come from, with versions and the SHA-256 of every file.",
    ),
    "verify": Listed(
        "bundles",
        "Compare every file of a bundle with its hash, and compute every number in its tables anew from what is inside.",
    ),
    "tune": Listed(
        "tuning", "Choose lambda of `mmr(tuned)` among BERDS's grid, and keep it for this pipeline and corpus."
    ),
    "encoders": Listed(
        "models",
        "List the encoders whose pooling, prefixes and similarity are known; others go by their own configuration.",
    ),
    "generated": Listed("models", "Tell how much language models have written for this workspace, and what it cost."),
    "sides": Listed("models", "Say which of two perspectives is the supporting one, by a language model."),
    "disputed": Listed(
        "models", "Say whether an answer makes clear that its question is disputed, by a language model."
    ),
    "backup": Listed("backups", "Write the workspace's precious parts into one file, also while people judge."),
    "restore": Listed(
        "backups",
        "Make a workspace of a backup: every hash is compared, the judgments are counted, and only then the folder appears.",
    ),
    "doctor": Listed(
        "doctor",
        "Compare every stored file with its checksum, and look for faults of the judgments. Exit status 1: something is damaged.",
    ),
    "agreement": Listed(
        "agreement",
        "Agreement of people, and of a detector with them: coefficients with 95% intervals, each two raters, slices, "
        "stances, time.",
    ),
    "corpus": Listed("corpora", "Add and list corpora."),
    "dataset": Listed("datasets", "Add and list data sets."),
    "detector": Listed("detectors", "Measure, tune, train and adopt detectors."),
    "runs": Listed("runs", "Stored runs; runs and labels in the formats of other programs."),
    "study": Listed("studies", "The papers' tables and figures, from stored runs, labels and answers."),
    "judgments": Listed("judgments", "Exchange judgments with Label Studio, and export them."),
    "label-studio": Listed(
        "label_studio", "Serve Label Studio on this workspace, and exchange batches with it or with another server."
    ),
    "batch": Listed("batches", "Send pairs out to be judged: choose them, follow them, export them."),
    "guidelines": Listed("guidelines", "What annotators are told, by version."),
    "perspective": Listed(
        "perspectives", "Edit the perspectives of a data set: proposals, decisions, and what came of them."
    ),
    "training-set": Listed("training_sets", "Make fine-tuning data from judgments, versioned and traceable."),
    "people": Listed("people", "Who is known here, by which e-mail address, and what they may."),
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
        str, typer.Option("--as", help="Who you are: a name, in team mode an e-mail address; else BERDSEYE_PERSON.")
    ] = "",
) -> None:
    """A bird's-eye view of the perspectives that retrieval shows, and of those it misses.

    The workspace is `./workspace`, or the folder in `BERDSEYE_WORKSPACE`, or what `--workspace` says.
    """
    from berdseye.app.access.acting import act_as

    act_as(person)


def main() -> None:
    """Entry point: an error that a person can mend is one line on standard error, and exit status 2."""
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
            note("berdseye: interrupted; what was finished is kept.")
            sys.exit(130)
        except Exception:
            note(_FAULT)
            raise


if __name__ == "__main__":
    main()
