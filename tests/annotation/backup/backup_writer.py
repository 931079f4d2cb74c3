"""The process that judges while test_backup.py backs up: it tells of each judgment once it is recorded."""

import os
from multiprocessing.connection import Connection
from uuid import uuid4

from berdseye.annotation.judgments.log import Judgments


def judge_on(url: str, name: str, keys: list[str], told: Connection) -> None:
    """Judge every pair in turn, changing the word each time round, until nobody listens."""
    judgments = Judgments.open(url)
    person = judgments.sign_in(name)
    verdicts = ("supports", "does not support", "unsure")
    for n in range(1_000_000):
        uid = str(uuid4())
        judgments.judge(person, keys[n % len(keys)], verdicts[n // len(keys) % 3], source="annotate", uid=uid)
        try:
            os.write(told.fileno(), f"{uid}\n".encode())
        except BrokenPipeError:
            return
