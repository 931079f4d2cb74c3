"""The kinds of sources that become PIR tasks."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.pir_reformat.allsides import reformat_allsides
from berdseye.data.pir_reformat.ambigqa import reformat_ambigqa
from berdseye.data.pir_reformat.analogy import reformat_analogy
from berdseye.data.pir_reformat.fact_check import reformat_fact_check
from berdseye.data.pir_reformat.perspectrum import SPLIT, reformat_perspectrum
from berdseye.data.pir_reformat.task_file import TaskFile

KINDS: Mapping[str, Callable[[Path], TaskFile]] = {
    "perspectrum": reformat_perspectrum,
    "allsides": reformat_allsides,
    "ambigqa": reformat_ambigqa,
    "fact-check": reformat_fact_check,
    "analogy": reformat_analogy,
}


def reformat(kind: str, source: Path, split: str = "") -> TaskFile:
    """The task that a source becomes; `split` is for Perspectrum alone.

    Raises `UnknownNameError` for a kind that there is not, `BadInputError` where nothing is left to ask.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of source", kind, KINDS)
    if split and kind != "perspectrum":
        raise BadInputError(f"'{kind}' has no splits.", hint="Leave out --split.")
    made = partial(reformat_perspectrum, split=split or SPLIT) if kind == "perspectrum" else KINDS[kind]
    task = made(source)
    if not task.layout()["queries"]:
        raise BadInputError(
            "No root query has two perspectives.", where=source, hint="A task needs roots with two or more."
        )
    return task
