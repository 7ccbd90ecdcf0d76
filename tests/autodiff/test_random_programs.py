"""Properties of random programs: plans compute what an interpreter computes, gradients are slopes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool import paddle
from gradtool.engine.executor import passes
from gradtool.engine.executor.lower import lower
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.ir.variable import Variable
from tests.autodiff.random_programs import NUMPY, Net, Step, examples, interpret, steps


def stopped_names(net: Net, choices: Sequence[int]) -> set[str]:
    """Some temporaries to cut gradients at, the loss not among them."""
    candidates = [v.name for v in net.temporaries if v is not net.loss]
    return {candidates[c % len(candidates)] for c in choices}


def differentiate(net: Net, stopped: set[str]) -> dict[str, Variable]:
    """The gradients of the loss by what the program starts from."""
    gradients = paddle.static.gradients(net.loss, net.sources, no_grad_set=stopped)
    return {v.name: g for v, g in zip(net.sources, gradients, strict=True) if g is not None}


@pytest.fixture(autouse=True)
def _every_tensor_is_worth_releasing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tensors here are small; the pass that lets go of them is to be tried all the same."""
    monkeypatch.setattr(passes, "SMALL", -1)


SUBSETS = [set(c) for n in range(len(passes.ALL) + 1) for c in itertools.combinations(sorted(passes.ALL), n)]


@examples(40)
@given(steps(60), st.lists(st.integers(0, 99), max_size=3), st.integers(0, 99))
def test_plans_compute_what_an_interpreter_computes(recipe: list[Step], cuts: list[int], offset: int) -> None:
    with fresh_programs():
        net = Net(recipe)
        gradients = differentiate(net, stopped_names(net, cuts))
        expected = dict(net.start)
        interpret(net.block.ops, expected)
        fetch = [net.loss.name, *(g.name for g in gradients.values())]
        fetch += [v.name for v in net.temporaries[offset % 7 :: 7]]
        for chosen in SUBSETS:
            plan = lower(net.program, net.feed, fetch, NUMPY, chosen)
            regs = plan.registers(net.feed, net.start)
            plan.run(regs)
            for name, r in zip(fetch, plan.fetches, strict=True):
                np.testing.assert_allclose(regs[r], expected[name], rtol=1e-11, atol=1e-13, err_msg=f"{name} {chosen}")


def slope(net: Net, along: dict[str, np.ndarray], stopped: set[str], ops: Sequence[Any], target: str) -> float:
    """The central difference of *target* with the stopped variables held at what they are."""
    writes: dict[str, list[np.ndarray]] = {}
    interpret(ops, dict(net.start), writes=writes)
    held = {n: writes[n] for n in stopped}

    def at(step: float) -> float:
        values = {n: v + step * along[n] if n in along else v for n, v in net.start.items()}
        interpret(ops, values, held)
        return float(np.sum(values[target]))

    return (at(1e-6) - at(-1e-6)) / 2e-6


@examples(50)
@given(steps(60), st.lists(st.integers(0, 99), max_size=3))
def test_gradients_are_slopes(recipe: list[Step], cuts: list[int]) -> None:
    with fresh_programs():
        net = Net(recipe, smooth=True)
        forward = list(net.block.ops)
        stopped = stopped_names(net, cuts)
        gradients = differentiate(net, stopped)
        values = dict(net.start)
        interpret(net.block.ops, values)
        rng = np.random.default_rng(1)
        along = {v.name: rng.normal(size=v.shape) for v in net.sources}
        actual = sum(float(np.sum(values[g.name] * along[n])) for n, g in gradients.items())
        expected = slope(net, along, stopped, forward, net.loss.name)
        assert abs(actual - expected) <= 1e-6 * (1 + abs(expected))


@examples(20)
@given(steps(12))
def test_second_gradients_are_slopes(recipe: list[Step]) -> None:
    with fresh_programs():
        net = Net(recipe, smooth=True)
        first = differentiate(net, set())
        if not first:
            return
        rng = np.random.default_rng(2)
        weighted = []
        for g in first.values():
            weight = net.block.create_var(f"{g.name}_weight", g.shape, "float64", stop_gradient=True, is_data=True)
            net.start[weight.name] = rng.normal(size=g.shape)
            weighted.append(net.scalar_of_product(g, weight))
        ops = list(net.block.ops)
        second = paddle.static.gradients(weighted, net.sources)
        values = dict(net.start)
        interpret(net.block.ops, values)
        along = {v.name: rng.normal(size=v.shape) for v in net.sources}
        pairs = [(v.name, g) for v, g in zip(net.sources, second, strict=True) if g is not None]
        actual = sum(float(np.sum(values[g.name] * along[n])) for n, g in pairs)
        expected = sum(slope(net, along, set(), ops, v.name) for v in weighted)
        assert abs(actual - expected) <= 1e-5 * (1 + abs(expected))


class Refusal(Exception):
    """What the callback below raises."""


@examples(15)
@given(steps(30), st.integers(0, 20), st.booleans())
def test_a_failed_call_leaves_the_program_as_it_was(recipe: list[Step], survived: int, before: bool) -> None:
    with fresh_programs():
        net = Net(recipe)
        if before:
            differentiate(net, set())
        text, version, names = str(net.program), net.program.version, net.program.names.every_count()
        left = [survived]

        def refuse(block: Any, context: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Refusal

        failures = [
            lambda: paddle.static.append_backward(net.loss, net.sources, callbacks=[refuse, _always_refuse]),
            lambda: paddle.static.append_backward(net.loss, [*net.sources, 3]),
            lambda: paddle.static.gradients([net.loss, 1.0], net.sources),
        ]
        for fail in failures if _has_gradient(net) else failures[1:]:
            with pytest.raises((Refusal, TypeError, AttributeError)):
                fail()
            assert str(net.program) == text
            assert (net.program.version, net.program.names.every_count()) == (version, names)


def _always_refuse(block: Any, context: Any) -> None:
    raise Refusal


def _has_gradient(net: Net) -> bool:
    """Whether a backward part of the loss has any operator beside the seed, so that callbacks are called."""
    with fresh_programs():
        copy = net.program.clone()
        size = len(copy.global_block().ops)
        paddle.static.gradients(
            copy.global_block().var(net.loss.name), [copy.global_block().var(v.name) for v in net.sources]
        )
        return len(copy.global_block().ops) > size + 1


@examples(15)
@given(steps(30))
def test_clones_compute_the_same(recipe: list[Step]) -> None:
    with fresh_programs():
        net = Net(recipe)
        gradients = differentiate(net, set())
        fetch = [net.loss.name, *(g.name for g in gradients.values())]
        results = []
        for program in (net.program, net.program.clone()):
            plan = lower(program, net.feed, fetch, NUMPY)
            regs = plan.registers(net.feed, net.start)
            plan.run(regs)
            results.append([regs[r] for r in plan.fetches])
        for a, b in zip(*results, strict=True):
            np.testing.assert_array_equal(a, b)
