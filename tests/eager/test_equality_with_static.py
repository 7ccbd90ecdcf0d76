"""Dynamic mode computes what a static program computes, to the last bit: every sample of every operator.

Gradients that are recorded for a second order are computed by the rule, those of a program by the kernel that there is
for them; where that kernel sums in another order than the rule does, they differ by rounding (:data:`ROUNDED`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.autodiff.gradients import gradients
from gradtool.engine.core import state
from gradtool.engine.eager import backward as sweep
from gradtool.engine.eager.record import apply
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable
from tests.ops.calls import random_like, separated
from tests.ops.cases import Case, each_case
from tests.ops.test_op_programs import OneOp, flat


class Recorded:
    """The operator of a program called in dynamic mode, on the values that the program is fed.

    Attributes:
        tensors: name of a variable -> the tensor in its place.
    """

    def __init__(self, one: OneOp) -> None:
        self.one = one
        self.tensors: dict[str, Tensor] = {}
        operands = [self._operand(v) for v in one.inputs]
        state.random.reset(0)
        outputs = flat(separated(one.case.op, apply(one.case.op, operands, one.case.attrs)))
        results = (t for t in outputs if t is not None)
        self.tensors.update(zip((v.name for v in present(one.outputs)), results, strict=True))

    def __getitem__(self, v: Variable) -> Tensor:
        """The tensor in place of *v*; a leaf that takes gradients if *v* is fed and does."""
        if v.name not in self.tensors:
            self.tensors[v.name] = Tensor(np.array(self.one.feed[v.name]), stop_gradient=v.stop_gradient)
        return self.tensors[v.name]

    def _operand(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._operand(v) for v in value]
        return None if value is None else self[value]

    def gradients(self, of: Sequence[Tensor], by: Sequence[Variable], starts: Sequence[Variable]) -> list[Any]:
        wanted, seeds = [self[v] for v in by], [self[v] for v in starts]
        return sweep.grad(list(of), wanted, list(seeds), retain_graph=True, create_graph=True)


def present(values: list[Any]) -> list[Any]:
    return [v for v in flat(values) if v is not None]


ROUNDED = dict.fromkeys(("batch_norm", "group_norm", "instance_norm", "layer_norm", "rnn"), 64)
"""Operators whose gradient kernel rounds otherwise than their rule: so many units in the last place of the largest."""


def same(tensor: Tensor | None, expected: np.ndarray, places: int = 0) -> None:
    """Equal to the last bit, or but for units in the last place of the largest element; no gradient is zero."""
    array = np.zeros_like(expected) if tensor is None else tensor.array
    assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
    if not places:
        np.testing.assert_array_equal(array, expected)
    elif array.size:
        np.testing.assert_allclose(array, expected, rtol=0, atol=places * np.spacing(np.abs(expected).max()))


@each_case("float32", "complex64")
def test_forward(case: Case) -> None:
    one = OneOp(case)
    recorded, outputs = Recorded(one), present(one.outputs)
    for v, value in zip(outputs, one.run(outputs), strict=True):
        same(recorded[v], value)


@each_case("float32", gradient=True)
def test_gradients_of_two_orders(case: Case) -> None:
    one = OneOp(case)
    rng = np.random.default_rng(7)
    _, targets, starts = one.seeded(rng)
    inputs = one.wrt()
    first = gradients(targets, inputs, starts)
    reached = [i for i, g in enumerate(first) if g is not None]
    some = [first[i] for i in reached]
    likes = [np.empty(g.shape, g.dtype.numpy) for g in some]
    draws = [random_like(a, lambda shape: rng.uniform(0.5, 1.5, shape)) for a in likes]
    weights = [one.fed(f"weight{g.name}", w) for g, w in zip(some, draws, strict=True)]
    second = gradients(some, [*inputs, *starts], weights)

    recorded = Recorded(one)
    slopes = recorded.gradients([recorded[v] for v in targets], inputs, starts)
    assert [g is None for g in slopes] == [g is None for g in first]
    again = recorded.gradients([slopes[i] for i in reached], [*inputs, *starts], weights)
    pairs = list(zip([*slopes, *again], [*first, *second], strict=True))
    assert not any(t.array.any() for t, v in pairs if v is None and t is not None)
    pairs = [(t, v) for t, v in pairs if v is not None]
    for (t, _), value in zip(pairs, one.run([v for _, v in pairs]), strict=True):
        same(t, value, ROUNDED.get(case.op.type, 0))
