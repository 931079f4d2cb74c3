"""People's word on pairs: an append-only log of events, whose present state is a view.

Every call that writes returns only after its transaction is on disk. Nothing is overwritten: a change is a later event,
an undo is an event that names the one it takes back.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple
from uuid import uuid4

import pandas as pd
from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from berdseye.annotation.judgments.database import frame_of, open_database, writing
from berdseye.annotation.judgments.schema import annotators, events, pairs, present
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Passage, Perspective, Question, Stance, pair_key
from berdseye.data.texts.passages import clean

Verdict = Literal["supports", "does not support", "unsure"]
VERDICTS: tuple[Verdict, ...] = ("supports", "does not support", "unsure")
Source = Literal["explore", "annotate", "adjudicate", "label-studio", "import", "demo", "doctor"]
WORD_KINDS = ("judge", "prefer", "skip", "withdraw")
"""Kinds of events of which a person's latest on a pair stands; flags and adjudications stand beside it."""
_UNDOABLE = ("explore", "annotate")
_CHUNK = 500


class Annotator(NamedTuple):
    """A person who judges; `demo` marks the made-up people of the demo workspace."""

    id: int
    name: str
    demo: bool


@dataclass(frozen=True)
class PairRecord:
    """A pair with all that a person needs to judge it."""

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
        """The pair of a passage of a corpus and a perspective of a question."""
        return cls(
            question.dataset, question.id, question.text, perspective.text, perspective.stance,
            corpus, passage.title, passage.text, passage.url,
        )  # fmt: skip

    @property
    def key(self) -> str:
        return pair_key(self.passage, self.perspective)


class Judgment(NamedTuple):
    """The present word of one annotator on one pair."""

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
        """Open (and, the first time, create) the database at a SQLAlchemy URL."""
        return cls(open_database(url))

    def sign_in(self, name: str, *, demo: bool = False) -> Annotator:
        """The annotator of this name, new or known. Names that differ only in case or spacing are one person."""
        shown, folded = _shown_and_folded(name)
        if not shown or max(len(shown), len(folded)) > 120 or not shown.isprintable():
            raise BadInputError("A name has between 1 and 120 printable characters.", hint="Enter your name.")
        row = {"name": shown, "folded": folded, "demo": demo, "at": now()}
        with writing(self.engine) as connection:
            connection.execute(self.insert_new(annotators, [row], "folded"))
            found = connection.execute(select(annotators).where(annotators.c.folded == folded)).one()
        return Annotator(found.id, found.name, found.demo)

    def annotators(self) -> list[Annotator]:
        """Everyone who ever signed in, by name."""
        query = select(annotators.c.id, annotators.c.name, annotators.c.demo).order_by(annotators.c.folded)
        with self.reading() as connection:
            return [Annotator(*row) for row in connection.execute(query)]

    def annotator(self, name: str) -> Annotator:
        """The annotator of this name; raises `UnknownNameError`."""
        known = self.annotators()
        for person in known:
            if _shown_and_folded(person.name)[1] == _shown_and_folded(name)[1]:
                return person
        raise UnknownNameError("annotator", name, [p.name for p in known])

    def add_pairs(self, records: Iterable[PairRecord]) -> list[str]:
        """Make pairs known, so that they can be judged; returns their keys, in order. Known ones stay as they are."""
        rows = [{"key": r.key, **asdict(r)} for r in records]
        unique = list({row["key"]: row for row in rows}.values())
        with writing(self.engine) as connection:
            for chunk in batched_rows(unique):
                connection.execute(self.insert_new(pairs, chunk, "key"))
        return [row["key"] for row in rows]

    def pair_records(self, keys: Sequence[str] | None = None) -> dict[str, PairRecord]:
        """Known pairs by key: all of them, or those asked for that exist."""
        found: dict[str, PairRecord] = {}
        with self.reading() as connection:
            for query in by_keys(select(pairs), pairs.c.key, keys):
                for row in connection.execute(query).mappings():
                    fields = dict(row)
                    key = fields.pop("key")
                    found[key] = PairRecord(**fields)
        return found

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

        `uid` (a UUID) makes the call repeatable: the same uid is recorded once, whatever happened to the first answer.
        `shown` says whether the detector's label was visible; `seconds` is the time the person took. A comment is kept
        without the control characters (NUL among them) that not every database takes.
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
        """Put a pair aside: it leaves this annotator's queue without a verdict."""
        return self.append(annotator, pair, kind="skip", comment=clean(comment), source=source)

    def flag(self, annotator: Annotator, pair: str, *, source: Source, comment: str = "") -> int:
        """Say that a perspective's text is no good (unclear, two in one, no view at all); the verdict stays as it is."""
        return self.append(annotator, pair, kind="flag", comment=clean(comment), source=source)

    def withdraw(self, annotator: Annotator, pair: str, *, source: Source, uid: str | None = None) -> int:
        """Take back whatever this annotator said of a pair."""
        return self.append(annotator, pair, kind="withdraw", source=source, uid=uid)

    def undo(self, annotator: Annotator, *, within: Connection | None = None) -> str | None:
        """Take back the annotator's last action made in the app, step by step; returns its pair, None at the start.

        `within` is a transaction to do it in, where more has to happen at once.
        """
        undone = select(events.c.target).where(events.c.kind == "undo", events.c.annotator_id == annotator.id)
        last = (
            select(events.c.id, events.c.pair)
            .where(
                events.c.annotator_id == annotator.id,
                events.c.kind != "undo",
                events.c.source.in_(_UNDOABLE),
                events.c.id.not_in(undone),
            )
            .order_by(events.c.id.desc())
            .limit(1)
        )
        with writing(self.engine) if within is None else nullcontext(within) as connection:
            # Two windows of one person wait for each other, so that two undos take back two actions on PostgreSQL too.
            connection.execute(select(annotators.c.id).where(annotators.c.id == annotator.id).with_for_update())
            found = connection.execute(last).one_or_none()
            if found is None:
                return None
            row = event_row(annotator, found.pair, kind="undo", source="annotate", target=found.id)
            connection.execute(events.insert().values(row))
            return str(found.pair)

    def present(self, keys: Sequence[str] | None = None) -> list[Judgment]:
        """Every annotator's present verdicts, oldest first: of all pairs, or of those given."""
        base = (
            select(present, annotators.c.name, annotators.c.demo)
            .join(annotators, annotators.c.id == present.c.annotator_id)
            .where(present.c.kind == "judge")
        )
        found: list[Judgment] = []
        with self.reading() as connection:
            for query in by_keys(base, present.c.pair, keys):
                for r in connection.execute(query):
                    person = Annotator(r.annotator_id, r.name, r.demo)
                    found.append(Judgment(r.id, r.uid, r.at, person, r.pair, r.verdict, r.comment, r.source, r.seconds))
        return sorted(found, key=lambda j: j.event)

    def judged_pairs(self, annotator: Annotator) -> dict[str, str]:
        """Pairs this annotator has judged or skipped, with the kind of the present event ('judge', 'prefer' or 'skip')."""
        query = select(present.c.pair, present.c.kind).where(
            present.c.annotator_id == annotator.id, present.c.kind.in_(("judge", "prefer", "skip"))
        )
        with self.reading() as connection:
            return {row.pair: row.kind for row in connection.execute(query)}

    def has_judged(self, annotator: Annotator) -> bool:
        """Whether this annotator ever gave a word here, kept or taken back."""
        query = select(events.c.id).where(events.c.annotator_id == annotator.id).limit(1)
        with self.reading() as connection:
            return connection.execute(query).first() is not None

    def frame(self) -> pd.DataFrame:
        """Present judgments beside their pairs, a row each: what exports and statistics start from."""
        words = (
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
            )
            .join(annotators, annotators.c.id == present.c.annotator_id)
            .where(present.c.kind == "judge")
            .order_by(present.c.id)
        )
        # A pair's texts are read once, however many people judged it.
        judged = select(pairs).where(pairs.c.key.in_(select(events.c.pair).where(events.c.kind == "judge")))
        with self.reading() as connection:
            found, texts = (frame_of(connection.execute(query)) for query in (words, judged))
        beside = texts.drop(columns="key").take(pd.Index(texts["key"]).get_indexer(found["pair"]))
        return pd.concat([found, beside.set_axis(found.index)], axis="columns")

    def history(self, pair: str) -> list[dict[str, Any]]:
        """Every event on a pair, oldest first."""
        query = (
            select(events, annotators.c.name.label("annotator"))
            .join(annotators, annotators.c.id == events.c.annotator_id)
            .where(events.c.pair == pair)
            .order_by(events.c.id)
        )
        with self.reading() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def version(self) -> int:
        """A number that grows with every event: what caches of the present state are keyed by."""
        with self.reading() as connection:
            # Not the highest id: PostgreSQL hands ids out before commit, so a lower one may appear later.
            return int(connection.execute(select(func.count()).select_from(events)).scalar_one())

    def append(self, annotator: Annotator, pair: str, **fields: Any) -> int:
        """Add an event to the log; returns its id, that of the first where its uid is known."""
        row = event_row(annotator, pair, **fields)
        try:
            with writing(self.engine) as connection:
                return int(connection.execute(events.insert().values(row).returning(events.c.id)).scalar_one())
        except IntegrityError as error:
            with self.reading() as connection:
                known = connection.execute(select(events.c.id).where(events.c.uid == row["uid"])).scalar_one_or_none()
            if known is not None:
                return int(known)
            raise BadInputError(
                f"Pair {pair} or annotator {annotator.name} is not known here.", hint="Add the pair first."
            ) from error

    def reading(self) -> Connection:
        """A connection that waits for no writer."""
        return self.engine.connect().execution_options(read_only=True)

    def insert_new(self, table: Any, rows: Sequence[dict[str, Any]], *keys: str) -> Any:
        """An insert that leaves rows alone whose keys are there."""
        dialect = sqlite if self.engine.dialect.name == "sqlite" else postgresql
        return dialect.insert(table).values(list(rows)).on_conflict_do_nothing(index_elements=list(keys))


def batched_rows(rows: Sequence[Any], size: int = _CHUNK) -> Iterable[list[Any]]:
    """Rows in lists short enough for one SQL statement."""
    return (list(rows[start : start + size]) for start in range(0, len(rows), size))


def folded_name(name: str) -> str:
    """What tells whether two names are one."""
    return _shown_and_folded(name)[1]


def _shown_and_folded(name: str) -> tuple[str, str]:
    """A name as it is shown, and what tells whether two names are one."""
    shown = " ".join(unicodedata.normalize("NFC", name).split())
    return shown, shown.casefold()


def by_keys(query: Any, column: Any, keys: Sequence[str] | None) -> Iterable[Any]:
    """A query for all, or for these keys, in parts short enough for one SQL statement."""
    if keys is None:
        return [query]
    return (query.where(column.in_(chunk)) for chunk in batched_rows(list(dict.fromkeys(keys))))


def event_row(annotator: Annotator, pair: str, **fields: Any) -> dict[str, Any]:
    """A new row of the log; fields that are None are left out."""
    given = {name: value for name, value in fields.items() if value is not None}
    return {
        "uid": str(uuid4()),
        "at": now(),
        "annotator_id": annotator.id,
        "pair": pair,
        "comment": "",
        **given,
    }


def now() -> str:
    """The time as the log writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
