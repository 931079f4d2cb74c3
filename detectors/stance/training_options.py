"""The options of the command that trains `stance` (`berdseye.detectors.stance.train`), and which of them go together."""

import argparse
from pathlib import Path

OUT = Path(__file__).parents[1] / "weights"
"""The folder of the weights that ship."""


def training_parser() -> argparse.ArgumentParser:
    """Return the parser of the command; options may stand before and after its arguments (`parse_intermixed_args`)."""
    parser = argparse.ArgumentParser(
        prog="python -m berdseye.detectors.stance.train", description="Train the detector `stance`."
    )
    parser.add_argument("folder", type=Path, metavar="DATA_FOLDER", help="Folder with stance/ and perspectrum/.")
    parser.add_argument(
        "base", metavar="BASE", nargs="?", help="Folder or name of the BERT or MPNet model to start from."
    )
    parser.add_argument(
        "--continue",
        dest="continued",
        type=Path,
        metavar="FOLDER",
        nargs="?",
        const=OUT,
        help="Continue the network of a folder (default: the shipped weights) with the written and judged texts.",
    )
    parser.add_argument(
        "--unrounded",
        type=Path,
        metavar="FILE",
        help="With --continue: unrounded.pt of the work folder in which the network was made, to continue from its weights as "
        "they were before they were rounded to 4 bits, which is better. Without it, they are moved at random within it.",
    )
    parser.add_argument(
        "--share",
        type=float,
        metavar="S",
        help="With --continue: keep means of the weights after the training, which count for S, and those before (default: 1, "
        "those after alone).",
    )
    parser.add_argument("--work", type=Path, default=Path("stance-training"), help="Folder of checkpoints.")
    parser.add_argument("--out", type=Path, default=OUT, help="Folder to write (default: the shipped weights).")
    parser.add_argument(
        "--steps", type=int, default=3_400, help="Number of batches; with --continue, of pairs of them."
    )
    parser.add_argument(
        "--half", action="store_true", help="Compute gradients in bfloat16, on processors that are quicker with it."
    )
    parser.add_argument("--device", default="cpu", help='What computes, as PyTorch names it: "cpu" or "cuda".')
    parser.add_argument("--batch-tokens", type=int, default=1536, help="Tokens in a batch; 16384 suits a GPU.")
    parser.add_argument("--learning-rate", type=float, default=1.5e-4, help="Highest learning rate of the encoder.")
    parser.add_argument("--workers", type=int, default=0, help="Processes that prepare batches; a GPU needs several.")
    parser.add_argument(
        "--exact", action="store_true", help="Keep weights of 32 bits instead of 8: four times as large, and nearer."
    )
    parser.add_argument(
        "--words", type=int, metavar="N", help="Keep the N entries of the table of words that the texts need most."
    )
    parser.add_argument(
        "--teacher",
        metavar="BASE",
        help="Folder or name of a larger BERT or MPNet model with the same words: it is trained first, and then teaches. "
        "The network is also trained without it, and the weights of both are averaged.",
    )
    parser.add_argument(
        "--narrow",
        type=int,
        nargs=2,
        metavar=("HEADS", "NEURONS"),
        help="Train the base first; then it teaches a network whose layers have so many of its heads and neurons.",
    )
    parser.add_argument(
        "--texts",
        type=Path,
        metavar="FOLDER",
        help="Folder of texts (*.txt) without labels, in which a search finds passages for the teacher to judge.",
    )
    parser.add_argument(
        "--rounded",
        action="store_true",
        help="Store weights in 4 bits, and round them so in the second half of the training (with --continue: in all of it).",
    )
    parser.add_argument("--alone-steps", type=int, default=3_400, help="Number of batches without the teacher.")
    parser.add_argument("--teacher-steps", type=int, default=1_600, help="Number of batches for the teacher.")
    parser.add_argument(
        "--teacher-learning-rate", type=float, default=4e-5, help="Highest learning rate of the teacher's encoder."
    )
    parser.add_argument("--now", action="store_true", help="Use the last checkpoint as it is.")
    return parser


def wrong_combination(options: argparse.Namespace) -> str | None:
    """Return what is wrong with options that do not go together."""
    if (options.base is None) == (options.continued is None):
        return "give the model to start from, or --continue"
    changing = (options.narrow, options.teacher, options.words)
    if options.continued is not None and (options.exact or any(one is not None for one in changing)):
        return (
            "--continue keeps the form of a network: it cannot be combined with --narrow, --teacher, --words or --exact"
        )
    if options.unrounded is not None and options.continued is None:
        return "--unrounded belongs to --continue"
    if options.share is not None and (options.continued is None or not 0 < options.share <= 1):
        return "--share belongs to --continue, and is above 0 and at most 1"
    if options.narrow is not None and options.teacher is not None:
        return "--narrow makes the base the teacher, and cannot be combined with --teacher"
    if options.rounded and options.exact:
        return "--rounded stores weights in 4 bits, and --exact in 32: choose one of them"
    if options.texts is not None and options.narrow is None and options.teacher is None and options.continued is None:
        return "--texts needs a teacher: --teacher, --narrow or --continue"
    return None
