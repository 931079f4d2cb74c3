"""A construction of a D-MERIT from a made dump, with a language model that answers as a careful reader of it would."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.dmerit.kind import DMERIT
from berdseye.evaluation.construction.opening import begin
from berdseye.evaluation.construction.stored import Construction
from tests.data.wikipedia.made_dump import POPULAR, MadeDump, confirms

SETTINGS = {"model": "api(scripted)", "most_references": POPULAR - 10}


def reader(made: MadeDump) -> Callable[[str], str]:
    """Answers by the texts alone: Yes where a passage says that the member is one of its kind and place; a line for a list."""
    subjects = {one.title: (one.kind, one.place) for one in made.lists}

    def answer(asked: str) -> str:
        passage, member, hierarchy = (_slot(asked, name) for name in ("passage", "member", "list"))
        kind, place = subjects[hierarchy.split(" » ")[0]]
        if not passage:
            return f'"{kind} in {place}: {" ".join(hierarchy.split(" » ")[1:])}"'
        return "Yes" if confirms(passage, member, kind, place) else "No."

    return answer


def begun(workspace: Workspace, made: MadeDump, name: str = "made", **settings: Any) -> Construction:
    return begin(workspace, DMERIT, name, {"dump": made.path}, {**SETTINGS, **settings}, {}, made_by="ada")


def _slot(asked: str, name: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", asked, re.DOTALL)
    return found[1] if found else ""


def judge_all(judgments: Judgments, batch: str, verdict: str) -> int:
    """Give one verdict on all items of a batch, and return their number."""
    queue, person, count = BatchQueue(judgments, load_batch(judgments, batch)), judgments.sign_in("Ada"), 0
    while key := queue.next(person):
        queue.give(person, key, verdict)
        count += 1
    return count


def dump_file(folder: Path) -> Path:
    return folder / "pages-articles.xml.bz2"
