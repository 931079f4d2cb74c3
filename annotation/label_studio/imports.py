"""Judgments out of Label Studio's JSON, and of projects that Berdseye did not make: into the log, each once."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import select

from berdseye.annotation.batches import list_batches
from berdseye.annotation.database import writing
from berdseye.annotation.judgments import Annotator, Judgments, batched_rows, by_keys
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.foreign import GUESSED, RawTask, Rule, read_pair, read_word, rule_for
from berdseye.annotation.label_studio.identity import event_uid
from berdseye.annotation.label_studio.people import Directory, People, name_of_account
from berdseye.annotation.label_studio.project import project_by_id
from berdseye.annotation.label_studio.purpose import Purpose
from berdseye.annotation.label_studio.receiving import Receiving
from berdseye.annotation.label_studio.remote import RemoteAnnotation, Said, moment_of, raw_tasks, seconds_of
from berdseye.annotation.label_studio.sync_state import Place, append_events, read_local
from berdseye.annotation.people import known_or_invited
from berdseye.annotation.schema import batch_items, events, sync_tasks
from berdseye.data.errors import BadInputError
from berdseye.data.json_files import read_json

Author = Callable[[Any], Annotator]


@dataclass(frozen=True)
class Imported:
    """What an import did: judgments `new` here, `known` already, and what could not be read, with its task.

    `skipped`: annotations without a verdict, and those that a later one of the same person on the same pair replaces.
    """

    tasks: int = 0
    new: int = 0
    known: int = 0
    skipped: int = 0
    conflicts: int = 0
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = f"{self.tasks} tasks: {self.new} judgments new here, {self.known} known, {self.skipped} skipped or replaced there"
        if self.conflicts:
            told += f"; {self.conflicts} were judged here too (the later word stands, both are kept)"
        return f"{told}; {len(self.problems)} could not be read." if self.problems else f"{told}."


@dataclass
class _Reading:
    """What was read: by place the newest annotation, with the uid of its event and the batch it was given in."""

    said: dict[Place, Said] = field(default_factory=dict)
    uids: dict[Place, str] = field(default_factory=dict)
    batches: dict[Place, int | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    skipped: int = 0


def import_file(
    judgments: Judgments, path: Path, rule: Rule = GUESSED, annotators: Mapping[int, str] | None = None
) -> Imported:  # fmt: skip
    """Read a JSON export of Label Studio (not JSON-MIN, CSV or TSV). `annotators` names people by their number there.

    People are known by their e-mail address; Label Studio's own export names them by number alone. What cannot be read is
    reported by its task; reading the file again adds nothing. Raises `BadInputError` for another kind of file.
    """
    tasks = read_export(path)
    directory = Directory(judgments, _accounts(tasks))
    people = {number: known_or_invited(judgments, who) for number, who in (annotators or {}).items()}

    def author(who: Any) -> Annotator:
        number = who.get("id") if isinstance(who, dict) else who
        if number in people:
            return people[number]
        if isinstance(who, dict) and who.get("email"):
            return directory.find_or_sign_in(*_account(who))
        raise BadInputError(
            f"its author is told as number {number} alone (name them: --annotator {number}=ana@example.org)"
        )

    return _import(judgments, tasks, rule, author)


def import_project(judgments: Judgments, connection: Connection, number: int, rule: Rule = GUESSED) -> Imported:
    """Read the annotations of a project that Berdseye did not make; the project is left as it is."""
    with connection.exclusively():
        project = project_by_id(connection, number)
        with judgments.reading() as database:
            exchanged = select(sync_tasks.c.id).where(sync_tasks.c.project == project.key).limit(1)
            ours = database.execute(exchanged).one_or_none() is not None
        if ours:
            raise BadInputError(
                f"Project '{project.title}' is Berdseye's own.", hint="Receive from it: berdseye label-studio receive."
            )
        items = raw_tasks(connection, number)
        people = People(judgments, connection)
    tasks = [{"id": item.id, "data": item.data, "annotations": item.annotations or []} for item in items]

    def author(who: Any) -> Annotator:
        user = who.get("id") if isinstance(who, dict) else who
        found = None if user is None else people.annotator(int(user))
        if found is None:
            raise BadInputError("its author is not known to Label Studio any more")
        return found

    return _import(judgments, tasks, rule, author)


def read_export(path: Path) -> list[RawTask]:
    """The tasks of a JSON export; raises `BadInputError` for what is none."""
    value = read_json(path)
    tasks = value if isinstance(value, list) else []
    if not tasks or not all(isinstance(task, dict) for task in tasks) or not any("data" in task for task in tasks):
        raise BadInputError(
            "This is no JSON export of Label Studio.", where=path, hint="Export as JSON, not JSON-MIN or CSV."
        )
    return tasks


def _import(judgments: Judgments, tasks: Sequence[RawTask], given: Rule, author: Author) -> Imported:
    reading = _read(judgments, tasks, rule_for(tasks, given), author)
    with judgments.reading() as connection:
        queries = by_keys(select(events.c.uid), events.c.uid, list(reading.uids.values()))
        known = {uid for query in queries for uid in connection.execute(query).scalars()}
    fresh = [place for place in reading.said if reading.uids[place] not in known]
    counts: Counter[str] = Counter()
    for batch in dict.fromkeys(reading.batches.values()):
        for places in batched_rows([place for place in fresh if reading.batches[place] == batch]):
            counts += _write(judgments, reading, Purpose("import", batch), places)
    new = sum(counts.values())
    return Imported(
        len(tasks), new, len(reading.said) - new, reading.skipped, counts["conflicts"], tuple(reading.problems)
    )


def _write(judgments: Judgments, reading: _Reading, purpose: Purpose, places: Sequence[Place]) -> Counter[str]:
    with writing(judgments.engine) as connection:
        local = read_local(connection, list({place.pair for place in places}))
        receiving = Receiving(purpose, None, local, source="import", uids=reading.uids)
        for place in places:
            ours = local.get(place)
            # What an earlier import brought was agreed on then: the annotation was changed there since.
            imported = ours is not None and ours.source == "import"
            receiving.take(place, ours.word if ours is not None and imported else None, reading.said[place])
        append_events(connection, receiving.rows)
    return receiving.counts


def _read(judgments: Judgments, tasks: Sequence[RawTask], rule: Rule, author: Author) -> _Reading:
    reading = _Reading()
    of_batch = _batches(judgments)
    records = {}
    for position, task in enumerate(tasks, start=1):
        name = f"Task {task.get('id', position)}"
        try:
            record = read_pair(task, rule)
        except BadInputError as error:
            reading.problems.append(f"{name}: {error}.")
            continue
        records[record.key] = record
        data = task["data"]
        batch = of_batch.get((str(data.get("batch")), record.key))
        for annotation in task.get("annotations") or ():
            try:
                word = read_word(annotation, task, rule)
                if word is None:
                    reading.skipped += 1
                    continue
                moment = moment_of(annotation["updated_at"])
                person = author(annotation.get("completed_by"))
            except (BadInputError, KeyError, TypeError, ValueError) as error:
                told = str(error) if isinstance(error, BadInputError) else f"its {error} cannot be read"
                reading.problems.append(f"{name}, annotation {_id(annotation)}: {told}.")
                continue
            place = Place(record.key, person.id)
            if place in reading.said and reading.said[place].newest.at >= moment:
                reading.skipped += 1
                continue
            reading.skipped += place in reading.said
            remote = RemoteAnnotation(0, None, moment, word, "", seconds_of(annotation.get("lead_time")))
            shown = bool(annotation.get("parent_prediction") or task.get("total_predictions"))
            name_there = annotation.get("unique_id") or f"{record.key} {_id(annotation)}"
            reading.said[place] = Said((remote,), shown or "decision" in data)
            reading.uids[place] = event_uid("import", name_there, person.id, moment, *word)
            reading.batches[place] = batch
    judgments.add_pairs(records.values())
    return reading


def _accounts(tasks: Sequence[RawTask]) -> Iterator[tuple[str, str]]:
    """The address and name of every author of a file that tells them."""
    for task in tasks:
        for annotation in task.get("annotations") or ():
            who = annotation.get("completed_by") if isinstance(annotation, dict) else None
            if isinstance(who, dict) and who.get("email"):
                yield _account(who)


def _account(who: Mapping[str, Any]) -> tuple[str, str]:
    email = str(who["email"])
    return email, name_of_account(who.get("first_name"), who.get("last_name"), email, who.get("id"))


def _batches(judgments: Judgments) -> dict[tuple[str, str], int]:
    """Batches by name and pair."""
    names = {batch.id: batch.name for batch in list_batches(judgments)}
    with judgments.reading() as connection:
        rows = connection.execute(select(batch_items.c.batch_id, batch_items.c.pair)).all()
    return {(names[row.batch_id], row.pair): row.batch_id for row in rows}


def _id(annotation: Any) -> Any:
    return annotation.get("id", "?") if isinstance(annotation, dict) else "?"
