"""Some random programs on each backend; ``python -m tests.backends`` takes as many as are asked for."""

from __future__ import annotations

import pytest

from tests.differential.programs import drawn
from tests.jax import conftest as conftest  # JAX reads its settings when it is first imported

from .comparing import BACKENDS, difference, on
from .decided import reason_of

SEEDS = range(13_000_000, 13_000_012)


@pytest.mark.parametrize("name", BACKENDS)
def test_random_programs_give_what_numpy_gives(name: str) -> None:
    differing = []
    for seed in SEEDS:
        text = drawn(seed, "static", "chain")
        gap = difference(text, on("numpy", text), on(name, text))
        if gap is not None and not reason_of(name, text, gap):
            differing.append(f"{gap.kind} of {gap.function}: {gap.ours} instead of {gap.theirs}\n{text}")
    assert not differing, "\n\n".join(differing)


def test_a_backend_that_computes_something_else_is_found() -> None:
    text = '# static\nx0 = tensor("float32", [2], [1.0, 2.0], grad=True)\nv0 = x0 * x0\ngradients(["v0"], ["x0"])'
    right = on("numpy", text)
    wrong = on("numpy", text.replace("x0 * x0", "x0 * x0 * x0"))
    gap = difference(text, right, wrong)
    assert gap is not None
    assert gap.class_ == ("values value", "*")
