"""The ways to ask for a gradient agree: a variable, its name, a fetch of ``x@GRAD``, ``gradients``, and differences.

Random programs with branches, loops and overwritten variables are asked for the gradients of what they start from and
of what they compute on the way. In Python what was given to a loop still stands for the value before the loop, so a
value is moved there, right after it was written, to see what the loss does. Names are asked for in copies, too, and in
programs that have been written and read, which know nothing of Python's variables.
``python -m tests.autodiff.test_ways_to_ask COUNT SEED`` tries many more programs than the tests do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradtool import paddle
from gradtool.engine.executor.lower import lower
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ir.verify import verify
from tests.autodiff.random_programs import NUMPY, Net, Step, examples, interpret, steps, try_many

STEPS = 24
Found = dict[int, Any]
"""Gradients by the place of the variable among those that a program knows; zeros where there is none."""


@examples(60)
@given(steps(STEPS), st.lists(st.integers(0, 199), min_size=1, max_size=4))
def test_the_ways_to_ask_agree(recipe: list[Step], asked: list[int]) -> None:
    agree(recipe, asked)


def agree(recipe: Sequence[Step], asked: Sequence[int]) -> None:
    """Build one program several times, and ask for the same gradients in every way."""
    with fresh_programs():
        net = Net(recipe, blocks=True)
        open_ = [i for i, v in enumerate(net.pool) if not v.stop_gradient]
        places = sorted({open_[a % len(open_)] for a in asked})
        # What a loop returns has the name of what it was given, and the name stands for that.
        named = [i for i in places if not returned(net, net.pool[i])]
        expected = {i: slope(net, net.pool[i], i) for i in places}

    def check(answer: Found, way: str) -> None:
        for i, g in answer.items():
            direction, difference = expected[i]
            value = float(np.sum(g * direction))
            close = abs(value - difference) <= 2e-6 * (1 + abs(difference))
            assert close, f"{way}: {value} for {net.pool[i].name} (place {i}), but differences give {difference}"

    check(built(recipe, lambda net: by_variable(net, places)), "variables")
    for i in places:
        check(built(recipe, lambda net, i=i: by_variable(net, [i])), "a variable")  # type: ignore[misc]
    check(built(recipe, lambda net: by_gradients(net, places)), "gradients")
    check(built(recipe, lambda net: by_name(net, net.program, named)), "names")
    check(built(recipe, lambda net: by_name(net, net.program.clone(), named)), "names, copied")
    check(built(recipe, lambda net: by_name(net, read_again(net.program), named)), "names, written and read")
    check(built(recipe, lambda net: by_fetch(net, named, [])), "fetched")
    check(built(recipe, lambda net: by_fetch(net, named, places)), "fetched, while others are asked for")


def built(recipe: Sequence[Step], ask: Callable[[Net], Found]) -> Found:
    with fresh_programs():
        return ask(Net(recipe, blocks=True))


def by_variable(net: Net, places: list[int]) -> Found:
    pairs = paddle.static.append_backward(net.loss, [net.pool[i] for i in places])
    got = dict(pairs)
    return run(net, net.program, {i: got.get(net.pool[i]) for i in places})


def by_gradients(net: Net, places: list[int]) -> Found:
    gradients = paddle.static.gradients(net.loss, [net.pool[i] for i in places])
    return run(net, net.program, dict(zip(places, gradients, strict=True)))


def by_name(net: Net, program: Program, places: list[int]) -> Found:
    loss = program.global_block().var(net.loss.name)
    pairs = paddle.static.append_backward(loss, [net.pool[i].name for i in places])
    got = {p.name: g for p, g in pairs}
    return run(net, program, {i: got.get(net.pool[i].name) for i in places})


def by_fetch(net: Net, places: list[int], asked: list[int]) -> Found:
    paddle.static.append_backward(net.loss, [net.pool[i] for i in asked] or None)
    variables = net.block.vars
    return run(net, net.program, {i: variables.get(net.pool[i].grad_name) for i in places})


def read_again(program: Program) -> Program:
    read = Program.parse_from_string(str(program))
    for v in program.global_block().vars.values():  # the text does not say what is fed, nor what needs no gradient
        read.global_block().var(v.name).is_data = v.is_data
    for block, twin in zip(program.blocks, read.blocks, strict=True):
        for name, v in block.vars.items():
            twin.vars[name].stop_gradient = v.stop_gradient
    return read


def run(net: Net, program: Program, gradients: dict[int, Variable | None]) -> Found:
    verify(program)
    present = {i: g for i, g in gradients.items() if g is not None}
    plan = lower(program, net.feed, [g.name for g in present.values()], NUMPY)
    regs = plan.registers(net.feed, net.start)
    plan.run(regs)
    values = dict(zip(present, (regs[r] for r in plan.fetches), strict=True))
    return {i: values.get(i, np.zeros(())) for i in gradients}


@examples(60)
@given(steps(STEPS), st.integers(0, 199))
def test_the_ways_to_cut_agree(recipe: list[Step], cut: int) -> None:
    cuts_agree(recipe, cut)


def cuts_agree(recipe: Sequence[Step], cut: int) -> None:
    """Build one program several times with one variable in the no-grad set."""
    with fresh_programs():
        net = Net(recipe, blocks=True)
        place = cut % len(net.pool)
        v = net.pool[place]
        direction, difference = slope_past(net, v)
        sources = range(len(net.sources))
    ways: list[Callable[[Net], Found]] = [lambda net: past(net, net.program, net.pool[place])]
    if not returned(net, v):
        ways.append(lambda net: past(net, net.program, v.name))
        ways.append(lambda net: past(net, net.program.clone(), v.name))
        ways.append(lambda net: past(net, read_again(net.program), v.name))
    for way in ways:
        answer = built(recipe, way)
        value = sum(float(np.sum(answer[i] * direction[net.pool[i].name])) for i in sources)
        assert abs(value - difference) <= 2e-6 * (1 + abs(difference)), f"{value} past {v.name}, not {difference}"


def past(net: Net, program: Program, cut: Variable | str) -> Found:
    """The gradients of what the program starts from, with a cut."""
    loss = program.global_block().var(net.loss.name)
    pairs = paddle.static.append_backward(loss, [v.name for v in net.sources], no_grad_set=[cut])
    got = {p.name: g for p, g in pairs}
    return run(net, program, {i: got.get(v.name) for i, v in enumerate(net.sources)})


def slope_past(net: Net, v: Variable) -> tuple[dict[str, Any], float]:
    """A random direction for each source, and how the loss changes along it while *v* stays what it is."""
    rng = np.random.default_rng(1)
    along = {s.name: rng.normal(size=s.shape) for s in net.sources}
    ops = list(net.block.ops)
    loops = {op: i for i, op in enumerate(ops)}
    renewed = net.program.renewed
    end = loops[renewed[v][1].op] if v in renewed else len(ops)
    begin = next((loops[loop.op] for new, loop in renewed.values() if new is v), -1)
    held = [i for i in range(max(begin, 0), end) if writes(ops[i], v.name)]

    def loss(step: float, draws: dict[int, Any]) -> float:
        values = {n: a + step * along[n] if n in along else a for n, a in net.start.items()}
        if begin < 0 and v.name in net.start:
            values[v.name] = net.start[v.name]
        for i, op in enumerate(ops):
            interpret([op], values)
            if i in held:
                values[v.name] = draws.setdefault(i, values[v.name])
        return float(np.sum(values[net.loss.name]))

    draws: dict[int, Any] = {}
    loss(0.0, draws)
    return along, (loss(1e-6, draws) - loss(-1e-6, draws)) / 2e-6


def slope(net: Net, v: Variable, seed: int) -> tuple[Any, float]:
    """A random direction, and how the loss changes when what *v* stands for moves that way."""
    ops, at = list(net.block.ops), written_by(net, v)
    direction = np.random.default_rng(seed).normal(size=v.shape)

    def loss(step: float) -> float:
        values = dict(net.start)
        interpret(ops[:at], values)
        values[v.name] = values[v.name] + step * direction
        interpret(ops[at:], values)
        return float(np.sum(values[net.loss.name]))

    return direction, (loss(1e-6) - loss(-1e-6)) / 2e-6


def written_by(net: Net, v: Variable) -> int:
    """How many operators have run when the value that *v* stands for is there."""
    ops = list(net.block.ops)
    end = len(ops)
    if v in net.program.renewed:
        loop = net.program.renewed[v][1].op
        end = next(i for i, op in enumerate(ops) if op is loop)
    elif v in set(net.sources) and not returned(net, v):
        return 0
    writers = [i + 1 for i, op in enumerate(ops[:end]) if writes(op, v.name)]
    return max(writers, default=0)


def returned(net: Net, v: Variable) -> bool:
    return any(new is v for new, _ in net.program.renewed.values())


def writes(op: Operator, name: str) -> bool:
    return any(o.name == name for o in op.output_variables())


def check(recipe: list[Step], draw: random.Random) -> None:
    """One program of :func:`~tests.autodiff.random_programs.try_many`."""
    asked = [draw.randrange(200) for _ in range(draw.randint(1, 4))]
    agree(recipe, asked)
    cuts_agree(recipe, asked[0])


if __name__ == "__main__":
    try_many(check, STEPS)
