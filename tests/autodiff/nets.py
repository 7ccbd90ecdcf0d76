"""Small networks and what the tests of the backward part look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.paddle._dispatch import apply


def main() -> Program:
    return paddle.static.default_main_program()


def data(name: str, *shape: int, dtype: str = "float64", gradient: bool = True) -> Variable:
    """A fed variable through which gradients flow."""
    v = paddle.static.data(name, list(shape), dtype)
    v.stop_gradient = not gradient
    return v


def mean(x: Variable) -> Variable:
    return apply("reduce_mean", x, attrs={"reduce_all": True}, key="mean")


def op(type_: str, *operands: Any, **attrs: Any) -> Variable:
    """One operator; an output that only its gradient reads is made, and not returned."""
    results = apply(type_, *operands, attrs=attrs)
    return results[0] if isinstance(results, tuple) else results


def two_layers(size: int = 3) -> Variable:
    """The loss of a net with parameters ``a.w_0 a.b_0 b.w_0 b.b_0`` and data ``x`` and ``y``."""
    x = paddle.static.data("x", [4, 5], "float32")
    y = paddle.static.data("y", [4, 1], "float32")
    hidden = apply("tanh", paddle.static.nn.fc(x, size, name="a"))
    return mean(paddle.nn.functional.square_error_cost(paddle.static.nn.fc(hidden, 1, name="b"), y))


def backward_ops(program: Program | None = None) -> list[Operator]:
    """The operators of the backward part, seeds included."""
    return [o for o in (program or main()).global_block().ops if o.attr("op_role") & 1]


def lines(ops: Sequence[Operator]) -> list[str]:
    """Each operator as ``type(inputs) -> outputs``."""
    return [f"{o.type}({' '.join(o.input_arg_names)}) -> {' '.join(o.output_arg_names)}" for o in ops]


def pairs(result: Any) -> list[tuple[str, str]]:
    """The names in what ``append_backward`` returned."""
    return [(p.name, g.name) for p, g in result]


def names(result: Any) -> list[str | None]:
    """The names in what ``gradients`` returned."""
    return [None if g is None else g.name for g in result]


def run(fetch: Sequence[Any], feed: dict[str, Any] | None = None) -> list[np.ndarray]:
    """Values in the main program, parameters initialised if they are not."""
    exe = paddle.static.Executor()
    scope = paddle.static.global_scope()
    if any(scope.find_var(p.name) is None for p in main().all_parameters()):
        exe.run(paddle.static.default_startup_program())
    return exe.run(main(), feed=feed or {}, fetch_list=list(fetch))


def numbers(*shape: int, seed: int = 0, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """Random float64 numbers."""
    return np.random.default_rng(seed).uniform(low, high, shape)


def check_by_differences(
    target: Variable,
    wrt: dict[str, np.ndarray],
    gradients: dict[str, np.ndarray],
    *,
    fixed: dict[str, Any] | None = None,
) -> None:
    """Compare gradients of the sum of *target* with central differences in one random direction.

    Args:
        wrt: values of the fed variables differentiated by (float64).
        found: their gradients.
        fixed: other feeds.
    """
    rng = np.random.default_rng(3)
    along = {n: rng.normal(size=v.shape) for n, v in wrt.items()}

    def at(step: float) -> float:
        feed = {n: v + step * along[n] for n, v in wrt.items()}
        return float(np.sum(run([target], {**(fixed or {}), **feed})[0]))

    expected = central(at)
    slope = sum(float(np.sum(gradients[n] * along[n])) for n in wrt)
    assert abs(slope - expected) <= 1e-6 * (1 + abs(expected)), (slope, expected)


def central(at: Callable[[float], float], step: float = 1e-5) -> float:
    return (at(step) - at(-step)) / (2 * step)
