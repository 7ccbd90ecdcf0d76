"""Operators in static programs: built, differentiated, lowered and run, against their kernels called directly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.engine.autodiff.gradients import gradients
from gradtool.engine.core import state
from gradtool.engine.core.spec import UNKNOWN, Shape
from gradtool.engine.executor.executor import Executor
from gradtool.engine.ir import build
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops.opdef import Operand
from tests.ops.calls import call, pull, random_like, second_pull, seeds, wanted_for
from tests.ops.cases import NEEDS_KNOWN, Case, arrays, each_case, is_float

both_declarations = pytest.mark.parametrize("sized", [True, False], ids=["known", "unknown"])
"""Whether the program knows the dimensions of what it is fed, or sees -1 everywhere."""


def _filled(many: bool, variables: Any) -> Any:
    """What stands in a slot: a tuple where there may be many."""
    if variables is None:
        return () if many else None
    return tuple(variables) if isinstance(variables, list) else variables


class OneOp:
    """A program with one operator, and what it is fed."""

    def __init__(self, case: Case, sized: bool = True) -> None:
        self.case = case
        self.sized = sized or case.op.type in NEEDS_KNOWN
        self.program = Program()
        self.block = self.program.global_block()
        self.feed: dict[str, np.ndarray] = {}
        self.inputs = [self._operand(f"in{i}", v) for i, v in enumerate(case.operands)]
        inputs = tuple(_filled(s.many, v) for s, v in zip(case.op.inputs, self.inputs, strict=True))
        self.results = call(case.op, case.operands, case.attrs)
        names = [self._names(f"out{j}", r) for j, r in enumerate(self.results)]
        self.operator = build.emit(self.block, case.op, inputs, case.attrs, names)
        self.outputs = [list(v) if isinstance(v, tuple) else v for v in self.operator.outputs]

    def fed(self, name: str, value: Any, shape: Shape | None = None) -> Variable:
        """A variable that is fed *value*, declared with *shape*."""
        array = np.asarray(value)
        self.feed[name] = array
        if shape is None:
            shape = array.shape if self.sized else (UNKNOWN,) * array.ndim
        return self.block.create_var(name, shape, array.dtype, stop_gradient=not is_float(array), is_data=True)

    def _operand(self, name: str, value: Operand) -> Any:
        if isinstance(value, (list, tuple)):
            return [self._operand(f"{name}_{i}", v) for i, v in enumerate(value)]
        return None if value is None else self.fed(name, value)

    def _names(self, name: str, result: Any) -> Any:
        if isinstance(result, (list, tuple)):
            return [f"{name}_{i}" for i in range(len(result))]
        return None if result is None else name

    def seeded(self, rng: np.random.Generator) -> tuple[list[Any], list[Variable], list[Variable]]:
        """Output gradients, the outputs that have one, and the fed variables that hold them."""
        douts = seeds(self.case.op, self.results, rng)
        targets, fed = [], []
        for out, dout in zip(flat(self.outputs), flat(like(douts, self.outputs)), strict=True):
            if out is not None and dout is not None:
                targets.append(out)
                fed.append(self.fed(f"{out.name}_seed", dout, out.shape))
        return douts, targets, fed

    def wrt(self) -> list[Variable]:
        """The fed variables that can have a gradient."""
        rule = self.case.op.rule
        assert rule is not None
        return [v for v in flat([self.inputs[i] for i in rule.wrt]) if v is not None and v.dtype.is_differentiable]

    def expected(self, grads: list[Any]) -> list[Any]:
        """Of *grads*, one entry per input slot, those of :meth:`wrt`."""
        rule = self.case.op.rule
        assert rule is not None
        chosen = []
        for i, mask in zip(rule.wrt, wanted_for(self.case.op, self.case.operands), strict=True):
            entries = grads[i] if isinstance(grads[i], (list, tuple)) else [grads[i]] * len(mask)
            chosen += [g for g, wanted in zip(entries, mask, strict=True) if wanted]
        return chosen

    def run(self, fetch: list[Variable]) -> list[np.ndarray]:
        state.random.reset(0)
        return Executor().run(self.program, feed=self.feed, fetch_list=fetch)


def flat(values: Any) -> list[Any]:
    entries: list[Any] = []
    for v in values:
        if isinstance(v, (list, tuple)):
            entries += v
        else:
            entries.append(v)
    return entries


def like(values: list[Any], nesting: list[Any]) -> list[Any]:
    """*values* with None spread over the list slots that it stands for."""
    return [[None] * len(n) if v is None and isinstance(n, list) else v for v, n in zip(values, nesting, strict=True)]


def check(results: list[Any], expected: list[Any], dtype: str) -> None:
    rtol = 1e-5 if dtype == "float32" else 1e-12
    for a, b in zip(results, expected, strict=True):
        b = np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(1.0, float(np.abs(b).max(initial=0))))


@each_case()
def test_forward(case: Case) -> None:
    one = OneOp(case)
    variables = [v for v in flat(one.outputs) if v is not None]
    check(one.run(variables), list(arrays(one.results)), case.dtype)


@both_declarations
@each_case("float32", "float64", "complex128", gradient=True)
def test_gradients(case: Case, sized: bool) -> None:
    one = OneOp(case, sized)
    douts, targets, starts = one.seeded(np.random.default_rng(7))
    grads = gradients(targets, one.wrt(), starts)
    expected = one.expected(pull(case.op, case.operands, one.results, douts, case.attrs))
    compare(one, grads, expected)


def compare(one: OneOp, results: list[Any], expected: list[Any]) -> None:
    """Gradient variables against arrays; a gradient that is zero by structure may be None in both."""
    assert [g is None for g in results] == [e is None for e in expected]
    check(
        one.run([g for g in results if g is not None]),
        [e for e in expected if e is not None],
        one.case.dtype,
    )


@both_declarations
@each_case("float64", "complex128", gradient=True)
def test_second_gradients(case: Case, sized: bool) -> None:
    one = OneOp(case, sized)
    rng = np.random.default_rng(8)
    douts, targets, starts = one.seeded(rng)
    wrt = one.wrt()
    first = [g for g in gradients(targets, wrt, starts) if g is not None]
    grads = pull(case.op, case.operands, one.results, douts, case.attrs)
    weights = [[one_weight(e, rng) for e in g] if isinstance(g, (list, tuple)) else one_weight(g, rng) for g in grads]
    fed = [one.fed(f"weight{i}", w) for i, w in enumerate(w for w in one.expected(weights) if w is not None)]
    by_input, by_dout = second_pull(case.op, case.operands, one.results, douts, weights, case.attrs)
    by_dout = [
        d
        for d, s in zip(flat(like(by_dout, one.outputs)), flat(like(douts, one.outputs)), strict=True)
        if s is not None
    ]
    compare(one, gradients(first, [*wrt, *starts], fed), [*one.expected(by_input), *by_dout])


def one_weight(gradient: Any, rng: np.random.Generator) -> Any:
    return None if gradient is None else random_like(gradient, lambda shape: rng.uniform(0.5, 1.5, shape))
