"""The ten forms against the cosines that their descriptions state, in double precision."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from berdseye.data.records import Scores
from berdseye.retrieval.projection.forms import FORMS, ROOTED, SHIFTED, Form
from tests.retrieval.projection.naive_forms import NAIVE, Vector, Vectors, cos, without

# Hundredths, so that nothing is nearly zero without being zero.
NUMBERS = st.integers(-200, 200).map(lambda n: n / 100)
VECTORS = arrays(np.float64, 4, elements=NUMBERS)


def score(form: Form, c: Vector, p: Vector) -> float:
    a, b, s = (np.array([v.astype(np.float32) @ c.astype(np.float32)], np.float32) for v in (form.v, p, c))
    return float(form.score(a, b, s)[0])


def form_of(name: str, q: Vector, r: Vector, p: Vector, w: float) -> Form:
    single: list[Scores] = [v.astype(np.float32) for v in (q, r, p)]
    return FORMS[name](*single, w)


def test_there_are_ten() -> None:
    assert FORMS.keys() == NAIVE.keys()
    assert len(FORMS) == 10


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=60, deadline=None)
@given(c=VECTORS, q=VECTORS, r=VECTORS, p=VECTORS, w=st.sampled_from([0.0, 0.5, 1.0, 1.7, 2.0]), unit=st.booleans())
def test_a_form_is_its_formula(name: str, c: Vector, q: Vector, r: Vector, p: Vector, w: float, unit: bool) -> None:
    """For passages of length 1, and of any other length."""
    assume(c.any())
    c = c / np.linalg.norm(c) if unit else c
    # Differences that are all but nothing have no direction that float32 could tell.
    for rest in (without(q, p, w), without(c, p, w), q - w * p, c - w * p, r + w * p, c + w * p):
        assume(np.linalg.norm(rest) > 0.01)
    assert score(form_of(name, q, r, p, w), c, p) == pytest.approx(NAIVE[name](Vectors(c, q, r, p), w), abs=2e-4)


@pytest.mark.parametrize("name", FORMS)
def test_a_perspective_without_a_vector_changes_nothing(name: str) -> None:
    """It has no direction to add or to take away."""
    rng = np.random.default_rng(0)
    c, q, r = (v / np.linalg.norm(v) for v in rng.normal(size=(3, 8)))
    zero = np.zeros(8)
    expected = {"dual-sum": cos(r, c), "tri-sum": cos(q, c) + cos(r, c), "concat": cos(r, c) / np.sqrt(2)}
    plain = cos(r if name in ROOTED else q, c)
    assert score(form_of(name, q, r, zero, 1.0), c, zero) == pytest.approx(expected.get(name, plain), abs=1e-6)


@pytest.mark.parametrize("name", ["pap", "pap+"])
@pytest.mark.parametrize("factor", [1.0, -0.3, 7.1])
def test_where_the_query_is_the_perspective_nothing_is_left_to_rank_by(name: str, factor: float) -> None:
    rng = np.random.default_rng(1)
    for q in rng.normal(size=(50, 16)):
        c = rng.normal(size=16)
        assert score(form_of(name, q, q, factor * q, 1.0), c / np.linalg.norm(c), factor * q) == 0.0


@pytest.mark.parametrize(("name", "sign"), [("pap+", 1.0), ("cast+", 1.0), ("add+", -1.0)])
def test_where_the_passage_is_the_perspective_nothing_is_left_of_it(name: str, sign: float) -> None:
    """Its cosine is 0, and not whatever rounding makes of 0 / 0."""
    rng = np.random.default_rng(2)
    for c, q in rng.normal(size=(50, 2, 16)):
        c = c / np.linalg.norm(c)
        assert score(form_of(name, q, q, sign * c, 1.0), c, sign * c) == pytest.approx(0.0, abs=1e-3)


def test_those_that_any_index_can_search() -> None:
    rng = np.random.default_rng(3)
    q, r, p = rng.normal(size=(3, 8))
    linear = {name for name in FORMS if form_of(name, q, r, p, 1.0).linear}
    assert linear == {"pap", "add", "concat", "concat+", "cast", "dual-sum", "tri-sum"}
    assert {name for name in FORMS if form_of(name, q, r, p, 0.0).linear} == set(FORMS)


def test_forms_that_use_the_root() -> None:
    rng = np.random.default_rng(4)
    c, q, r, other, p = rng.normal(size=(5, 8))
    changed = {n for n in FORMS if score(form_of(n, q, r, p, 1.0), c, p) != score(form_of(n, q, other, p, 1.0), c, p)}
    assert changed == ROOTED


def test_forms_that_depend_on_the_length_of_a_passage() -> None:
    rng = np.random.default_rng(5)
    c, q, r, p = rng.normal(size=(4, 8))
    changed = {
        name
        for name in FORMS
        if score(form_of(name, q, r, p, 1.0), c, p)
        != pytest.approx(score(form_of(name, q, r, p, 1.0), 3 * c, p), abs=1e-5)
    }
    assert changed == SHIFTED
