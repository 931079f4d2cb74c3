"""Train the detector `stance`: `python -m berdseye.detectors.stance.train DATA_FOLDER BASE [--work FOLDER] [--out FOLDER]`, or
`... DATA_FOLDER --continue`.

The data folder has `stance/pairs.parquet` and the debates of `perspectrum/`. With `--teacher`, a larger network is trained first
and then teaches; what is written is the mean of a network that was taught and one that was not. With `--narrow`, the base itself
is trained first and then teaches a network with fewer of its heads and neurons, which is written. Both take minutes on a GPU
(`--device cuda`), and a training without a teacher one to two hours on two cores; run the same command again with the same work
folder to resume. With `--continue` in the place of BASE, a network that is stored already, the shipped one if no folder is named,
learns from the written and judged texts, and remembers the rest by what it said before: an hour on two cores.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from berdseye.data.errors import BerdseyeError
from berdseye.detectors.stance.examples import Example, texts_of, training_examples
from berdseye.detectors.stance.network_files import CARD_FILE, FILES, TOKENIZER_FILE, card_of
from berdseye.detectors.stance.publishing import file_hash, publish
from berdseye.detectors.stance.training_options import training_parser, wrong_combination
from berdseye.detectors.stance.unlabelled import found_examples, near_examples, passages_of, text_files
from berdseye.detectors.stance.written import written_examples

if TYPE_CHECKING:
    from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork
    from berdseye.detectors.stance.teacher import Teacher
    from berdseye.detectors.stance.training import StanceSettings

_BATCHES_FOR_IMPORTANCE = 12
_START = "start"
_OF_TRAINING = ("settings", "steps_taken", "teacher", "texts", "words", "narrow", "continued", "share")
Examples = Mapping[str, Sequence[Example]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, export and measure; the exit status is 2, with one line, if the data cannot be used."""
    parser = training_parser()
    options = parser.parse_intermixed_args(arguments)
    if wrong := wrong_combination(options):
        parser.error(wrong)
    import torch

    from berdseye.detectors.stance.training import StanceSettings

    try:
        torch.empty(0, device=options.device)
    except (RuntimeError, AssertionError) as error:
        parser.error(f"--device {options.device} cannot be used: {str(error).splitlines()[0]}")
    settings = StanceSettings(
        steps=options.steps,
        learning_rate=options.learning_rate,
        half=options.half,
        batch_tokens=options.batch_tokens,
        device=options.device,
        workers=options.workers,
        rounded=options.rounded,
    )
    try:
        network, tokenizer, card = _trained(options, settings)
        bits: Literal[4, 8] = 4 if card["settings"]["rounded"] else 8
        publish(network, tokenizer, card, options.folder, options.out, exact=options.exact, bits=bits)
    except BerdseyeError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


class _Run(NamedTuple):
    """What every training begins with; `network` is untrained, unless it is continued. One whose weights are rounded to 4 bits is
    `scattered` first."""

    options: argparse.Namespace
    settings: "StanceSettings"
    network: "StanceNetwork"
    tokenizer: "PairTokenizer"
    examples: Examples
    scattered: bool = False


class _Trained(NamedTuple):
    """A trained network, the number of steps taken, the examples that it has seen, and what the card says of its teacher."""

    network: "StanceNetwork"
    steps: int
    shown: Examples
    teacher: Mapping[str, Any] | None = None


def _trained(
    options: argparse.Namespace, settings: "StanceSettings"
) -> tuple["StanceNetwork", "PairTokenizer", dict[str, Any]]:
    """Train the network that the options ask for; return it, its tokenizer, and a card of its training.

    What cannot be taught or stored as they ask is refused before anything is trained.
    """
    from berdseye.detectors.stance.network import PairTokenizer
    from berdseye.detectors.stance.rounding import check_sizes, keep_unrounded
    from berdseye.detectors.stance.training import untrained

    earlier, scattered = None, False
    if options.continued is not None:
        network, tokenizer, earlier = _start(options)
        in_four_bits = earlier.get("settings", {}).get("rounded", False)
        settings = settings._replace(
            continued="-".join(earlier[name] for name in ("version", "unrounded") if name in earlier),
            rounded=settings.rounded or in_four_bits,
        )
        scattered = in_four_bits and "unrounded" not in earlier
    else:
        network, tokenizer = untrained(options.base, settings.seed), PairTokenizer(options.base)
    if settings.rounded:
        check_sizes(network)
    run = _Run(options, settings, network, tokenizer, training_examples(options.folder, settings.seed), scattered)
    if earlier is not None:
        made = _continued(run)
    elif options.narrow is not None:
        made = _taught_by_its_base(run)
    elif options.teacher is not None:
        made = _taught_by_another_base(run)
    else:
        made = _taught_by_labels(run)
    if settings.rounded:
        keep_unrounded(made.network, options.work)
    card = {
        "settings": settings._asdict(),
        "steps_taken": made.steps,
        "teacher": made.teacher,
        "texts": {} if options.texts is None else {path.name: file_hash(path) for path in text_files(options.texts)},
        "words": made.network.words.num_embeddings,
        "narrow": options.narrow,
        "continued": earlier,
        "share": options.share,
        "examples": {name: len(rows) for name, rows in made.shown.items()},
    }
    return made.network, tokenizer, card


def _start(options: argparse.Namespace) -> tuple["StanceNetwork", "PairTokenizer", dict[str, Any]]:
    """Return the network that a training continues, its tokenizer, and what its card says of its training, with its version and
    the hash of the file of its weights before rounding, if there is one.

    Its files are copied into the work folder at first, and read there from then on: the result may take the place of the
    network. Raises `UnavailableError` if a file is missing or cannot be read, and `BadInputError` for weights of another one.
    """
    from tokenizers import Tokenizer

    from berdseye.detectors.stance.network import PairTokenizer
    from berdseye.detectors.stance.rounding import unround
    from berdseye.detectors.stance.stored_network import stored_network

    folder, work = options.continued, options.work
    kept = work / _START
    if not kept.is_dir():
        card_of(folder)  # raises the error of a folder that cannot be used
        draft = work / f"{_START}.part"
        draft.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            shutil.copyfile(folder / name, draft / name)
        draft.replace(kept)
    network, version = stored_network(kept), card_of(kept).version
    card = json.loads((kept / CARD_FILE).read_text(encoding="utf-8"))
    earlier = {"version": version} | {name: card[name] for name in _OF_TRAINING if name in card}
    if options.unrounded is not None:
        unround(network, options.unrounded)
        earlier["unrounded"] = file_hash(options.unrounded)
    return network, PairTokenizer(Tokenizer.from_file(str(kept / TOKENIZER_FILE))), earlier


def _continued(run: _Run) -> _Trained:
    """Train a stored network on the written and judged texts, and on others with what it says of them now.

    With `--share`, means of its weights before and after are kept.
    """
    from berdseye.detectors.stance.rounding import scatter
    from berdseye.detectors.stance.teacher import earlier_self
    from berdseye.detectors.stance.training import average_with

    new, before = written_examples(), deepcopy(run.network)
    shown = {**_with_unlabelled(run), **new}
    if run.scattered:
        scatter(run.network, run.settings.seed)
    steps = _train(run, run.network, shown, earlier_self(before, half=run.settings.half), apart=tuple(new))
    if run.options.share is not None:
        average_with(run.network, before, run.options.share)
    return _Trained(run.network, steps, shown)


def _taught_by_labels(run: _Run) -> _Trained:
    steps = _train(run, run.network, run.examples)
    _keep_words(run, run.network, run.examples)
    return _Trained(run.network, steps, run.examples)


def _taught_by_another_base(run: _Run) -> _Trained:
    """Train a network with the labels alone, by the defaults of `StanceSettings`, then the teacher, then the network that it
    teaches; return the mean of the first and the last."""
    from berdseye.detectors.stance.network import PairTokenizer
    from berdseye.detectors.stance.teacher import teacher_of_another_base, teachers_numbers
    from berdseye.detectors.stance.training import StanceSettings, average_with, train, untrained

    options, settings = run.options, run.settings
    numbers, own = teachers_numbers(teachers := PairTokenizer(options.teacher), run.tokenizer), run.network
    larger, alone = untrained(options.teacher, settings.seed), untrained(options.base, settings.seed)
    shown = _with_unlabelled(run)
    plain = StanceSettings(
        steps=options.alone_steps,
        half=settings.half,
        device=settings.device,
        workers=settings.workers,
        rounded=settings.rounded,
    )
    train(alone, run.tokenizer, run.examples, plain, options.work / "alone", progress=_print_progress)
    _train_teacher(run, larger, teachers)
    steps = _train(run, own, shown, teacher_of_another_base(larger, own, numbers, half=settings.half))
    average_with(own, alone)
    _keep_words(run, own, run.examples)
    return _Trained(own, steps, shown, _card_of_teacher(options) | {"steps_alone": options.alone_steps})


def _taught_by_its_base(run: _Run) -> _Trained:
    """Train the base, which then teaches what `narrowed` makes of it; both have the smaller table of words, if asked for."""
    from berdseye.detectors.stance.batches import mixed_batches
    from berdseye.detectors.stance.pruning import check_narrower, narrowed
    from berdseye.detectors.stance.teacher import teacher_of_its_part

    options, settings, base = run.options, run.settings, run.network
    heads, neurons = options.narrow
    check_narrower(base, heads, neurons)
    shown = _with_unlabelled(run)
    _keep_words(run, base, shown)
    _train_teacher(run, base, run.tokenizer)
    batches = mixed_batches(shown, run.tokenizer, Random(settings.seed), settings.batch_tokens)
    texts = (batch.packed for batch in islice(batches, _BATCHES_FOR_IMPORTANCE))
    student = narrowed(base, heads, neurons, texts, device=settings.device)
    steps = _train(run, student, shown, teacher_of_its_part(base, half=settings.half))
    return _Trained(student, steps, shown, _card_of_teacher(options))


def _train(
    run: _Run,
    network: "StanceNetwork",
    examples: Examples,
    teacher: "Teacher | None" = None,
    *,
    apart: Collection[str] = (),
) -> int:
    """Train the network that is written, or take its last checkpoint with `--now`; return the number of steps taken."""
    from berdseye.detectors.stance.training import train

    options = run.options
    return train(
        network,
        run.tokenizer,
        examples,
        run.settings,
        options.work,
        teacher=teacher,
        apart=apart,
        as_it_is=options.now,
        progress=_print_progress,
    )


def _train_teacher(run: _Run, network: "StanceNetwork", tokenizer: "PairTokenizer") -> None:
    """Train a teacher with the labels, with weights that are not rounded."""
    from berdseye.detectors.stance.training import train

    options = run.options
    settings = run.settings._replace(
        steps=options.teacher_steps, learning_rate=options.teacher_learning_rate, rounded=False
    )
    train(network, tokenizer, run.examples, settings, options.work / "teacher", progress=_print_progress)


def _with_unlabelled(run: _Run) -> Examples:
    """Return the examples with those that a teacher judges."""
    shown, texts, seed = dict(run.examples), run.options.texts, run.settings.seed
    if texts is not None:
        shown |= found_examples(passages_of(texts, seed), run.examples, seed)
    return shown | near_examples(run.examples, seed)


def _keep_words(run: _Run, network: "StanceNetwork", examples: Examples) -> None:
    from berdseye.detectors.stance.vocabulary import keep_words

    if run.options.words is not None:
        keep_words(network, run.tokenizer, texts_of(examples), run.options.words)


def _card_of_teacher(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "base": Path(options.base if options.teacher is None else options.teacher).name,
        "steps": options.teacher_steps,
        "learning_rate": options.teacher_learning_rate,
    }


def _print_progress(done: int, unit: str, total: int | None = None, /) -> None:
    if done % 100 == 0 or done == total:
        print(f"{done:,} of {total or done:,} {unit}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
