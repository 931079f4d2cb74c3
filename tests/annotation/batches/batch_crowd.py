"""People who judge a batch at once, each in a thread of one of several processes, and what became of their words."""

import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from uuid import uuid4

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgments
from berdseye.annotation.judgments.recorded import JudgmentDetails

Words = dict[tuple[int, str], str]
"""The standing word of a person (id) on a pair, by the uid of its event."""


@dataclass
class Told:
    """What one person was told: the words that should stand, seconds of saving and of asking for the next pair."""

    words: Words = field(default_factory=dict)
    saving: list[float] = field(default_factory=list)
    asking: list[float] = field(default_factory=list)
    undone: int = 0
    late: int = 0


def annotate(url: str, name: str, people: Sequence[Annotator], seconds: float, think: float, seed: int) -> list[Told]:
    """Judge for so many seconds, or until nothing is left; `think` is the mean time a pair. Now and then someone undoes
    the last word, pauses, or skips."""
    judgments = Judgments.open(url)
    batch = load_batch(judgments, name)
    until = time.monotonic() + seconds

    def person_works(person: Annotator) -> Told:
        queue, chance, told, steps = BatchQueue(judgments, batch), random.Random(seed * 1000 + person.id), Told(), []
        while time.monotonic() < until:
            began = time.perf_counter()
            key = queue.next(person)
            told.asking.append(time.perf_counter() - began)
            if key is None:
                if not _wanted(judgments, queue):
                    break
                time.sleep(think / 2)
                continue
            time.sleep(think * chance.uniform(0.5, 1.5))
            draw = chance.random()
            if draw < 0.02:
                queue.leave(person)
            elif draw < 0.04:
                queue.skip(person, key)
                steps.append(None)
            elif draw < 0.08 and steps:
                queue.undo(person)
                if (taken := steps.pop()) is not None:
                    del told.words[person.id, taken]
                told.undone += 1
            else:
                uid = str(uuid4())
                began = time.perf_counter()
                given = queue.give(person, key, chance.choice(VERDICTS), JudgmentDetails(seconds=think), uid=uid)
                told.saving.append(time.perf_counter() - began)
                told.words[person.id, key] = uid
                told.late += given.late
                steps.append(key)
        return told

    with ThreadPoolExecutor(len(people)) as threads:
        found = list(threads.map(person_works, people))
    judgments.engine.dispose()
    return found


def _wanted(judgments: Judgments, queue: BatchQueue) -> bool:
    """Whether a pair may come free again: someone holds one."""
    from sqlalchemy import func, select

    from berdseye.annotation.judgments.schema import reservations

    with judgments.reading() as connection:
        query = select(func.count()).where(
            reservations.c.batch_id == queue.batch.id, reservations.c.until > time.time()
        )
        return connection.execute(query).scalar_one() > 0
