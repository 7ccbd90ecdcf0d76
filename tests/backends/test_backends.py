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


THREE = """# static
x0 = tensor("float32", [1], [2.0], grad=True)
x1 = tensor("int64", [1], [1])
v0 = paddle.static.nn.switch_case(x1, {0: lambda: x0 + x0, 2: lambda: paddle.tanh(x0)}, default=lambda: x0 + x0)
v1 = paddle.mod(v0, v0)
gradients(["v0", "v1"], ["x0"], seeded=False)"""


@pytest.mark.parametrize("name", BACKENDS)
def test_three_gradients_meet_within_a_branch(name: str) -> None:
    expected = on("numpy", THREE)
    assert expected["refused"] is None
    assert difference(THREE, expected, on(name, THREE)) is None


def test_powers_of_negative_numbers_stay_nan_under_a_logarithm_on_jax() -> None:
    text = '# static\nx0 = tensor("float32", [2], [-2.0, 3.0], grad=True)\nv0 = (x0 ** 0.5).log()'
    assert difference(text, on("numpy", text), on("jax", text)) is None


FOLDED = f"""# static
x0 = tensor("float32", [1, 4, 9], {[1.5] * 36}, grad=True)
v0 = paddle.nn.functional.fold(x0, [4, 4], 2, strides=1)
gradients(["v0"], ["x0"], seeded=False)"""


@pytest.mark.parametrize("name", BACKENDS)
def test_windows_of_a_constant_that_numpy_holds(name: str) -> None:
    expected = on("numpy", FOLDED)
    assert expected["grads"]["x0"]["values"] == [1.0] * 36
    assert difference(FOLDED, expected, on(name, FOLDED)) is None


def test_a_backend_that_computes_something_else_is_found() -> None:
    text = '# static\nx0 = tensor("float32", [2], [1.0, 2.0], grad=True)\nv0 = x0 * x0\ngradients(["v0"], ["x0"])'
    right = on("numpy", text)
    wrong = on("numpy", text.replace("x0 * x0", "x0 * x0 * x0"))
    gap = difference(text, right, wrong)
    assert gap is not None
    assert gap.class_ == ("values value", "*")
