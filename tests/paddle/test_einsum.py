"""``paddle.einsum``: values against NumPy, gradients, the order of products, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, ShapeError, UsageError
from tests.paddle.one_program import variables

RNG = np.random.default_rng(21)

CASES = [
    ("ij,jk->ik", [(2, 3), (3, 4)], None),
    ("ij , jk", [(2, 3), (3, 4)], "ij,jk->ik"),
    ("IJ,JK->IK", [(2, 3), (3, 4)], "ij,jk->ik"),
    ("ba", [(2, 3)], "ba->ab"),
    ("ii->i", [(3, 3)], None),
    ("iij->j", [(2, 2, 3)], None),
    ("ii", [(3, 3)], "ii->"),
    ("ij->", [(2, 3)], None),
    ("i,j->ji", [(2,), (3,)], None),
    ("...ij,...jk", [(5, 2, 3), (3, 4)], "...ij,...jk->...ik"),
    ("b...ij,b...jk->b...ik", [(5, 6, 2, 3), (5, 6, 3, 4)], None),
    ("i...->...", [(2, 3, 4)], None),
    ("...,...", [(2, 3), (3,)], "...,...->..."),
    ("...i,...i->...", [(2, 3), (3,)], None),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], None),
    ("i,j,k->kij", [(2,), (3,), (4,)], None),
    ("ij,jk,k", [(2, 3), (3, 4), (4,)], "ij,jk,k->i"),
    ("ab,bc,cd,de,ef,fg->ag", [(2, 3), (3, 4), (4, 5), (5, 2), (2, 3), (3, 2)], None),
]


def run(fetch: list[Any], arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    return paddle.static.Executor().run(feed=arrays, fetch_list=fetch)


@pytest.mark.parametrize(("equation", "shapes", "plain"), CASES)
def test_values_and_gradients(equation: str, shapes: list[tuple[int, ...]], plain: str | None) -> None:
    arrays = {f"v{i}": RNG.normal(size=s) for i, s in enumerate(shapes)}
    operands = list(variables(arrays).values())
    out = paddle.einsum(equation, *operands)
    plain = plain or equation
    expected = np.einsum(plain, *arrays.values())
    weight = RNG.normal(size=expected.shape)
    grads = paddle.static.gradients([out], operands, [paddle.to_tensor(weight, dtype="float64")])
    result, *gradients = run([out, *grads], arrays)
    np.testing.assert_allclose(result, expected, rtol=1e-11)
    for i, gradient in enumerate(gradients):
        along = RNG.normal(size=shapes[i])
        changed = [along if j == i else a for j, a in enumerate(arrays.values())]
        change = float((np.einsum(plain, *changed) * weight).sum())
        assert float((gradient * along).sum()) == pytest.approx(change, rel=1e-9)


def test_three_operands_are_multiplied_two_at_a_time_in_the_cheapest_order() -> None:
    def equations(equation: str, *shapes: tuple[int, ...]) -> list[tuple[str, list[str]]]:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            operands = [paddle.static.data(f"v{i}", list(s)) for i, s in enumerate(shapes)]
            paddle.einsum(equation, *operands)
            ops = paddle.static.default_main_program().global_block().ops
            return [(o.attr("equation"), o.input("Operands")) for o in ops]

    middle = "einsum_0.tmp_0"
    assert equations("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)) == [
        ("jk,ij->ki", ["v1", "v0"]),
        ("ki,kl->il", [middle, "v2"]),
    ]
    assert equations("i,j,k->ijk", (2,), (3,), (4,)) == [("j,i->ji", ["v1", "v0"]), ("ji,k->ijk", [middle, "v2"])]
    assert equations("ij,jk,k->i", (2, 3), (3, 4), (4,)) == [("k,jk->j", ["v2", "v1"]), ("j,ij->i", [middle, "v0"])]


def test_names_and_unknown_dimensions() -> None:
    x, y = paddle.static.data("x", [None, 3]), paddle.static.data("y", [3, 4])
    out = paddle.einsum("ij,jk", [x, y])
    assert (out.name, list(out.shape)) == ("einsum_0.tmp_0", [-1, 4])
    ones = np.ones((5, 3), "float32"), np.ones((3, 4), "float32")
    (result,) = run([out], {"x": ones[0], "y": ones[1]})
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, 3.0)


def test_sizes_of_one_are_repeated() -> None:
    arrays = {"x": RNG.normal(size=(2, 3)), "y": RNG.normal(size=(4, 1))}
    x, y = variables(arrays).values()
    out = paddle.einsum("ij,kj->ik", x, y)
    (gradient,) = paddle.static.gradients([out], [y])
    result, grad = run([out, gradient], arrays)
    np.testing.assert_allclose(result, arrays["x"].sum(1)[:, None] * arrays["y"][:, 0], rtol=1e-12)
    np.testing.assert_allclose(grad, np.full((4, 1), arrays["x"].sum()), rtol=1e-12)


def test_third_gradient() -> None:
    x = RNG.normal(size=(3, 3))
    data = variables({"x": x})["x"]
    out = paddle.einsum("ij,jk,ki->", data, data, data)  # the trace of the cube
    for _ in range(3):
        (out,) = paddle.static.gradients([paddle.sum(out)], [data])
    (result,) = run([out], {"x": x})
    # Each gradient is the derivative of the sum of all elements of the one before.
    ones = np.ones((3, 3))
    np.testing.assert_allclose(result, math.factorial(3) * (ones @ ones).T, rtol=1e-12)


@pytest.mark.parametrize(
    ("equation", "shapes", "error", "message"),
    [
        ("ij,jk->ik", [(2, 3)], AssertionError, "the number of operands is 1, but found 2 segments"),
        ("ijk->i", [(2, 3)], AssertionError, "the label string 'ijk' misses dimensions"),
        ("i->i", [(2, 3)], AssertionError, "the label string 'i' misses dimensions"),
        ("i1->i", [(2, 3)], AssertionError, "1 is not a valid label, which should be letters"),
        ("i.j->i", [(2, 3)], AssertionError, "found outside of an ellipsis"),
        ("ij->->i", [(2, 3)], AssertionError, "multiple `->` were found"),
        ("ij,jk->ik", [(2, 3), (2, 4)], ShapeError, "label 'j' of 'ij,jk->ik' stands for 3 elements and for 2"),
        ("ij->iz", [(2, 3)], UsageError, "no operand has 'z'"),
        ("ij->ii", [(2, 3)], UsageError, "a label stands there twice"),
    ],
)
def test_errors(equation: str, shapes: Any, error: type[Exception], message: str) -> None:
    operands = [paddle.static.data(f"v{i}", list(s)) for i, s in enumerate(shapes)]
    with pytest.raises(error, match=message):
        paddle.einsum(equation, *operands)


def test_operands_must_be_variables() -> None:
    with pytest.raises(ArgumentTypeError, match=r"operands\[0\]"):
        paddle.einsum("i->i", np.ones(3))
