"""Random programs with blocks, overwritten variables, cuts and checkpoints, three ways.

The plan, the tape of dynamic mode and an interpreter that is too simple to be wrong compute the same loss; gradients of
the program and of the tape agree with each other, and with the slope of the interpreter's loss along a random
direction. ``python -m tests.autodiff.test_random_blocks COUNT SEED`` tries many more programs than the tests do.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool import paddle
from gradtool.engine.core.errors import UnusedCheckpointWarning
from gradtool.engine.eager.record import apply
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.executor import passes
from gradtool.engine.executor.lower import lower
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ir.verify import verify
from tests.autodiff.random_programs import NUMPY, Net, Step, examples, interpret, steps, try_many

STEPS = 100


@pytest.fixture(autouse=True)
def _every_tensor_is_worth_releasing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tensors here are small; the pass that lets go of them is to be tried all the same."""
    monkeypatch.setattr(passes, "SMALL", -1)


@examples(900)
@given(steps(STEPS), st.lists(st.integers(0, 99), max_size=2), st.lists(st.integers(0, 99), max_size=3))
def test_three_ways_agree(recipe: list[Step], cuts: list[int], checkpoints: list[int]) -> None:
    agree(recipe, cuts, checkpoints)


def agree(recipe: Sequence[Step], cuts: Sequence[int], checkpoints: Sequence[int]) -> None:
    """Build one program and compare."""
    with fresh_programs():
        net = Net(recipe, blocks=True)
        forward = list(net.block.ops)
        # The interpreter knows names only, and a loop gives the name of what it was given to its result.
        taken = {v.name for v in (*net.sources, net.loss, *net.program.renewed)}
        candidates = [v for v in net.temporaries if v.name not in taken]
        stopped = {candidates[c % len(candidates)].name for c in cuts}
        chosen = [candidates[c % len(candidates)] for c in checkpoints]
        fetched = backward(net, stopped, chosen)
        verify(net.program)
        loss, *gradients = planned(net, [net.loss, *fetched.values()])
        written: dict[str, list[Any]] = {}
        plain = dict(net.start)
        interpret(forward, plain, writes=written)
        np.testing.assert_allclose(loss, plain[net.loss.name], rtol=1e-11, atol=1e-13)

        tape_loss, tape = on_tape(net, forward, stopped)
        np.testing.assert_array_equal(tape_loss, loss)
        mine = dict(zip(fetched, gradients, strict=True))
        for name, g in tape.items():
            if name in mine:
                np.testing.assert_allclose(mine[name], g, rtol=1e-9, atol=1e-12, err_msg=name)
            else:
                assert not np.any(g), f"{name} has a gradient on the tape and none in the program"

        rng = np.random.default_rng(len(recipe))
        along = {v.name: rng.normal(size=v.shape) for v in net.sources}
        slope = sum(float(np.sum(mine[n] * along[n])) for n in mine)
        held = {n: written.get(n, []) for n in stopped}
        expected = difference(net, forward, along, held)
        assert abs(slope - expected) <= 2e-6 * (1 + abs(expected)), (slope, expected)


def backward(net: Net, stopped: set[str], checkpoints: list[Variable]) -> dict[str, Variable]:
    """The gradients of the loss by name of what the program starts from."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedCheckpointWarning)
        pairs = paddle.static.append_backward(
            net.loss, net.sources, no_grad_set=stopped, checkpoints=checkpoints or None
        )
    return {v.name: g for v, g in (pairs[0] if checkpoints else pairs)}


def planned(net: Net, fetched: Sequence[Variable]) -> list[Any]:
    plan = lower(net.program, net.feed, [v.name for v in fetched], NUMPY)
    regs = plan.registers(net.feed, net.start)
    plan.run(regs)
    return [regs[r] for r in plan.fetches]


def on_tape(net: Net, ops: Sequence[Operator], stopped: set[str]) -> tuple[Any, dict[str, Any]]:
    """The loss and the gradients that dynamic mode computes with the same operators."""
    sources = {v.name for v in net.sources}
    tensors: dict[str, Any] = {n: Tensor(np.array(v), stop_gradient=n not in sources) for n, v in net.start.items()}
    leaves = [tensors[v.name] for v in net.sources]

    def record(op: Operator, operands: Sequence[Any]) -> Sequence[Any]:
        result = apply(op.op, operands, op.attrs)
        return list(result) if isinstance(result, tuple) else [result]

    def cut(variable: Variable, value: Any) -> Any:
        return value.detach() if variable.name in stopped or variable.stop_gradient else value

    interpret(ops, tensors, compute=record, finish=cut)
    loss = tensors[net.loss.name]
    paddle.disable_static()
    try:
        gradients = paddle.grad(loss, leaves, allow_unused=True) if not loss.stop_gradient else [None] * len(leaves)
    finally:
        paddle.enable_static()
    return loss.numpy(), {v.name: g.numpy() for v, g in zip(net.sources, gradients, strict=True) if g is not None}


def difference(net: Net, ops: Sequence[Operator], along: dict[str, Any], held: dict[str, list[Any]]) -> float:
    """The central difference of the loss with the stopped variables held at what they are."""

    def at(step: float) -> float:
        values = {n: v + step * along[n] if n in along else v for n, v in net.start.items()}
        interpret(ops, values, held)
        return float(np.sum(values[net.loss.name]))

    return (at(1e-6) - at(-1e-6)) / 2e-6


def check(recipe: list[Step], draw: random.Random) -> None:
    """One program of :func:`~tests.autodiff.random_programs.try_many`."""
    cuts = [draw.randrange(100) for _ in range(draw.randrange(3))]
    checkpoints = [draw.randrange(100) for _ in range(draw.randrange(4))]
    agree(recipe, cuts, checkpoints)


if __name__ == "__main__":
    passes.SMALL = -1  # type: ignore[misc]
    try_many(check, STEPS)
