"""The rules by which a hole gets its reason, on constructed cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.evaluation.failures.reasons import REASONS, Circumstances, attribute

K = 5


def case(rank: int, *facts: str, elsewhere: int = 0) -> Circumstances:
    """One perspective of one question, of which some facts are true."""
    one = {
        name: np.array([[name in facts]], dtype=bool) for name in ("flagged", "contradicted", "disputed", "unjudged")
    }
    return Circumstances(np.array([[rank]]), np.array([[elsewhere]]), **one)


@pytest.mark.parametrize(
    ("circumstances", "reason"),
    [
        (case(0), "not in the pool"),
        (case(0, elsewhere=100), "another pipeline"),
        (case(6), "below k"),
        (case(100, elsewhere=1), "below k"),
        (case(0, "unjudged", elsewhere=3), "unjudged"),
        (case(7, "unjudged"), "unjudged"),
        (case(7, "disputed", "unjudged"), "disputed"),
        (case(0, "contradicted", "disputed"), "detector against people"),
        (case(9, "flagged", "contradicted", "disputed", "unjudged", elsewhere=2), "flagged"),
        (case(1), None),
        (case(5, "flagged", "disputed"), None),
        (case(-1, "flagged"), None),
    ],
)
def test_each_rule(circumstances: Circumstances, reason: str | None) -> None:
    assert attribute(circumstances, K).tolist() == [[reason]]


@given(st.data())
def test_every_hole_has_one_reason_and_nothing_else_has(data: st.DataObject) -> None:
    shape = (4, 3)

    def drawn(low: int, high: int) -> np.ndarray:
        return np.array(data.draw(st.lists(st.integers(low, high), min_size=12, max_size=12))).reshape(shape)

    facts = [drawn(0, 1).astype(bool) for _ in range(4)]
    circumstances = Circumstances(drawn(-1, 9), drawn(0, 9), *facts)
    found = attribute(circumstances, K)
    missing = (circumstances.ranks == 0) | (circumstances.ranks > K)
    assert [[r in REASONS for r in row] for row in found] == missing.tolist()
    # A greater k never makes a hole.
    assert not (missing < ((circumstances.ranks == 0) | (circumstances.ranks > K + 1))).any()
