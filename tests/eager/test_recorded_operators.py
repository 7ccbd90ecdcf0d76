"""Every operator through the tape: its gradients are those of its rule, and differentiable again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.eager import backward as sweep
from gradtool.engine.eager.record import apply
from gradtool.engine.eager.tensor import Tensor
from tests.ops.calls import call, difference, direction, dot, moved, pull, random_like, seeds, separated
from tests.ops.cases import Case, arrays, each_case, is_float, nested

CLOSE = 2e-6


def leaves_of(case: Case, operands: Sequence[Any]) -> tuple[list[Any], list[Tensor]]:
    """The operands as tensors, and those of them that the rule gives a gradient for."""
    assert case.op.rule is not None
    leaves: list[Tensor] = []

    def leaf(array: Any) -> Tensor:
        leaves.append(Tensor(np.array(array), stop_gradient=not is_float(array)))
        return leaves[-1]

    tensors = [
        nested(leaf if i in case.op.rule.wrt else lambda a: Tensor(np.array(a)), v) for i, v in enumerate(operands)
    ]
    return tensors, [t for t in leaves if not t.stop_gradient]


def flat(values: Any) -> list[Any]:
    """The entries of *values*, lists laid out, without the absent ones."""
    return [e for v in values for e in (v if isinstance(v, (list, tuple)) else [v]) if e is not None]


def gradients(case: Case, operands: Sequence[Any], douts: Sequence[Any], weights: Sequence[Any]) -> list[Any]:
    """Gradients of the inputs: of the outputs weighted with *douts*, of those weighted with the first weights, ...

    Zeros stand where an input does not matter.
    """
    state.random.reset(0)
    tensors, leaves = leaves_of(case, operands)
    result = apply(case.op, tensors, case.attrs)
    pairs = [
        (out, Tensor(seed))
        for outs, starts_of in zip(separated(case.op, result), douts, strict=True)
        if starts_of is not None
        for out, seed in zip(flat([outs]), flat([starts_of]), strict=True)
    ]
    roots, starts = [p[0] for p in pairs], [p[1] for p in pairs]
    for order in range(len(weights) + 1):
        results = sweep.grad(roots, leaves, starts, retain_graph=True, create_graph=order < len(weights))
        if order < len(weights):
            roots, starts = results, [Tensor(w) for w in weights[order]]
            used = [(r, s) for r, s in zip(roots, starts, strict=True) if r is not None]
            roots, starts = [r for r, _ in used], [s for _, s in used]
    return [np.zeros_like(t.array) if g is None else g.array for g, t in zip(results, leaves, strict=True)]


def positive(a: Any, rng: np.random.Generator) -> np.ndarray:
    """Numbers of the type and shape of *a* with positive parts."""
    return random_like(a, lambda shape: rng.uniform(0.5, 1.5, shape))


def drawn(case: Case, rng: np.random.Generator) -> tuple[list[Any], list[Any], list[Any]]:
    """A direction, gradients to start from, and weights like the inputs."""
    results = call(case.op, case.operands, case.attrs)
    along = direction(case.op, case.operands, rng)
    douts = seeds(case.op, results, rng)
    return along, douts, [positive(a, rng) for a in arrays([d for d in along if d is not None])]


@each_case("float64", "complex128", gradient=True)
def test_gradients_are_those_of_the_rule(case: Case) -> None:
    rng = np.random.default_rng(3)
    results = call(case.op, case.operands, case.attrs)
    douts = seeds(case.op, results, rng)
    expected = pull(case.op, case.operands, results, douts, case.attrs)
    _, leaves = leaves_of(case, case.operands)
    slopes = iter(gradients(case, case.operands, douts, []))
    for slot, group in enumerate(expected):
        entries = group if isinstance(group, (list, tuple)) else [group]
        inputs = case.operands[slot] if isinstance(case.operands[slot], (list, tuple)) else [case.operands[slot]]
        assert case.op.rule is not None
        for g, x in zip(entries, inputs, strict=True) if slot in case.op.rule.wrt else ():
            if x is None or not is_float(x):
                continue
            ours = next(slopes)
            assert ours.shape == np.shape(x)
            np.testing.assert_allclose(ours, np.zeros_like(x) if g is None else g, rtol=1e-12, atol=1e-12)
    assert next(slopes, None) is None
    assert leaves


@each_case("float64", "complex128", gradient=True, smooth=True)
def test_second_order(case: Case) -> None:
    along, douts, weights = drawn(case, np.random.default_rng(4))
    expected = difference(lambda step: dot(gradients(case, moved(case.operands, along, step), douts, []), weights))
    bend = dot(gradients(case, case.operands, douts, [weights]), flat([nested(np.asarray, d) for d in along]))
    assert abs(bend - expected) <= CLOSE * (1 + abs(expected))


@each_case("float64", "complex128", gradient=True, smooth=True)
def test_third_order(case: Case) -> None:
    rng = np.random.default_rng(5)
    along, douts, weights = drawn(case, rng)
    again = [positive(w, rng) for w in weights]
    expected = difference(lambda step: dot(gradients(case, moved(case.operands, along, step), douts, [weights]), again))
    twist = dot(gradients(case, case.operands, douts, [weights, again]), flat([nested(np.asarray, d) for d in along]))
    assert abs(twist - expected) <= CLOSE * (1 + abs(expected))
