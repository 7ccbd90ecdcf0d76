"""Reverse steps, edits, drops and forks on random programs, against runs in which the same was done by hand.

``python -m tests.runs.test_edits_of_random_programs COUNT SEED`` tries many more programs than the tests do.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool import paddle
from gradtool.engine.core.errors import ExecutionError, FixedError
from gradtool.engine.eager.record import apply
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.variable import Variable
from gradtool.engine.runs import of_program, of_tape
from gradtool.engine.runs.branch import Branch
from gradtool.engine.runs.recorder import Recorder
from gradtool.engine.runs.timeline import Timeline, Value
from tests.autodiff.random_programs import Net, Step, examples, interpret, steps
from tests.autodiff.test_random_blocks import backward, planned

STEPS = 40
END = 10**9


SETTINGS = examples(150)


@SETTINGS
@given(steps(STEPS), st.lists(st.integers(0, 99), max_size=3), st.integers(0, 10**6))
def test_static_programs(recipe: list[Step], checkpoints: list[int], seed: int) -> None:
    static(recipe, checkpoints, seed)


@SETTINGS
@given(steps(STEPS), st.integers(0, 10**6))
def test_dynamic_mode(recipe: list[Step], seed: int) -> None:
    dynamic(recipe, seed)


# -- static programs --------------------------------------------------------------------------------------------------


def static(recipe: Sequence[Step], checkpoints: Sequence[int], seed: int) -> None:
    """Record one program, walk through it and edit it; a plan run by hand says what must come of it."""
    draw = random.Random(seed)
    with fresh_programs():
        net = Net(recipe, blocks=True)
        checkpointed = [net.temporaries[c % len(net.temporaries)] for c in checkpoints] if net.temporaries else []
        gradients = backward(net, set(), checkpointed)
        expected = dict(zip(gradients, planned(net, list(gradients.values())), strict=True))
        scope = paddle.static.global_scope()
        scope.values.update({v.name: net.start[v.name] for v in net.sources if v.persistable})
        executor = paddle.static.Executor()
        fetch = [net.loss, *gradients.values()]
        with executor.hold(net.program, net.feed, fetch) as (plan, regs):

            def record(budget: int | None = None) -> Timeline:
                return of_program.record(net.program, plan, regs, gradients, loss=net.loss, budget=budget)

            line = record()
            assert line.failed is None
            same(finals(line, Branch(line)), expected)
            walk(record(draw.choice([0, 100, 2000])), line, draw)
            for _ in range(4):
                at, number, array = an_edit(line, draw)
                branch = Branch(line, cursor=at)
                fork = branch.fork("fork")
                fork.edit(number, array, "")
                from_then = max(at, line.values[number].maker + 1)
                agree(line, fork, plan, regs, (from_then, number, array), set())
                same(finals(line, branch), expected)
                dropped = line.entries[draw.randrange(len(line.entries))]
                if all(hasattr(line.store.get(n), "dtype") for _, n in dropped.outs if n >= 0):
                    fork.cursor = min(fork.cursor, dropped.index)
                    fork.drop(dropped, "")
                    agree(line, fork, plan, regs, (from_then, number, array), {dropped.index})
                    fork.undo()
                fork.undo()
                same(finals(line, fork), expected)


def by_hand(line: Timeline, plan: Any, regs: Sequence[Any], edit: tuple[int, int, Any], dropped: set[int]) -> list[Any]:
    """The registers after a run in which one was overwritten on the way."""
    registers = list(regs)
    by_op = {e.origin: e for e in line.entries}
    at, number, array = edit
    with np.errstate(all="ignore"):
        for instruction in plan.instructions:
            entry = by_op[instruction.op]
            if entry.index == at:
                registers[number] = array
            results = instruction.kernel(*[registers[r] for r in instruction.ins])
            for r, result in zip(instruction.outs, results if instruction.spread else (results,), strict=True):
                if r >= 0:
                    registers[r] = np.zeros_like(result) if entry.index in dropped else result
    return registers


def agree(
    line: Timeline, branch: Branch, plan: Any, regs: Sequence[Any], edit: tuple[int, int, Any], dropped: set[int]
) -> None:
    numbers = [n for n, v in enumerate(line.values) if v.maker >= 0 and hasattr(line.store.get(n), "dtype")]
    try:
        registers = by_hand(line, plan, regs, edit, dropped)
    except ExecutionError:  # another branch of a condition than the one whose results are read
        with pytest.raises((ExecutionError, FixedError)):
            [branch.value(n, END) for n in numbers]
        return
    for n in numbers:
        wanted = edit[2] if n == edit[1] else registers[n]
        np.testing.assert_array_equal(np.asarray(branch.value(n, END)), np.asarray(wanted), line.values[n].name)


# -- dynamic mode -----------------------------------------------------------------------------------------------------


def dynamic(recipe: Sequence[Step], seed: int) -> None:
    """Record one run, and edit results and gradients; a run in which the same is done on the way says what follows."""
    draw = random.Random(seed)
    with fresh_programs():
        net = Net(recipe, blocks=False)
        forward = list(net.block.ops)
        paddle.disable_static()
        try:
            plain = run(net, forward, {}, {})
            recorder = Recorder()
            with recorder.record():
                recorded = run(net, forward, {}, {})
            same(recorded[1], plain[1])
            if recorder.last is None:
                return
            shown = {t.leaf: name for name, t in recorded[0].items() if not t.stop_gradient and t.node is None}
            line = of_tape.timeline(recorder, named={}, shown=shown)
            same(finals(line, Branch(line)), plain[1])
            tiny = Recorder(budget=draw.choice([0, 100, 2000]))
            with tiny.record():
                run(net, forward, {}, {})
            walk(of_tape.timeline(tiny, named={}), line, draw)
            for _ in range(4):
                edit_a_result(net, forward, line, draw)
                edit_a_gradient(net, forward, line, recorded[2], draw)
        finally:
            paddle.enable_static()


def run(
    net: Net, ops: Sequence[Operator], values: dict[int, Any], gradients: dict[int, Any]
) -> tuple[dict[str, Tensor], dict[str, Any], list[Tensor]]:
    """Compute the net on tensors and differentiate it.

    Args:
        values: the number of a result, counted as results are made, and what to overwrite it by.
        gradients: the same for gradients.

    Returns:
        The sources, the gradients of those, and all results.
    """
    sources = {v.name for v in net.sources}
    tensors: dict[str, Any] = {n: Tensor(np.array(v), stop_gradient=n not in sources) for n, v in net.start.items()}
    leaves = {v.name: tensors[v.name] for v in net.sources}
    results: list[Tensor] = []

    def record(op: Operator, operands: Sequence[Any]) -> Sequence[Any]:
        result = apply(op.op, operands, op.attrs)
        return list(result) if isinstance(result, tuple) else [result]

    def finish(variable: Variable, value: Any) -> Any:
        if isinstance(value, Tensor):
            number = len(results)
            results.append(value)
            if number in values:
                value.array[...] = values[number]
            if number in gradients and not value.stop_gradient:
                value.register_hook(lambda g: Tensor(np.array(gradients[number])))
        return value

    interpret(ops, tensors, compute=record, finish=finish)
    loss = tensors[net.loss.name]
    if not loss.stop_gradient:
        loss.backward()
    return leaves, {n: None if t.grad is None else t.grad.numpy() for n, t in leaves.items()}, results


def edit_a_result(net: Net, ops: Sequence[Operator], line: Timeline, draw: random.Random) -> None:
    """Overwrite what an operator made, at once."""
    ops_of = [e for e in line.entries if not e.backward]
    entry = ops_of[draw.randrange(len(ops_of))]
    number = entry.outs[0][1]
    held = line.store.get(number)
    array = np.asarray(np.random.default_rng(draw.randrange(99)).uniform(-1, 1, held.shape), held.dtype)
    _, _, tensors = run(net, ops, {}, {})
    places = [i for i, t in enumerate(tensors) if t.array.shape == held.shape and np.array_equal(t.array, held)]
    if len(places) != 1 or tensors[places[0]].array.base is not None:
        return  # several results look alike, or it shares its storage with what it was made of
    branch = Branch(line)
    branch.edit(number, array, "")
    _, expected, _ = run(net, ops, {places[0]: array}, {})
    same(finals(line, branch), expected)


def edit_a_gradient(
    net: Net, ops: Sequence[Operator], line: Timeline, results: Sequence[Tensor], draw: random.Random
) -> None:
    """Give the whole gradient of a result other numbers."""
    tensors = [(i, t) for i, t in enumerate(results) if not t.stop_gradient]
    i, tensor = tensors[draw.randrange(len(tensors))]
    by_array = [n for n, v in enumerate(line.values) if line.store.get(n) is tensor.array and v.maker >= 0]
    if len(by_array) != 1 or not line.versions(f"{line.values[by_array[0]].name}@GRAD"):
        return
    gradient = line.versions(f"{line.values[by_array[0]].name}@GRAD")[-1]
    array = np.random.default_rng(draw.randrange(99)).uniform(-1, 1, tensor.array.shape)
    branch = Branch(line)
    branch.edit(gradient, array, "")
    _, expected, _ = run(net, ops, {}, {i: array})
    same(finals(line, branch), expected)


# -- both -------------------------------------------------------------------------------------------------------------


def finals(line: Timeline, branch: Branch) -> dict[str, Any]:
    return {name: None if n is None else np.asarray(branch.value(n, END)) for name, n in line.results.items()}


def same(came: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if value is None or came.get(name) is None:
            assert value is None or not np.any(value), name
            assert came.get(name) is None, name
        else:
            np.testing.assert_array_equal(came[name], value, err_msg=name)


def walk(small: Timeline, line: Timeline, draw: random.Random) -> None:
    """Look at values in any order, most of which have to be computed again."""
    branch = Branch(small)
    numbers = [n for n, v in enumerate(line.values) if is_numbers(line, n, v)]
    for _ in range(min(60, 2 * len(numbers))):
        n = numbers[draw.randrange(len(numbers))]
        np.testing.assert_array_equal(
            np.asarray(branch.make(n)), np.asarray(Branch(line).make(n)), small.values[n].name
        )


def is_numbers(line: Timeline, number: int, value: Value) -> bool:
    used = value.maker >= 0 or any(number in e.inputs for e in line.entries)
    return used and hasattr(Branch(line).make(number), "dtype")


def an_edit(line: Timeline, draw: random.Random) -> tuple[int, int, Any]:
    """A place to stand, a value, and other numbers for it."""
    numbers = [
        n
        for n, v in enumerate(line.values)
        if hasattr(line.store.get(n), "dtype") and line.store.get(n).dtype.kind == "f" and v.name
    ]
    number = numbers[draw.randrange(len(numbers))]
    held = line.store.get(number)
    array = np.random.default_rng(draw.randrange(99)).uniform(-1, 1, held.shape).astype(held.dtype)
    return draw.randrange(len(line.entries)), number, array


def main(count: int, seed: int) -> None:
    """Try *count* programs of either mode beginning with that seed; print the recipe of each that fails."""
    warnings.simplefilter("ignore")
    failed = 0
    for number in range(seed, seed + count):
        draw = random.Random(number)
        recipe = [tuple(draw.randrange(60) for _ in range(4)) for _ in range(draw.randint(1, STEPS))]
        checkpoints = [draw.randrange(100) for _ in range(draw.randrange(4))]
        for what, call in (
            ("static", lambda: static(recipe, checkpoints, number)),  # type: ignore[arg-type]  # noqa: B023
            ("dynamic", lambda: dynamic(recipe, number)),  # type: ignore[arg-type]  # noqa: B023
        ):
            paddle.enable_static()
            try:
                call()
            except Exception as error:
                failed += 1
                print(f"seed {number} {what}: {type(error).__name__}: {str(error).strip().splitlines()[0]}")
    print(f"{count} programs, {failed} failed")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
