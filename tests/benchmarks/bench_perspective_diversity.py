"""P.D. with the answer read once, against each partial answer read with the whole answer before it, in one run.

SmolLM2-135M-Instruct in float32 on one processor thread; token ids are drawn at random, which changes no time. For n partial
answers of p tokens and an answer of a tokens the arithmetic promises n(a + p) / (a + np).
"""

import time
from collections.abc import Callable

import numpy as np
import pytest
import torch

from berdseye.evaluation.answer_measures.losses import Doubles, shared_losses, whole_losses
from tests.evaluation.answer_measures.answer_models import smollm_model

SHAPES = ((400, 40, 4), (400, 60, 8), (800, 60, 8))
"""a, p, n; answers of the 1,000 released ones have about 400 tokens."""


@pytest.mark.benchmark
@pytest.mark.timeout(1800)
def test_the_answer_is_read_once() -> None:
    model = smollm_model().load().model
    rng = np.random.default_rng(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for a, p, n in SHAPES:
            answer = rng.integers(100, 40_000, a).tolist()
            sequences = [answer + rng.integers(100, 40_000, p).tolist() for _ in range(n)]
            shared, fast = timed(lambda s=sequences, a=a: shared_losses(model, s, [a] * len(s)))  # type: ignore[misc]
            whole, slow = timed(lambda s=sequences, a=a: whole_losses(model, s, [a] * len(s)))  # type: ignore[misc]
            promised = n * (a + p) / (a + n * p)
            apart = float(np.abs(np.exp(shared / p) / np.exp(whole / p) - 1).max())
            print(
                f"\na={a} p={p} n={n}: once {fast:.2f} s, each time {slow:.2f} s: {slow / fast:.2f}x "
                f"(arithmetic {promised:.2f}x); perplexities apart by {apart:.1e} of their value"
            )
            assert apart < 1e-3
            assert slow / fast >= 0.7 * promised
    finally:
        torch.set_num_threads(threads)


def timed(run: Callable[[], Doubles], times: int = 2) -> tuple[Doubles, float]:
    """The result, and processor seconds of the fastest run, which other processes sway less than the clock."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        found = run()
        taken.append(time.process_time() - started)
    return found, min(taken)
