"""The process that test_crash.py kills: several threads judge, and tell of each judgment once it is recorded."""

from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from uuid import uuid4

from berdseye.annotation.judgments.log import Annotator, Judgments
from tests.killable import tell


def write(url: str, people: list[Annotator], keys: list[str], told: Connection) -> None:
    """Judge every pair as each of the people, a thread a person; a line on the pipe is an acknowledgement."""
    judgments = Judgments.open(url)

    def judge_all(person: Annotator) -> None:
        for key in keys:
            uid = str(uuid4())
            judgments.judge(person, key, "supports", source="annotate", uid=uid)
            tell(told, uid)

    with ThreadPoolExecutor(len(people)) as threads:
        for done in [threads.submit(judge_all, person) for person in people]:
            done.result()
