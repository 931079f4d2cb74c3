"""Errors keep their words wherever they go."""

import pickle

import pytest

from berdseye.data.errors import BadInputError, BerdseyeError, StaleError, UnavailableError, UnknownNameError

ERRORS: list[BerdseyeError] = [
    BadInputError("The row is bad.", where="a.tsv", line=3, hint="Mend it."),
    UnknownNameError("detector", "embeded", ["embedded", "random"]),
    StaleError("It is old."),
    UnavailableError("It is not there.", where="x"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_errors_travel_between_processes_as_they_are(error: BerdseyeError) -> None:
    there = pickle.loads(pickle.dumps(error))
    assert type(there) is type(error)
    assert str(there) == str(error)
    assert (there.what, there.where, there.line, there.hint) == (error.what, error.where, error.line, error.hint)
