"""The import of judgments from Label Studio's JSON exports and from projects that Berdseye did not create, each once.

A `Rule` maps the texts and choices of such tasks to the fields and verdicts of Berdseye.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import select

from berdseye.annotation.batches.stored import list_batches
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgments, PairRecord, Verdict, batched_rows, by_keys
from berdseye.annotation.judgments.schema import batch_items, events, sync_tasks
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.exchange_state import Place, append_events, read_local
from berdseye.annotation.label_studio.form import RecordedVerdict, pair_of, read_judgment
from berdseye.annotation.label_studio.people import Directory, People, name_of_account
from berdseye.annotation.label_studio.project import Purpose, event_uid, project_by_id
from berdseye.annotation.label_studio.pull import PullTransaction
from berdseye.annotation.label_studio.tasks import PersonAnnotations, RemoteAnnotation, moment_of, raw_tasks, seconds_of
from berdseye.annotation.people import find_or_invite
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.files.json_files import read_json
from berdseye.data.records import STANCES
from berdseye.data.texts.passages import clean

RawTask = Mapping[str, Any]
FIELDS = ("passage", "perspective", "question", "question_id", "title", "url", "stance")
_GUESSED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "passage": ("passage", "document", "doc", "evidence", "context", "text", "answer"),
    "perspective": ("perspective", "claim", "statement", "hypothesis", "argument"),
    "question": ("question", "query", "topic", "prompt"),
    "question_id": ("question_id", "query_id", "qid", "topic_id"),
    "title": ("title",),
    "url": ("url", "link", "source_url"),
    "stance": ("stance",),
}
_GUESSED_VERDICTS: Mapping[str, Verdict] = {
    **dict.fromkeys(("supports", "support", "supported", "supporting", "yes", "true", "entails", "entailment"), "supports"),
    **dict.fromkeys(
        (
            "does not support", "not support", "not supported", "no support", "unsupported", "no", "false",
            "refutes", "opposes", "contradicts", "contradiction", "neutral", "irrelevant",
        ),
        "does not support",
    ),
    **dict.fromkeys(("unsure", "not sure", "uncertain", "unclear", "maybe", "don't know", "cannot tell"), "unsure"),
}  # fmt: skip
Author = Callable[[Any], Annotator]


@dataclass(frozen=True)
class Rule:
    """How to read tasks that Berdseye did not create; empty parts are guessed from names.

    `control` is the name of the Choices, `verdicts` gives the verdict by choice, `comment` is the name of a TextArea, `fields`
    gives the key in a task's data by field (`FIELDS`). `dataset` is the data set recorded for new pairs.
    """

    control: str = ""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    comment: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    dataset: str = "label-studio"


GUESSED = Rule()


def rule_for(tasks: Iterable[RawTask], rule: Rule) -> Rule:
    """Return the rule with its empty parts guessed from the tasks; raises `BadInputError` for what cannot be guessed.

    Tasks that Berdseye created need no rule.
    """
    foreign = [task for task in tasks if pair_of(_data(task)) is None]
    if unknown := [name for name in rule.fields if name not in FIELDS]:
        raise UnknownNameError("field", unknown[0], FIELDS)
    if wrong := [verdict for verdict in rule.verdicts.values() if verdict not in VERDICTS]:
        raise UnknownNameError("verdict", wrong[0], VERDICTS)
    if not foreign:
        return rule
    keys = Counter(key for task in foreign for key in _data(task))
    texts = dict(rule.fields)
    for name, guesses in _GUESSED_FIELDS.items():
        key_of_field = next((key for guess in guesses for key in keys if key.casefold() == guess), None)
        if name not in texts and key_of_field is not None and key_of_field not in texts.values():
            texts[name] = key_of_field
    for name in ("passage", "perspective"):
        if texts.get(name) not in keys:
            raise BadInputError(
                f"The text of a task that is the {name} cannot be guessed. The tasks have these texts: "
                f"{', '.join(sorted(keys)) or 'none'}.",
                hint=f"Name it with --field {name}=KEY.",
            )
    chosen: dict[str, Counter[str]] = {}
    comments: Counter[str] = Counter()
    for region in _regions(foreign):
        name, value = str(region.get("from_name")), region.get("value")
        if region.get("type") == "choices" and isinstance(value, dict):
            chosen.setdefault(name, Counter()).update(map(str, value.get("choices") or ()))
        elif region.get("type") == "textarea":
            comments[name] += 1
    control = rule.control or ("verdict" if "verdict" in chosen else next(iter(chosen), ""))
    if not rule.control and len(chosen) > 1 and "verdict" not in chosen:
        raise BadInputError(
            f"A task has several Choices controls: {', '.join(sorted(chosen))}.",
            hint="Name the one with the verdict: --control NAME.",
        )
    if rule.control and chosen and rule.control not in chosen:
        raise UnknownNameError("choices", rule.control, chosen)
    verdicts = {**rule.verdicts}
    for choice in chosen.get(control, ()):
        guess = _GUESSED_VERDICTS.get(choice.strip().casefold())
        if choice not in verdicts and guess is not None:
            verdicts[choice] = guess
    if unread := [choice for choice in chosen.get(control, ()) if choice not in verdicts]:
        listed = ", ".join(map(repr, unread))
        raise BadInputError(
            f"The verdicts of these choices of '{control}' cannot be guessed: {listed}.",
            hint=f"Give the verdict (supports, 'does not support' or unsure) of each: --choice {unread[0]!r}=supports.",
        )
    comment = rule.comment or ("comment" if "comment" in comments else next(iter(comments), ""))
    return Rule(control, verdicts, comment, texts, rule.dataset)


def read_pair(task: RawTask, rule: Rule) -> PairRecord:
    """Return the pair of a task; raises `BadInputError` if it has no passage or no perspective."""
    data = _data(task)
    if (ours := pair_of(data)) is not None:
        return ours
    texts = {name: clean(str(data.get(key) or "")) for name, key in rule.fields.items()}
    for name in ("passage", "perspective"):
        if not texts.get(name):
            raise BadInputError(f"it has no {name}")
    stance = texts.get("stance", "")
    question = texts.get("question", "")
    return PairRecord(
        rule.dataset, texts.get("question_id") or question, question, texts["perspective"],
        stance if stance in STANCES else None,
        rule.dataset, texts.get("title", ""), texts["passage"], texts.get("url", ""),
    )  # fmt: skip


def judgment_of(annotation: Mapping[str, Any], task: RawTask, rule: Rule) -> RecordedVerdict | None:
    """Return the judgment of an annotation; None if it was skipped. Raises `BadInputError` if it has no known verdict."""
    if annotation.get("was_cancelled"):
        return None
    result = annotation.get("result")
    if pair_of(_data(task)) is not None:
        return read_judgment(result, _data(task))
    regions = [region for region in result or [] if isinstance(region, dict)]
    values = {str(r.get("from_name")): r.get("value") for r in regions if isinstance(r.get("value"), dict)}
    choices = (values.get(rule.control) or {}).get("choices") or []
    if len(choices) != 1:
        raise BadInputError(f"it has {len(choices)} choices of '{rule.control}' instead of one")
    text = (values.get(rule.comment) or {}).get("text") or []
    comment = "\n".join(map(str, text)) if isinstance(text, list) else str(text)
    return RecordedVerdict(rule.verdicts[str(choices[0])], comment.strip())


def _data(task: RawTask) -> Mapping[str, Any]:
    data = task.get("data")
    return data if isinstance(data, dict) else {}


def _regions(tasks: Iterable[RawTask]) -> Iterator[Mapping[str, Any]]:
    for task in tasks:
        for annotation in task.get("annotations") or ():
            for region in annotation.get("result") or ():
                if isinstance(region, dict):
                    yield region


@dataclass(frozen=True)
class Imported:
    """The result of an import: the judgments `new` here and `known` already, and by task those that could not be read.

    `skipped` counts annotations without a verdict, and those that a later one by the same person on the same pair replaces.
    """

    tasks: int = 0
    new: int = 0
    known: int = 0
    skipped: int = 0
    conflicts: int = 0
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        summary = (
            f"{self.tasks} tasks: {self.new} judgments new here, {self.known} known, "
            f"{self.skipped} skipped or replaced there"
        )
        if self.conflicts:
            summary += f"; {self.conflicts} were judged here too (both judgments are kept, the later one counts)"
        return f"{summary}; {len(self.problems)} could not be read." if self.problems else f"{summary}."


@dataclass
class _Reading:
    """The annotations read: the newest one by place, with the uid of its event and the batch of its task."""

    annotations: dict[Place, PersonAnnotations] = field(default_factory=dict)
    uids: dict[Place, str] = field(default_factory=dict)
    batches: dict[Place, int | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    skipped: int = 0


def import_file(
    judgments: Judgments, path: Path, rule: Rule = GUESSED, annotators: Mapping[int, str] | None = None
) -> Imported:  # fmt: skip
    """Import a JSON export of Label Studio (not JSON-MIN, CSV or TSV). `annotators` gives people's names by their id there.

    People are identified by their e-mail address; Label Studio's own export gives their ids only. Annotations that cannot be
    read are reported by task; importing a file again adds nothing. Raises `BadInputError` for another kind of file.
    """
    tasks = read_export(path)
    directory = Directory(judgments, _accounts(tasks))
    people = {number: find_or_invite(judgments, who) for number, who in (annotators or {}).items()}

    def author(who: Any) -> Annotator:
        number = who.get("id") if isinstance(who, dict) else who
        if number in people:
            return people[number]
        if isinstance(who, dict) and who.get("email"):
            return directory.find_or_sign_in(*_account(who))
        raise BadInputError(
            f"the export gives only the id {number} of its author (name the person: --annotator {number}=ana@example.org)"
        )

    return _import(judgments, tasks, rule, author)


def import_project(judgments: Judgments, connection: Connection, number: int, rule: Rule = GUESSED) -> Imported:
    """Import the annotations of a project that Berdseye did not create, without changing the project.

    Raises `BadInputError` for a project of Berdseye, `UnknownNameError` for an unknown project.
    """
    with connection.exclusively():
        project = project_by_id(connection, number)
        with judgments.reading() as database:
            exchanged = select(sync_tasks.c.id).where(sync_tasks.c.project == project.key).limit(1)
            ours = database.execute(exchanged).one_or_none() is not None
        if ours:
            raise BadInputError(
                f"Project '{project.title}' is one of Berdseye's own projects.",
                hint="Pull from it instead: `berdseye label-studio pull`.",
            )
        items = raw_tasks(connection, number)
        people = People(judgments, connection)
    tasks = [{"id": item.id, "data": item.data, "annotations": item.annotations or []} for item in items]

    def author(who: Any) -> Annotator:
        user = who.get("id") if isinstance(who, dict) else who
        annotator = None if user is None else people.annotator(int(user))
        if annotator is None:
            raise BadInputError("its author no longer exists in Label Studio")
        return annotator

    return _import(judgments, tasks, rule, author)


def read_export(path: Path) -> list[RawTask]:
    """Read the tasks of a JSON export; raises `BadInputError` for another kind of file."""
    value = read_json(path)
    tasks = value if isinstance(value, list) else []
    if not tasks or not all(isinstance(task, dict) for task in tasks) or not any("data" in task for task in tasks):
        raise BadInputError(
            "This file is not a JSON export of Label Studio.", where=path, hint="Export as JSON, not JSON-MIN or CSV."
        )
    return tasks


def _import(judgments: Judgments, tasks: Sequence[RawTask], rule: Rule, author: Author) -> Imported:
    reading = _read(judgments, tasks, rule_for(tasks, rule), author)
    with judgments.reading() as connection:
        queries = by_keys(select(events.c.uid), events.c.uid, list(reading.uids.values()))
        known = {uid for query in queries for uid in connection.execute(query).scalars()}
    fresh = [place for place in reading.annotations if reading.uids[place] not in known]
    counts: Counter[str] = Counter()
    for batch in dict.fromkeys(reading.batches.values()):
        for places in batched_rows([place for place in fresh if reading.batches[place] == batch]):
            counts += _write(judgments, reading, Purpose("import", batch), places)
    new = sum(counts.values())
    return Imported(
        len(tasks), new, len(reading.annotations) - new, reading.skipped, counts["conflicts"], tuple(reading.problems)
    )


def _write(judgments: Judgments, reading: _Reading, purpose: Purpose, places: Sequence[Place]) -> Counter[str]:
    with writing(judgments.engine) as connection:
        local = read_local(connection, list({place.pair for place in places}))
        receiving = PullTransaction(purpose, None, local, source="import", uids=reading.uids)
        for place in places:
            ours = local.get(place)
            # An earlier import's judgment counts as agreed: the annotation was changed in Label Studio since.
            imported = ours is not None and ours.source == "import"
            receiving.take(place, ours.judgment if ours is not None and imported else None, reading.annotations[place])
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
                judgment = judgment_of(annotation, task, rule)
                if judgment is None:
                    reading.skipped += 1
                    continue
                moment = moment_of(annotation["updated_at"])
                person = author(annotation.get("completed_by"))
            except (BadInputError, KeyError, TypeError, ValueError) as error:
                reason = str(error) if isinstance(error, BadInputError) else f"its {error} cannot be read"
                reading.problems.append(f"{name}, annotation {_id(annotation)}: {reason}.")
                continue
            place = Place(record.key, person.id)
            if place in reading.annotations and reading.annotations[place].newest.at >= moment:
                reading.skipped += 1
                continue
            reading.skipped += place in reading.annotations
            remote = RemoteAnnotation(0, None, moment, judgment, "", seconds_of(annotation.get("lead_time")))
            shown = bool(annotation.get("parent_prediction") or task.get("total_predictions"))
            name_there = annotation.get("unique_id") or f"{record.key} {_id(annotation)}"
            reading.annotations[place] = PersonAnnotations((remote,), shown or "decision" in data)
            reading.uids[place] = event_uid("import", name_there, person.id, moment, *judgment)
            reading.batches[place] = batch
    judgments.add_pairs(records.values())
    return reading


def _accounts(tasks: Sequence[RawTask]) -> Iterator[tuple[str, str]]:
    """Yield the address and name of every author that a file gives with an address."""
    for task in tasks:
        for annotation in task.get("annotations") or ():
            who = annotation.get("completed_by") if isinstance(annotation, dict) else None
            if isinstance(who, dict) and who.get("email"):
                yield _account(who)


def _account(who: Mapping[str, Any]) -> tuple[str, str]:
    email = str(who["email"])
    return email, name_of_account(who.get("first_name"), who.get("last_name"), email, who.get("id"))


def _batches(judgments: Judgments) -> dict[tuple[str, str], int]:
    """Return the ids of batches by name and pair."""
    names = {batch.id: batch.name for batch in list_batches(judgments)}
    with judgments.reading() as connection:
        rows = connection.execute(select(batch_items.c.batch_id, batch_items.c.pair)).all()
    return {(names[row.batch_id], row.pair): row.batch_id for row in rows}


def _id(annotation: Any) -> Any:
    return annotation.get("id", "?") if isinstance(annotation, dict) else "?"
