"""The seconds of a pair, without breaks."""

from berdseye.app.components.working_time import LONGEST_THOUGHT, WorkingTime


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_pair_is_timed_from_first_sight_and_taken_once() -> None:
    clock = Clock()
    time = WorkingTime(clock)
    time.show("a")
    clock.now += 3
    time.show("a")
    clock.now += 2
    taken = time.take("a")
    assert taken is not None
    assert taken[0] == 5.0
    assert time.take("a") is None
    assert time.take("never seen") is None


def test_a_break_is_not_in_the_seconds_of_the_pair() -> None:
    clock = Clock()
    time = WorkingTime(clock)
    time.show("a")
    clock.now += 4
    time.rest()
    assert time.minutes() == 0.0
    clock.now += 900
    time.show("a")
    clock.now += 1
    taken = time.take("a")
    assert taken is not None
    assert taken[0] == 5.0


def test_minutes_run_from_the_last_break_and_being_away_is_one() -> None:
    clock = Clock()
    time = WorkingTime(clock)
    for _ in range(10):
        time.show("a")
        clock.now += 60
    assert time.minutes() == 10.0
    clock.now += LONGEST_THOUGHT + 1
    time.show("b")
    assert time.minutes() == 0.0
    time.restart()
    assert time.take("b") is None
