"""Gradient rules: against differences, in the specs of the inputs, reading no more than they declare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gradtool.engine.ops.opdef import OpDef
from tests.ops.calls import (
    Wanted,
    call,
    completed,
    difference,
    direction,
    dot,
    gradient_operands,
    has_late,
    moved,
    pull,
    random_like,
    second_pull,
    seeds,
    wanted_for,
)
from tests.ops.cases import Case, arrays, each_case, is_float, nested

CLOSE = 2e-6
"""What rounding leaves of a central difference, relative to the sum of the sizes of the terms."""


def close(value: float, expected: float) -> bool:
    return abs(value - expected) <= CLOSE * (1 + abs(expected))


@each_case("float64", "complex128", gradient=True, smooth=True)
def test_first_order(case: Case) -> None:
    op, rng = case.op, np.random.default_rng(1)
    results = call(op, case.operands, case.attrs)
    along = direction(op, case.operands, rng)
    for late in has_late(op):
        weights = seeds(op, results, rng, late)
        gradients = pull(op, case.operands, results, weights, case.attrs)
        expected = difference(lambda step, w=weights: dot(call(op, moved(case.operands, along, step), case.attrs), w))
        assert close(dot(gradients, along), expected)


@each_case("float64", "complex128", gradient=True, smooth=True)
def test_second_order(case: Case) -> None:
    """The derivative of the gradients by the inputs and by the output gradients that they come from.

    What the gradient operator reads of the forward outputs moves with the inputs, as it does in a program.
    """
    op, rng = case.op, np.random.default_rng(2)
    results = call(op, case.operands, case.attrs)
    along = direction(op, case.operands, rng)
    for late in has_late(op):
        douts = seeds(op, results, rng, late)
        along_douts = [nested(lambda a: random_like(a, lambda s: rng.normal(size=s)), d) for d in douts]
        gradients = pull(op, case.operands, results, douts, case.attrs)
        weights = [nested(lambda a: random_like(a, lambda s: rng.uniform(0.5, 1.5, s)), g) for g in gradients]
        expected = difference(_weighted_gradients(case, along, douts, along_douts, weights))
        by_input, by_dout = second_pull(op, case.operands, results, douts, weights, case.attrs)
        assert close(dot(by_input, along) + dot(by_dout, along_douts), expected)


def _weighted_gradients(
    case: Case, along: list[Any], douts: list[Any], along_douts: list[Any], weights: list[Any]
) -> Callable[[float], float]:
    def at(step: float) -> float:
        there = moved(case.operands, along, step)
        results = call(case.op, there, case.attrs)
        return dot(pull(case.op, there, results, moved(douts, along_douts, step), case.attrs), weights)

    return at


@each_case(gradient=True)
def test_gradients_have_the_specs_of_the_inputs(case: Case) -> None:
    results = call(case.op, case.operands, case.attrs)
    douts = seeds(case.op, results, np.random.default_rng(3))
    frozen = [nested(_read_only, d) for d in douts]
    check_specs(case.op, case.operands, pull(case.op, case.operands, results, frozen, case.attrs))


@each_case(gradient=True)
def test_second_gradients_have_the_specs_of_the_inputs(case: Case) -> None:
    results = call(case.op, case.operands, case.attrs)
    douts = seeds(case.op, results, np.random.default_rng(3))
    weights = pull(case.op, case.operands, results, douts, case.attrs)
    by_input, by_dout = second_pull(case.op, case.operands, results, douts, weights, case.attrs)
    check_specs(case.op, case.operands, by_input)
    check_specs(case.op, results, by_dout)


def _read_only(a: np.ndarray) -> np.ndarray:
    a.flags.writeable = False
    return a


def check_specs(op: OpDef, values: list[Any], gradients: list[Any]) -> None:
    for value, gradient in zip(values, gradients, strict=True):
        if isinstance(value, (list, tuple)):
            if gradient is not None:
                check_specs(op, list(value), list(gradient))
        elif gradient is not None:
            assert np.shape(gradient) == np.shape(value)
            assert np.asarray(gradient).dtype == np.asarray(value).dtype


@each_case("float64", "complex128", gradient=True)
def test_wanted_subsets(case: Case) -> None:
    """Asking for some gradients gives those as asking for all gives them, and nothing else."""
    op = case.op
    results = call(op, case.operands, case.attrs)
    douts = seeds(op, results, np.random.default_rng(4))
    full = wanted_for(op, case.operands)
    assert op.rule is not None
    whole = pull(op, case.operands, results, douts, case.attrs)
    for mask in subsets(full):
        some = pull(op, case.operands, results, douts, case.attrs, mask)
        for place, entries in zip(op.rule.wrt, mask, strict=True):
            few, all_ = (v[place] if isinstance(v[place], (list, tuple)) else [v[place]] for v in (some, whole))
            for wanted, a, b in zip(entries, few, all_, strict=False):
                assert (a is not None) == wanted or (wanted and b is None)
                if wanted and b is not None:
                    np.testing.assert_array_equal(a, b)


def subsets(full: Wanted) -> Iterator[Wanted]:
    """Each wanted entry alone, and all but each."""
    entries = [(i, j) for i, mask in enumerate(full) for j, wanted in enumerate(mask) if wanted]
    for entry in entries if len(entries) > 1 else ():
        yield [[w and (i, j) == entry for j, w in enumerate(mask)] for i, mask in enumerate(full)]
        yield [[w and (i, j) != entry for j, w in enumerate(mask)] for i, mask in enumerate(full)]


def poison(a: Any) -> np.ndarray:
    """The shape and type of *a* without its values: NaN, or a nonsense number, in a single element of memory."""
    array = np.asarray(a)
    return np.broadcast_to(np.array(np.nan if is_float(array) else 77, array.dtype), array.shape)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("order", [1, 2])
@each_case("float64", gradient=True)
def test_like_operands_are_read_for_their_shape_only(case: Case, order: int) -> None:
    op, operands, attrs = case.op, case.operands, case.attrs
    results = call(op, operands, attrs)
    douts = seeds(op, results, np.random.default_rng(5))
    for _ in range(order):
        assert op.rule is not None
        assert op.grad_op is not None
        wanted = wanted_for(op, operands)
        op, operands = op.grad_op, gradient_operands(op, operands, results, completed(op, results, douts))
        results = call(op, operands, attrs, wanted)
        douts = seeds(op, results, np.random.default_rng(6))
    forward = op.forward
    assert forward is not None
    assert forward.rule is not None
    blind = [nested(poison, v) if r.like else v for v, r in zip(operands, forward.rule.reads, strict=True)]
    answers = call(op, blind, attrs, wanted)
    for a, b in zip(arrays(answers), arrays(results), strict=True):
        np.testing.assert_array_equal(a, b)


@each_case("float64", gradient=True)
def test_second_gradients_of_one_gradient_at_a_time(case: Case) -> None:
    """What each of the gradients contributes alone adds up to what they give together, and nothing is left out."""
    op = case.op
    results = call(op, case.operands, case.attrs)
    douts = completed(op, results, seeds(op, results, np.random.default_rng(9)))
    operands = gradient_operands(op, case.operands, results, douts)
    grad_op = op.grad_op
    assert grad_op is not None
    gradients = call(grad_op, operands, case.attrs, wanted_for(op, case.operands))
    weights = seeds(grad_op, gradients, np.random.default_rng(10))
    whole = list(arrays(pull(grad_op, operands, gradients, weights, case.attrs)))
    present = [i for i, w in enumerate(weights) if w is not None]
    alone = [
        list(
            arrays(
                pull(grad_op, operands, gradients, [w if j == i else None for j, w in enumerate(weights)], case.attrs)
            )
        )
        for i in present
    ]
    for total, *terms in zip(whole, *alone, strict=True) if len(present) > 1 else ():
        np.testing.assert_allclose(sum(terms), total, rtol=1e-10, atol=1e-10)
