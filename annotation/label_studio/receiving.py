"""What a word found in Label Studio means for our log: an event, an agreement noted, or nothing."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from berdseye.annotation.judgments import Source
from berdseye.annotation.label_studio.config import Word
from berdseye.annotation.label_studio.identity import event_uid
from berdseye.annotation.label_studio.merge import Step, step
from berdseye.annotation.label_studio.purpose import Purpose
from berdseye.annotation.label_studio.remote import Said
from berdseye.annotation.label_studio.sync_state import Agreed, Local, Place
from berdseye.annotation.words import PREFERENCES

_NOTHING_HELD = Local(None, "", "", "", None)


class Receiving:
    """The events of one transaction (`rows`), what both sides agree on after it, and what to count.

    `source` and, by place, `uids` are those of the events: where an import, not an exchange, gives rise to them.
    """

    def __init__(
        self,
        purpose: Purpose,
        guidelines: str | None,
        local: Mapping[Place, Local],
        *,
        source: Source = "label-studio",
        uids: Mapping[Place, str] | None = None,
    ) -> None:
        self._purpose, self._guidelines, self._local = purpose, guidelines, local
        self._source, self._uids = source, uids or {}
        self.rows: list[dict[str, Any]] = []
        self.agreed: dict[Place, Agreed] = {}
        self.counts: Counter[str] = Counter()

    def agree(self, place: Place, theirs: Said | None) -> None:
        """Note that both sides hold what is there."""
        word = theirs.word if theirs else None
        self.agreed[place] = Agreed(word, theirs.newest.id if theirs and word else None)

    def take(self, place: Place, base: Word | None, theirs: Said | None) -> None:
        """Bring a word from there into the log, by the three-way rule."""
        ours, word = self._local.get(place, _NOTHING_HELD), theirs.word if theirs else None
        decided = step(base, ours.word, word, ours_at=ours.at, theirs_at=theirs.newest.at if theirs else None)
        if decided in (Step.NOTHING, Step.SEND):
            return
        self.agree(place, theirs)
        if decided is Step.AGREED:
            return
        self.rows.append(self._their_event(place, ours, theirs))
        if decided is Step.RECEIVE:
            kind = "pulled_withdrawn" if word is None else "pulled_new" if base is None else "pulled_changed"
            self.counts[kind] += 1
            return
        self.counts["conflicts"] += 1
        if decided is Step.OURS_STANDS:
            # The log's last event is the present one: ours follows theirs, and waits to be sent.
            self.rows.append(self._our_event_again(place, ours, theirs))

    def _their_event(self, place: Place, ours: Local, theirs: Said | None) -> dict[str, Any]:
        project, word = self._purpose.project, theirs.word if theirs else None
        if theirs is None or word is None:
            # A deleted annotation has left neither id nor moment; what it takes back makes the name.
            uid = event_uid(project, "withdraw", place.pair, place.annotator, ours.uid)
            return self._event(place, uid=uid, at=datetime.now(UTC).isoformat(timespec="microseconds"), kind="withdraw")
        newest = theirs.newest
        return self._event(
            place,
            uid=self._uids.get(place) or event_uid(project, "judge", newest.id, newest.at),
            at=newest.at,
            kind="prefer" if word.verdict in PREFERENCES else "judge",
            verdict=word.verdict,
            comment=word.comment,
            seconds=newest.seconds,
            shown=theirs.shown or self._purpose.task == "verify",
            guidelines=self._guidelines,
        )

    def _our_event_again(self, place: Place, ours: Local, theirs: Said | None) -> dict[str, Any]:
        mark = (self._uids.get(place) or theirs.newest.id, theirs.newest.at) if theirs else ("deleted",)
        uid = event_uid(self._purpose.project, "again", place.pair, place.annotator, ours.uid, *mark)
        if ours.event is None:
            return self._event(place, uid=uid, at=ours.at, kind="withdraw", source=ours.source)
        kept = {name: value for name, value in ours.event.items() if name != "id"}
        return {"target": None, **kept, "uid": uid}

    def _event(self, place: Place, **fields: Any) -> dict[str, Any]:
        # Rows of one statement name the same columns.
        return {
            "annotator_id": place.annotator, "pair": place.pair, "verdict": None, "comment": "",
            "source": self._source, "target": None, "seconds": None, "shown": None,
            "batch": self._purpose.batch, "evidence": None, "guidelines": None, **fields,
        }  # fmt: skip
