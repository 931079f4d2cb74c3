"""The event log: what stands, what is taken back, what is refused, and that a simple model agrees with it."""

from typing import Any, get_args
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import event, text

from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgments, PairRecord, Verdict
from berdseye.annotation.judgments.recorded import last_undone
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import pair_key
from tests.annotation.made_pairs import record


@pytest.fixture
def ana(judgments: Judgments) -> Annotator:
    return judgments.sign_in("Ana")


@pytest.fixture
def key(judgments: Judgments) -> str:
    return judgments.add_pairs([record(0)])[0]


def said(judgments: Judgments) -> dict[tuple[str, str], str]:
    return {(j.annotator.name, j.pair): j.verdict for j in judgments.present()}


def test_the_later_judgment_counts_and_the_earlier_stays_in_the_log(
    judgments: Judgments, ana: Annotator, key: str
) -> None:
    first = judgments.judge(ana, key, "supports", source="explore", shown=True)
    second = judgments.judge(ana, key, "unsure", source="annotate", comment=" hard ", seconds=2.5, shown=False)
    [present] = judgments.present()
    assert (present.event, present.verdict, present.comment, present.seconds) == (second, "unsure", "hard", 2.5)
    assert (present.annotator, present.source) == (ana, "annotate")
    assert [(e["id"], e["verdict"], e["shown"]) for e in judgments.history(key)] == [
        (first, "supports", True),
        (second, "unsure", False),
    ]


def test_the_log_is_only_ever_added_to(judgments: Judgments, ana: Annotator, key: str) -> None:
    seen: list[dict[str, Any]] = []
    for act in (
        lambda: judgments.judge(ana, key, "supports", source="annotate"),
        lambda: judgments.judge(ana, key, "does not support", source="annotate"),
        lambda: judgments.undo(ana),
        lambda: judgments.withdraw(ana, key, source="annotate"),
        lambda: judgments.skip(ana, key, source="annotate"),
        lambda: judgments.undo(ana),
    ):
        act()
        now = judgments.history(key)
        assert now[:-1] == seen
        assert judgments.version() == len(now)
        seen = now
    assert [e["kind"] for e in seen] == ["judge", "judge", "undo", "withdraw", "skip", "undo"]


def test_undo_goes_back_step_by_step_to_the_start(judgments: Judgments, ana: Annotator) -> None:
    a, b = judgments.add_pairs([record(0), record(1)])
    judgments.judge(ana, a, "supports", source="annotate")
    judgments.judge(ana, b, "unsure", source="explore")
    judgments.judge(ana, a, "does not support", source="annotate")
    judgments.withdraw(ana, b, source="annotate")
    judgments.skip(ana, a, source="annotate")
    assert said(judgments) == {}
    states = []
    while (pair := judgments.undo(ana)) is not None:
        states.append((pair, said(judgments)))
    assert states == [
        (a, {("Ana", a): "does not support"}),
        (b, {("Ana", a): "does not support", ("Ana", b): "unsure"}),
        (a, {("Ana", a): "supports", ("Ana", b): "unsure"}),
        (b, {("Ana", a): "supports"}),
        (a, {}),
    ]
    assert judgments.undo(ana) is None


def test_undo_reads_the_last_actions_alone(judgments: Judgments, ana: Annotator, key: str) -> None:
    """Its time must not grow with the log, so that SQLite may neither read a whole table nor sort."""
    judgments.judge(ana, key, "supports", source="annotate")
    asked: list[tuple[str, Any]] = []
    listener = (judgments.engine, "before_cursor_execute", lambda *given: asked.append((given[2], given[3])))
    event.listen(*listener)
    judgments.undo(ana)
    last_undone(judgments, ana)
    event.remove(*listener)
    with judgments.reading() as connection:
        plans = [
            [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
            for statement, values in asked
            if statement.startswith("SELECT")
        ]
    steps = [step for plan in plans for step in plan]
    assert len(plans) == 4
    assert sum("events_by_person (annotator_id=?)" in step for step in steps) == 2
    assert [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step] == []


def test_undo_leaves_other_people_and_other_sources_alone(judgments: Judgments, ana: Annotator, key: str) -> None:
    bo = judgments.sign_in("Bo")
    judgments.judge(bo, key, "supports", source="annotate")
    for source in ("label-studio", "import", "demo"):
        judgments.judge(ana, key, "unsure", source=source)
    assert judgments.undo(ana) is None
    assert said(judgments) == {("Ana", key): "unsure", ("Bo", key): "supports"}


def test_undo_of_an_older_word_leaves_the_newer_one_from_label_studio(
    judgments: Judgments, ana: Annotator, key: str
) -> None:
    judgments.judge(ana, key, "supports", source="annotate")
    judgments.judge(ana, key, "does not support", source="label-studio")
    assert judgments.undo(ana) == key
    assert said(judgments) == {("Ana", key): "does not support"}


def test_skipped_pairs_are_touched_but_not_judged(judgments: Judgments, ana: Annotator) -> None:
    judged, skipped, withdrawn, _ = judgments.add_pairs(record(n) for n in range(4))
    judgments.judge(ana, judged, "supports", source="annotate")
    judgments.skip(ana, skipped, source="annotate", comment="no idea")
    judgments.judge(ana, withdrawn, "supports", source="annotate")
    judgments.withdraw(ana, withdrawn, source="annotate")
    assert judgments.judged_pairs(ana) == {judged: "judge", skipped: "skip"}
    assert said(judgments) == {("Ana", judged): "supports"}


def test_the_same_uid_is_recorded_once(judgments: Judgments, ana: Annotator, key: str) -> None:
    uid = str(uuid4())
    first = judgments.judge(ana, key, "supports", source="annotate", uid=uid)
    again = judgments.judge(ana, key, "does not support", source="annotate", uid=uid)
    assert again == first
    assert [e["verdict"] for e in judgments.history(key)] == ["supports"]
    uid = str(uuid4())
    assert judgments.withdraw(ana, key, source="annotate", uid=uid) == judgments.withdraw(
        ana, key, source="annotate", uid=uid
    )
    assert judgments.version() == 2


@pytest.mark.parametrize(
    "other", ["ana maría", "  ANA   MARÍA ", "Ana\u00a0María", "Ana Mari\u0301a", "Ana\tMaría"], ids=ascii
)
def test_names_that_differ_in_case_spacing_or_form_are_one_person(judgments: Judgments, other: str) -> None:
    first = judgments.sign_in("Ana  María")
    assert first.name == "Ana María"
    assert judgments.sign_in(other) == first
    assert judgments.annotator(other) == first
    assert judgments.annotators() == [first]


@pytest.mark.parametrize("name", ["", "   ", "x" * 121, "ß" * 61, "a\x00b", "a\u202eb"], ids=ascii)
def test_names_that_cannot_be_shown_or_stored_are_refused(judgments: Judgments, name: str) -> None:
    with pytest.raises(BadInputError, match="printable"):
        judgments.sign_in(name)
    assert judgments.annotators() == []


def test_an_unknown_name_is_answered_with_the_nearest(judgments: Judgments, ana: Annotator) -> None:
    with pytest.raises(UnknownNameError, match=f"Did you mean {ana.name}"):
        judgments.annotator("Anna")


def test_an_unknown_verdict_is_refused(judgments: Judgments, ana: Annotator, key: str) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean supports"):
        judgments.judge(ana, key, "support", source="annotate")  # type: ignore[arg-type]
    assert judgments.version() == 0
    assert get_args(Verdict) == VERDICTS


def test_an_unknown_pair_or_person_is_refused(judgments: Judgments, ana: Annotator, key: str) -> None:
    with pytest.raises(BadInputError, match="not in this judgments database"):
        judgments.judge(ana, pair_key("a passage", "nobody added"), "supports", source="annotate")
    with pytest.raises(BadInputError, match="not in this judgments database"):
        judgments.judge(Annotator(99, "Nobody", False), key, "supports", source="annotate")
    with pytest.raises(BadInputError, match="not in this judgments database"):
        judgments.skip(ana, "0" * 32, source="annotate")
    assert judgments.version() == 0


COMMENTS = {
    "html": "<script>alert('x')</script><b>bold</b> &amp;",
    "formula": '=HYPERLINK("https://example.org","click")',
    "emoji": "👩🏽‍🔬 agrees 👍",
    "right to left": "هذا لا يدعم الرأي \u200f(واضح)",
    "lines": "one\ntwo\r\nthree\ttabbed",
    "sql": "'); DROP TABLE events; --",
    "long": "word " * 5000 + "end",
}


@pytest.mark.parametrize("comment", COMMENTS.values(), ids=COMMENTS.keys())
def test_comments_are_kept_as_text(judgments: Judgments, ana: Annotator, key: str, comment: str) -> None:
    judgments.judge(ana, key, "supports", source="annotate", comment=comment)
    assert judgments.present()[0].comment == comment
    assert judgments.frame()["comment"].tolist() == [comment]


def test_characters_that_not_every_database_takes_are_replaced(judgments: Judgments, ana: Annotator, key: str) -> None:
    judgments.judge(ana, key, "supports", source="annotate", comment="a\x00b \ud800 c\x1b[31m")
    assert judgments.present()[0].comment == "a b ? c [31m"
    judgments.skip(ana, key, source="annotate", comment="\x00")
    assert judgments.history(key)[-1]["comment"] == ""


def test_pairs_are_known_once_and_stay_as_they_were(judgments: Judgments) -> None:
    first = record(0)
    other = PairRecord(**{**first.__dict__, "corpus": "books", "title": "Another title"})
    assert judgments.add_pairs([first, record(1), first]) == [first.key, record(1).key, first.key]
    assert judgments.add_pairs([other]) == [first.key]
    assert judgments.pair_records([first.key, "0" * 32]) == {first.key: first}
    assert len(judgments.pair_records()) == 2
    judgments.add_pairs([])
    assert len(judgments.pair_records()) == 2


def test_present_by_more_keys_than_one_statement_takes(judgments: Judgments, ana: Annotator) -> None:
    keys = judgments.add_pairs(record(n) for n in range(1300))
    for key in keys[::50]:
        judgments.judge(ana, key, "supports", source="annotate")
    assert [j.pair for j in judgments.present(keys[::-1])] == keys[::50]
    assert [j.pair for j in judgments.present(keys[1:] + keys[1:])] == keys[50::50]
    assert judgments.present([]) == []
    assert len(judgments.pair_records(keys)) == 1300


def test_reopening_keeps_everything(database_url: str) -> None:
    before = Judgments.open(database_url)
    ana, bo = before.sign_in("Ana"), before.sign_in("Bo", demo=True)
    keys = before.add_pairs(record(n) for n in range(5))
    for n, key in enumerate(keys):
        before.judge(ana, key, VERDICTS[n % 3], source="annotate", comment=f"comment {n}", seconds=n / 4)
    before.judge(bo, keys[0], "unsure", source="demo")
    before.withdraw(ana, keys[1], source="annotate")
    before.skip(ana, keys[2], source="annotate")
    before.undo(ana)
    kept = (before.annotators(), before.pair_records(), before.present(), before.judged_pairs(ana), before.version())
    histories = [before.history(key) for key in keys]
    before.engine.dispose()
    after = Judgments.open(database_url)
    assert (after.annotators(), after.pair_records(), after.present(), after.judged_pairs(ana), after.version()) == kept
    assert [after.history(key) for key in keys] == histories
    assert after.undo(ana) == keys[1]
    after.engine.dispose()


def test_the_frame_has_the_texts_of_its_pairs(judgments: Judgments, ana: Annotator) -> None:
    assert judgments.frame().empty
    assert {"pair", "annotator", "demo", "verdict", "passage"} <= set(judgments.frame().columns)
    keys = judgments.add_pairs([record(0), record(1)])
    judgments.judge(ana, keys[1], "supports", source="annotate")
    judgments.judge(ana, keys[0], "unsure", source="annotate")
    frame = judgments.frame()
    assert frame["pair"].tolist() == [keys[1], keys[0]]
    assert frame["passage"].tolist() == [record(1).passage, record(0).passage]
    assert frame["annotator"].tolist() == ["Ana", "Ana"]


def test_commits_are_synced_and_readers_do_not_wait(judgments: Judgments) -> None:
    with judgments.engine.connect().execution_options(read_only=True) as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar_one() == 2  # FULL
        assert connection.execute(text("PRAGMA foreign_keys")).scalar_one() == 1
    with judgments.engine.begin():  # somebody writes
        assert judgments.present() == []


class LikeTheModel(RuleBasedStateMachine):
    """Two annotators on three pairs, against a plain list of actions from which undone ones are struck."""

    @initialize()
    def begin(self) -> None:
        self.judgments = Judgments.open("sqlite://")
        self.people = [self.judgments.sign_in(name) for name in ("Ana", "Bo")]
        self.keys = self.judgments.add_pairs(record(n) for n in range(3))
        self.model: list[list[tuple[str, str, str | None]]] = [[], []]
        self.events = 0

    def done(self, who: int, pair: int, kind: str, verdict: str | None = None) -> None:
        self.model[who].append((self.keys[pair], kind, verdict))
        self.events += 1

    @rule(who=st.integers(0, 1), pair=st.integers(0, 2), verdict=st.sampled_from(VERDICTS))
    def judge(self, who: int, pair: int, verdict: Verdict) -> None:
        self.judgments.judge(self.people[who], self.keys[pair], verdict, source="annotate")
        self.done(who, pair, "judge", verdict)

    @rule(who=st.integers(0, 1), pair=st.integers(0, 2))
    def skip(self, who: int, pair: int) -> None:
        self.judgments.skip(self.people[who], self.keys[pair], source="annotate")
        self.done(who, pair, "skip")

    @rule(who=st.integers(0, 1), pair=st.integers(0, 2))
    def withdraw(self, who: int, pair: int) -> None:
        self.judgments.withdraw(self.people[who], self.keys[pair], source="explore")
        self.done(who, pair, "withdraw")

    @rule(who=st.integers(0, 1))
    def undo(self, who: int) -> None:
        undone = self.judgments.undo(self.people[who])
        expected = self.model[who].pop()[0] if self.model[who] else None
        self.events += expected is not None
        assert undone == expected

    @invariant()
    def agrees(self) -> None:
        standing = [{pair: (kind, verdict) for pair, kind, verdict in actions} for actions in self.model]
        assert {(j.annotator.id, j.pair): j.verdict for j in self.judgments.present()} == {
            (person.id, pair): verdict
            for person, words in zip(self.people, standing, strict=True)
            for pair, (kind, verdict) in words.items()
            if kind == "judge"
        }
        for person, words in zip(self.people, standing, strict=True):
            assert self.judgments.judged_pairs(person) == {
                p: kind for p, (kind, _) in words.items() if kind != "withdraw"
            }
        assert self.judgments.version() == self.events

    def teardown(self) -> None:
        if hasattr(self, "judgments"):
            self.judgments.engine.dispose()


TestLikeTheModel = LikeTheModel.TestCase
TestLikeTheModel.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
