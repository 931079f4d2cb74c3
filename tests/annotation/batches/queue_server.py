"""The process that test_queue_crash.py kills: it serves people of a batch, and tells what each is about to do and has done."""

import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import NamedTuple
from uuid import uuid4

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.judgments.log import Annotator, Judgments
from tests.killable import tell


class Act(NamedTuple):
    """What a person does to a pair: 'next', 'judge', 'skip', 'undo' or 'leave'; `uid` of a judgment. '-' where there is none."""

    kind: str
    pair: str = "-"
    uid: str = "-"


def serve(url: str, people: list[Annotator], again: Mapping[int, Act], seed: int, pipe: Connection) -> None:
    """Serve everyone, a thread a person, till there is nothing left. `again`: judgments by person (id) that are sent once
    more, since nobody knows whether they arrived."""
    judgments = Judgments.open(url)
    queue = BatchQueue(judgments, load_batch(judgments, "b"))

    def work(person: Annotator) -> None:
        chance = random.Random(seed * 1000 + person.id)
        if person.id in again:
            _, pair, uid = again[person.id]
            queue.give(person, pair, "supports", uid=uid)
            tell(pipe, f"{person.id} did judge {pair} {uid}")
        while (key := queue.next(person)) is not None:
            tell(pipe, f"{person.id} did next {key} -")
            act = Act(chance.choices(("judge", "skip", "undo", "leave"), (84, 5, 8, 3))[0], key, str(uuid4()))
            tell(pipe, f"{person.id} will {' '.join(act)}")
            if act.kind == "judge":
                queue.give(person, key, "supports", uid=act.uid)
            elif act.kind == "skip":
                queue.skip(person, key)
            elif act.kind == "undo":
                act = act._replace(pair=queue.undo(person) or "-")
            else:
                queue.leave(person)
            tell(pipe, f"{person.id} did {' '.join(act)}")

    with ThreadPoolExecutor(len(people)) as threads:
        for done in [threads.submit(work, person) for person in people]:
            done.result()
