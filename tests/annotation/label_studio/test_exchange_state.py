"""The three-way rule of an exchange, and its report: no server needed."""

import pytest

from berdseye.annotation.label_studio.exchange_state import ExchangeReport, Step, step
from berdseye.annotation.label_studio.form import RecordedVerdict

A, B, C = RecordedVerdict("supports", ""), RecordedVerdict("does not support", "why"), RecordedVerdict("unsure", "")


@pytest.mark.parametrize(
    ("base", "local", "remote", "expected"),
    [
        (None, None, None, Step.NOTHING),
        (A, A, A, Step.NOTHING),
        (None, A, A, Step.AGREED),
        (A, None, None, Step.AGREED),
        (None, None, A, Step.RECEIVE),
        (A, A, B, Step.RECEIVE),
        (A, A, None, Step.RECEIVE),
        (None, A, None, Step.SEND),
        (A, B, A, Step.SEND),
        (A, None, A, Step.SEND),
        (A, B, C, Step.THEIRS_IS_LATER),
        (None, A, B, Step.THEIRS_IS_LATER),
        (A, None, B, Step.THEIRS_IS_LATER),
    ],
)
def test_the_three_way_rule(
    base: RecordedVerdict | None, local: RecordedVerdict | None, remote: RecordedVerdict | None, expected: Step
) -> None:
    assert step(base, local, remote, ours_at="2026-01-01", theirs_at="2026-01-02") is expected


def test_the_later_word_stands_and_a_deletion_without_moment_yields() -> None:
    assert step(A, B, C, ours_at="2026-01-03", theirs_at="2026-01-02") is Step.OURS_IS_LATER
    assert step(A, B, None, ours_at="2026-01-01", theirs_at=None) is Step.OURS_IS_LATER


def test_the_report_is_one_line() -> None:
    report = ExchangeReport(tasks_created=2) + ExchangeReport(conflicts=1, problems=("first", "first"))
    assert "2 tasks" in str(report)
    assert "first" in str(report)
    assert "\n" not in str(report)
    assert report.problems == ("first",)
