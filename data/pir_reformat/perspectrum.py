"""Perspectrum as a PIR task: find claims that support, oppose or relate to an argument.

Source: the released folder, or `perspectrum_with_answers_v1.0.json` in it, with `perspective_pool_v1.0.json` and
`dataset_split_v1.0.json` beside it. A cluster of perspectives is a query whose wordings are all to be found, and the claim gets
one more for all of them. Over the test split this gives the counts of PIR's Table 1, and the demo's queries in their order.
"""

from pathlib import Path
from typing import Any

from berdseye.data.dataset_formats.perspectrum import perspective_pool
from berdseye.data.errors import BadInputError
from berdseye.data.json_files import read_json
from berdseye.data.pir_reformat.task_file import TaskFile

CLAIMS = "perspectrum_with_answers_v1.0.json"
SPLITS = "dataset_split_v1.0.json"
_VERBS = {"SUPPORT": ("support", "that supports"), "UNDERMINE": ("undermine", "that opposes")}
SPLIT = "test"


def reformat_perspectrum(source: Path, split: str = SPLIT) -> TaskFile:
    """The claims of a split (`all` for every one); raises `BadInputError` where a file is missing or not whole."""
    path = source / CLAIMS if source.is_dir() else source
    pool, task = perspective_pool(path.parent), TaskFile()
    for number, claim in enumerate(claims_of(path, split), start=1):
        try:
            _add(task, claim, pool)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise BadInputError(
                f"Claim {number} is not whole: {error!r}.", where=path, hint="Take the file as released."
            ) from error
    return task


def claims_of(path: Path, split: str) -> list[dict[str, Any]]:
    """The claims of a split, by their ids, which is the order of PIR's demo."""
    claims = read_json(path)
    if not isinstance(claims, list) or not all(isinstance(c, dict) and isinstance(c.get("cId"), int) for c in claims):
        raise BadInputError("These are no claims of Perspectrum.", where=path, hint="Take the file as released.")
    claims = sorted(claims, key=lambda claim: int(claim["cId"]))
    if split == "all":
        return claims
    splits = read_json(path.parent / SPLITS)
    known = sorted(set(splits.values())) if isinstance(splits, dict) else []
    if split not in known:
        raise BadInputError(
            f"There is no split '{split}'.", where=path.parent / SPLITS, hint=f"Known: {known}, or all."
        )
    return [claim for claim in claims if splits.get(str(claim["cId"])) == split]


def _add(task: TaskFile, claim: dict[str, Any], pool: dict[int, str]) -> None:
    argument, everything = str(claim["text"]), list[int]()
    for cluster in claim["perspectives"]:
        label, which = _VERBS[cluster["stance_label_3"]]
        places = task.add([pool[pid] for pid in cluster["pids"]])
        everything += places
        task.ask(
            f"Find a claim {which} the argument: {argument}", argument, f"a claim {which} the argument", label, places
        )
    if everything:
        perspective = "a claim that relates to the argument"
        task.ask(f"Find a claim relates to the argument: {argument}", argument, perspective, "general", everything)
