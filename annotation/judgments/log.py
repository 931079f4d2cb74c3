"""People's judgments of pairs: an append-only log of events, whose present state is a database view.

Every call that writes returns only after its transaction is on disk. Nothing is overwritten: a change is a later event,
and an undo is an event that names the one it takes back.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, Engine, exists, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from berdseye.annotation.checks import check_key, is_check
from berdseye.annotation.judgments.database import frame_of, open_database, writing
from berdseye.annotation.judgments.schema import annotators, events, pairs, present
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Passage, Perspective, Question, Stance, pair_key
from berdseye.data.texts.passages import clean

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["supports", "does not support", "unsure"]
VERDICTS: tuple[Verdict, ...] = ("supports", "does not support", "unsure")
Source = Literal[
    "annotate", "explore", "search", "compare", "failures", "passage", "lab", "recent",
    "adjudicate", "label-studio", "import", "demo", "doctor",
]  # fmt: skip
"""Where a judgment was given: a page of the app, `recent` (a person's list of their last judgments), or elsewhere."""
VERDICT_KINDS = ("judge", "prefer", "check")
"""Kinds of events that carry a verdict of a person's own."""
JUDGMENT_KINDS = (*VERDICT_KINDS, "skip", "withdraw")
"""Kinds of events of which a person's latest on a pair is in force; flags and adjudications are independent of it."""
IN_THE_APP: tuple[Source, ...] = ("annotate", "explore", "search", "compare", "failures", "passage", "lab", "recent")
"""The sources of what a person does on a page: undo takes it back, and it counts in the person's day."""
_CHUNK = 500


class Annotator(NamedTuple):
    """A person who judges pairs; `demo` marks the simulated annotators of the demo workspace."""

    id: int
    name: str
    demo: bool


@dataclass(frozen=True)
class PairRecord:
    """A pair with everything that a person needs to judge it."""

    dataset: str
    question_id: str
    question: str
    perspective: str
    stance: Stance | None
    corpus: str
    title: str
    passage: str
    url: str = ""

    @classmethod
    def of(cls, question: Question, perspective: Perspective, corpus: str, passage: Passage) -> "PairRecord":
        """Build the pair of a passage of a corpus and a perspective of a question."""
        return cls(
            question.dataset, question.id, question.text, perspective.text, perspective.stance,
            corpus, passage.title, passage.text, passage.url,
        )  # fmt: skip

    @property
    def key(self) -> str:
        if is_check(self.corpus):
            return check_key(self.corpus, self.question, self.passage, self.perspective)
        return pair_key(self.passage, self.perspective)


class Judgment(NamedTuple):
    """The present judgment of one annotator on one pair."""

    event: int
    uid: str
    at: str
    annotator: Annotator
    pair: str
    verdict: Verdict
    comment: str
    source: Source
    seconds: float | None


class Judgments:
    """The judgments of a workspace."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def open(cls, url: str) -> "Judgments":
        """Open the database at a SQLAlchemy URL, and create it the first time."""
        return cls(open_database(url))

    def sign_in(self, name: str, *, demo: bool = False) -> Annotator:
        """Return the annotator of this name, created if there is none. Names that differ only in case or spacing are one person.

        Raises `BadInputError` for an empty, too long or unprintable name.
        """
        shown, folded = _shown_and_folded(name)
        if not shown or max(len(shown), len(folded)) > 120 or not shown.isprintable():
            raise BadInputError(
                f"A name must have 1 to 120 printable characters, got {max(len(shown), len(folded))}."
                if shown.isprintable()
                else f"A name must have printable characters only, got {shown[:120]!r}.",
                hint="Enter your name.",
            )
        row = {"name": shown, "folded": folded, "demo": demo, "at": now()}
        with writing(self.engine) as connection:
            connection.execute(self.insert_new(annotators, [row], "folded"))
            annotator = connection.execute(select(annotators).where(annotators.c.folded == folded)).one()
        return Annotator(annotator.id, annotator.name, annotator.demo)

    def annotators(self) -> list[Annotator]:
        """Return everyone who ever signed in, ordered by name."""
        query = select(annotators.c.id, annotators.c.name, annotators.c.demo).order_by(annotators.c.folded)
        with self.reading() as connection:
            return [Annotator(*row) for row in connection.execute(query)]

    def annotator(self, name: str) -> Annotator:
        """Return the annotator of this name; raises `UnknownNameError`."""
        people = self.annotators()
        for person in people:
            if _shown_and_folded(person.name)[1] == _shown_and_folded(name)[1]:
                return person
        raise UnknownNameError("annotator", name, [p.name for p in people])

    def add_pairs(self, records: Iterable[PairRecord]) -> list[str]:
        """Add pairs, so that they can be judged; returns their keys, in order. Pairs that are already there stay unchanged."""
        rows = [{"key": r.key, **asdict(r)} for r in records]
        unique = list({row["key"]: row for row in rows}.values())
        with writing(self.engine) as connection:
            for chunk in batched_rows(unique):
                connection.execute(self.insert_new(pairs, chunk, "key"))
        return [row["key"] for row in rows]

    def pair_records(self, keys: Sequence[str] | None = None) -> dict[str, PairRecord]:
        """Return pairs by key: all of them, or those of these keys that exist."""
        records: dict[str, PairRecord] = {}
        with self.reading() as connection:
            for query in by_keys(select(pairs), pairs.c.key, keys):
                for row in connection.execute(query).mappings():
                    fields = dict(row)
                    key = fields.pop("key")
                    records[key] = PairRecord(**fields)
        return records

    def judge(
        self,
        annotator: Annotator,
        pair: str,
        verdict: Verdict,
        *,
        source: Source,
        comment: str = "",
        seconds: float | None = None,
        shown: bool | None = None,
        uid: str | None = None,
        at: str | None = None,
    ) -> int:
        """Record a judgment; returns its event id.

        `uid` (a UUID) makes the call repeatable: one uid is recorded once, even if the reply to the first call was lost.
        `shown` says whether the detector's label was visible; `seconds` is the time the person took. The comment is stored
        without control characters (NUL among them), which not every database accepts.
        """
        if verdict not in VERDICTS:
            raise UnknownNameError("verdict", str(verdict), VERDICTS)
        return self.append(
            annotator,
            pair,
            kind="judge",
            verdict=verdict,
            comment=clean(comment),
            source=source,
            seconds=seconds,
            shown=shown,
            uid=uid,
            at=at,
        )

    def skip(self, annotator: Annotator, pair: str, *, source: Source, comment: str = "") -> int:
        """Skip a pair: it leaves this annotator's queue without a verdict."""
        return self.append(annotator, pair, kind="skip", comment=clean(comment), source=source)

    def flag(self, annotator: Annotator, pair: str, *, source: Source, comment: str = "") -> int:
        """Report a faulty text of the perspective (unclear, two in one, no view at all), or that a check is difficult; the
        verdict does not change."""
        return self.append(annotator, pair, kind="flag", comment=clean(comment), source=source)

    def withdraw(self, annotator: Annotator, pair: str, *, source: Source, uid: str | None = None) -> int:
        """Take back this annotator's judgment of a pair."""
        return self.append(annotator, pair, kind="withdraw", source=source, uid=uid)

    def undo(self, annotator: Annotator, *, within: Connection | None = None) -> str | None:
        """Take back the annotator's last action in the app, one per call; returns its pair, or None if nothing is left.

        `within` is a transaction to write in, where more has to happen in one transaction.
        """
        undos = events.alias()
        last = (
            select(events.c.id, events.c.pair)
            .where(
                events.c.annotator_id == annotator.id,
                events.c.kind != "undo",
                events.c.source.in_(IN_THE_APP),
                # Looked up event by event, newest first: a list of all undone events takes longer the more there are.
                ~exists().where(undos.c.kind == "undo", undos.c.target == events.c.id),
            )
            .order_by(events.c.id.desc())
            .limit(1)
        )
        with writing(self.engine) if within is None else nullcontext(within) as connection:
            # Two windows of one person wait for each other, so that two undos take back two actions on PostgreSQL too.
            connection.execute(select(annotators.c.id).where(annotators.c.id == annotator.id).with_for_update())
            action = connection.execute(last).one_or_none()
            if action is None:
                return None
            row = event_row(annotator, action.pair, kind="undo", source="annotate", target=action.id)
            connection.execute(events.insert().values(row))
            return str(action.pair)

    def present(self, keys: Sequence[str] | None = None) -> list[Judgment]:
        """Return every annotator's present judgments, oldest first: of all pairs, or of these keys."""
        base = (
            select(present, annotators.c.name, annotators.c.demo)
            .join(annotators, annotators.c.id == present.c.annotator_id)
            .where(present.c.kind == "judge")
        )
        rows: list[Judgment] = []
        with self.reading() as connection:
            for query in by_keys(base, present.c.pair, keys):
                for r in connection.execute(query):
                    person = Annotator(r.annotator_id, r.name, r.demo)
                    rows.append(Judgment(r.id, r.uid, r.at, person, r.pair, r.verdict, r.comment, r.source, r.seconds))
        return sorted(rows, key=lambda j: j.event)

    def judged_pairs(self, annotator: Annotator) -> dict[str, str]:
        """Return the pairs this annotator has judged or skipped, with the kind of the event: one of `VERDICT_KINDS` or 'skip'."""
        query = select(present.c.pair, present.c.kind).where(
            present.c.annotator_id == annotator.id, present.c.kind.in_((*VERDICT_KINDS, "skip"))
        )
        with self.reading() as connection:
            return {row.pair: row.kind for row in connection.execute(query)}

    def has_judged(self, annotator: Annotator) -> bool:
        """Return whether this annotator has any event here, also one that was taken back."""
        query = select(events.c.id).where(events.c.annotator_id == annotator.id).limit(1)
        with self.reading() as connection:
            return connection.execute(query).first() is not None

    def frame(self) -> "pd.DataFrame":
        """Return the present judgments, one row each, with the columns of their pairs: the basis of exports and statistics."""
        import pandas as pd  # takes long to load

        present_judgments = (
            select(
                present.c.pair,
                annotators.c.name.label("annotator"),
                annotators.c.demo,
                present.c.verdict,
                present.c.comment,
                present.c.source,
                present.c.at,
                present.c.seconds,
                present.c.shown,
                present.c.evidence,
                present.c.guidelines,
                present.c.propensity,
            )
            .join(annotators, annotators.c.id == present.c.annotator_id)
            .where(present.c.kind == "judge")
            .order_by(present.c.id)
        )
        # A pair's texts are read once, however many people judged it.
        judged = select(pairs).where(pairs.c.key.in_(select(events.c.pair).where(events.c.kind == "judge")))
        with self.reading() as connection:
            verdicts, texts = (frame_of(connection.execute(query)) for query in (present_judgments, judged))
        pair_columns = texts.drop(columns="key").take(pd.Index(texts["key"]).get_indexer(verdicts["pair"]))
        return pd.concat([verdicts, pair_columns.set_axis(verdicts.index)], axis="columns")

    def history(self, pair: str) -> list[dict[str, Any]]:
        """Return every event on a pair, oldest first."""
        query = (
            select(events, annotators.c.name.label("annotator"))
            .join(annotators, annotators.c.id == events.c.annotator_id)
            .where(events.c.pair == pair)
            .order_by(events.c.id)
        )
        with self.reading() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def version(self) -> int:
        """Return a number that grows with every event, to key caches of the present state."""
        with self.reading() as connection:
            # Not the highest id: PostgreSQL assigns ids before the commit, so a lower one may appear later.
            return int(connection.execute(select(func.count()).select_from(events)).scalar_one())

    def append(self, annotator: Annotator, pair: str, **fields: Any) -> int:
        """Add an event to the log; returns its id, or the id of the earlier event with this uid.

        Raises `BadInputError` for an unknown pair or annotator.
        """
        row = event_row(annotator, pair, **fields)
        try:
            with writing(self.engine) as connection:
                return int(connection.execute(events.insert().values(row).returning(events.c.id)).scalar_one())
        except IntegrityError as error:
            with self.reading() as connection:
                event = connection.execute(select(events.c.id).where(events.c.uid == row["uid"])).scalar_one_or_none()
            if event is not None:
                return int(event)
            raise BadInputError(
                f"Pair {pair} or annotator {annotator.name} is not in this judgments database.",
                hint="Add the pair first (`Judgments.add_pairs`).",
            ) from error

    def reading(self) -> Connection:
        """Open a connection for reading, which waits for no writer."""
        return self.engine.connect().execution_options(read_only=True)

    def insert_new(self, table: Any, rows: Sequence[dict[str, Any]], *keys: str) -> Any:
        """Build an insert that skips the rows whose keys exist."""
        dialect = sqlite if self.engine.dialect.name == "sqlite" else postgresql
        return dialect.insert(table).values(list(rows)).on_conflict_do_nothing(index_elements=list(keys))


def batched_rows(rows: Sequence[Any], size: int = _CHUNK) -> Iterable[list[Any]]:
    """Split rows into lists short enough for one SQL statement."""
    return (list(rows[start : start + size]) for start in range(0, len(rows), size))


def folded_name(name: str) -> str:
    """Return the form of a name that is equal for two names of one person."""
    return _shown_and_folded(name)[1]


def _shown_and_folded(name: str) -> tuple[str, str]:
    """Return a name as it is shown, and the form that is equal for two names of one person."""
    shown = " ".join(unicodedata.normalize("NFC", name).split())
    return shown, shown.casefold()


def by_keys(query: Any, column: Any, keys: Sequence[str] | None) -> Iterable[Any]:
    """Return the query for all rows, or for these keys in parts short enough for one SQL statement."""
    if keys is None:
        return [query]
    return (query.where(column.in_(chunk)) for chunk in batched_rows(list(dict.fromkeys(keys))))


def event_row(annotator: Annotator, pair: str, **fields: Any) -> dict[str, Any]:
    """Build a new row of the log; fields that are None are omitted."""
    present_fields = {name: value for name, value in fields.items() if value is not None}
    return {
        "uid": str(uuid4()),
        "at": now(),
        "annotator_id": annotator.id,
        "pair": pair,
        "comment": "",
        **present_fields,
    }


def now() -> str:
    """Return the present time as the log writes it: ISO 8601 in UTC, with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
