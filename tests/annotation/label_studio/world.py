"""Judgments here, a project there, people at work on both sides, and the log that must come of it, whatever breaks."""

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from random import Random

from there import annotate, change, held_there, pair

from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgments, Verdict
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.drift import find_drift
from berdseye.annotation.label_studio.exchange import sync
from berdseye.annotation.label_studio.exchange_state import ExchangeReport
from berdseye.annotation.label_studio.form import RecordedVerdict
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import Project
from berdseye.annotation.label_studio.tasks import RemoteTask, all_tasks, raw_tasks
from berdseye.data.records import DetectorVersion

Where = tuple[str, int]
"""A pair and an annotator's id."""
VERSION = DetectorVersion("m", grade="stance")
_SYNCS = 8


@dataclass
class Said:
    """What was done at one place: here-words and there-words by comment, in order, and how it must end."""

    here: list[str | None] = field(default_factory=list)
    there: list[str | None] = field(default_factory=list)
    ends: RecordedVerdict | None = None
    may_repeat: set[str | None] = field(default_factory=set)


class World:
    """Everything said is unique by its comment, so that each word can be counted in the log and on both sides."""

    def __init__(
        self, judgments: Judgments, connection: Connection, project: Project, people: list[Annotator], seed: int
    ) -> None:
        self.judgments, self.connection, self.project, self.people = judgments, connection, project, people
        self.random = Random(seed)
        self.said: dict[Where, Said] = defaultdict(Said)
        self.keys: list[str] = []
        self.counts: Counter[str] = Counter()
        self.sync_seconds = 1.0
        self._number = 0
        self._open: dict[Where, str] = {}
        self._tasks: dict[str, RemoteTask] = {}

    @property
    def labels(self) -> dict[str, tuple[float, bool]]:
        return dict.fromkeys(self.keys, (0.7, True))

    def new_pairs(self, count: int) -> None:
        """Pairs that are not there yet, most of them judged by two people."""
        first = len(self.keys)
        new = self.judgments.add_pairs(pair(number) for number in range(first, first + count))
        self.keys += new
        for key in new:
            for person in self.random.sample(self.people, 2):
                if self.random.random() < 0.8:
                    self._say_here((key, person.id))

    def work_here(self, count: int) -> None:
        """People change, add and take back words here."""
        for _ in range(count):
            place = (self.random.choice(self.keys), self.random.choice(self.people).id)
            # People take back what they see: not what was said there a moment ago, which is not here yet.
            seen = self.said[place].ends is not None and self._open.get(place) != "there"
            if seen and self.random.random() < 0.3:
                self._take_back_here(place)
            else:
                self._say_here(place)

    def work_there(self, count: int) -> None:
        """People change, add and delete annotations in Label Studio: at most one step a place between two exchanges."""
        users = People(self.judgments, self.connection)
        places = [(key, person.id) for key in self._tasks for person in self.people]
        for place in self.random.sample(places, min(count, len(places))):
            if self._open.get(place) == "there":
                continue
            key, person = place
            said, task, user = self.said[place], self._tasks[key], users.user(person)
            held = [annotation for annotation in task.annotations if annotation.user == user]
            contested = place in self._open
            if held and self.random.random() < 0.25:
                self.connection.client.annotations.delete(id=held[-1].id)
                said.there.append(None)
                # Nobody knows when an annotation was deleted: what changed here meanwhile stands.
                if not contested:
                    said.ends = None
                elif said.here:
                    said.may_repeat.add(said.here[-1])
            else:
                word = self._word()
                if held:
                    change(self.connection, held[-1].id, word)
                else:
                    annotate(self.connection, task, user, word)
                said.there.append(word.comment)
                said.ends = word
            self._open[place] = "there"
            self.counts["words there"] += 1

    def settle(self) -> int:
        """Exchange until nothing is left to do, twice in a row; returns how many exchanges it took."""
        quiet = 0
        for number in range(1, _SYNCS + 1):
            began = time.monotonic()
            report = sync(self.judgments, self.connection, self.project, self.keys, self.labels, VERSION)
            self.sync_seconds = time.monotonic() - began
            assert not report.problems, report
            quiet = quiet + 1 if report == ExchangeReport() else 0
            if quiet == 2:
                self._open.clear()
                return number
            time.sleep(0.05)
        raise AssertionError(f"not quiet after {_SYNCS} exchanges: {report}")

    def check(self) -> None:
        """Both sides agree exactly, and every word is in the log as often as it was said."""
        drift = find_drift(self.judgments, self.connection, self.project)
        assert not drift, drift.as_json()
        there = held_there(self.connection, self.project)
        here = {(j.pair, j.annotator.id): RecordedVerdict(j.verdict, j.comment) for j in self.judgments.present()}
        for place in {*here, *self.said}:
            told = [tuple(map(str, event.values())) for event in self.judgments.history(place[0])]
            assert here.get(place) == self.said[place].ends, (place, self.said[place], told)
        assert sorted(there.values()) == sorted((word.verdict, word.comment) for word in here.values())
        assert {(key, word) for (key, _), word in there.items()} == {
            (key, (word.verdict, word.comment)) for (key, _), word in here.items()
        }
        self._check_log()
        raw = raw_tasks(self.connection, self.project.id)
        assert [task.total_predictions for task in raw] == [1] * len(self.keys)
        self._tasks = {task.key: task for task in all_tasks(self.connection, self.project.id)}
        self.counts["checks"] += 1

    def _check_log(self) -> None:
        logged: dict[Where, Counter[tuple[bool, str | None]]] = defaultdict(Counter)
        for key in self.keys:
            for event in self.judgments.history(key):
                there = event["source"] == "label-studio"
                logged[key, event["annotator_id"]][there, event["comment"] or None] += 1
        for place, said in self.said.items():
            found = logged[place]
            for words, there in ((said.here, False), (said.there, True)):
                for word, times in Counter(words).items():
                    most = times + sum(1 for again in said.may_repeat if again == word)
                    # Taken back on both sides, nothing is to be told; a repeat is ours that stood in a conflict.
                    least = 0 if word is None else times
                    assert least <= found.pop((there, word), 0) <= most + (word is None) * len(said.there), (
                        place,
                        word,
                    )
            assert not {key: count for key, count in found.items() if key[1] is not None}, (place, found)

    def _say_here(self, place: Where) -> None:
        word = self._word()
        self.judgments.judge(self._person(place), place[0], word.verdict, source="annotate", comment=word.comment)
        self._happened_here(place, word)

    def _take_back_here(self, place: Where) -> None:
        self.judgments.withdraw(self._person(place), place[0], source="annotate")
        self._happened_here(place, None)

    def _happened_here(self, place: Where, word: RecordedVerdict | None) -> None:
        said = self.said[place]
        said.here.append(word.comment if word else None)
        said.ends = word
        if self._open.get(place) == "there":
            said.may_repeat.add(word.comment if word else None)
        else:
            self._open[place] = "here"
        self.counts["words here"] += 1

    def _word(self) -> RecordedVerdict:
        self._number += 1
        verdict: Verdict = self.random.choice(VERDICTS)
        return RecordedVerdict(verdict, f"word {self._number}")

    def _person(self, place: Where) -> Annotator:
        return next(person for person in self.people if person.id == place[1])
