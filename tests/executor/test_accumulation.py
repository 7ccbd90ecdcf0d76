"""Sums whose terms are added as they come: the same to the bit, with one array in place of all terms."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.rows import SelectedRows
from gradtool.engine.executor import accumulation
from gradtool.engine.executor.accumulation import split_sums
from gradtool.engine.executor.live import peak
from gradtool.engine.executor.lower import lower
from gradtool.engine.executor.plan import Instruction, Plan
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numba.fused import same
from tests.autodiff.nets import data, main, mean
from tests.autodiff.random_programs import Net

STEPS, WIDTH = 6, 64
TERM = 8 * WIDTH * WIDTH


def unrolled(on: str = "numpy") -> Plan:
    """The gradient of a weight that every step reads."""
    x = data("x", 2, WIDTH, gradient=False)
    w = paddle.static.create_global_var([WIDTH, WIDTH], 0.1, "float64", persistable=True, name="w")
    w.stop_gradient = False
    h = x
    for _ in range(STEPS):
        h = paddle.tanh(paddle.matmul(h, w))
    paddle.static.gradients(mean(h), [w])
    return lower(main(), ["x"], ["w@GRAD"], backend(on))


def registers(of: Plan) -> list[Any]:
    fed = np.linspace(-1.0, 1.0, 2 * WIDTH).reshape(2, WIDTH)
    return of.registers({"x": fed}, {"w": np.eye(WIDTH) * 0.5})


def gradient(of: Plan, watched: bool = False) -> Any:
    regs = registers(of)
    if watched:
        sums = [step for step in of.steps(regs) if step.op.type == "sum"]
        assert [len(step.inputs) for step in sums] == [STEPS]
    else:
        of.run(regs)
    return regs[of.fetches[0]]


def parts(of: Plan) -> int:
    return sum(i.op is not None and i.op.type == "sum" for i in of.path[0])


@pytest.mark.parametrize("on", ["numpy", "numba"])
def test_a_weight_of_every_step_has_one_array_for_its_gradients(on: str) -> None:
    of = unrolled(on)
    expected = gradient(of, watched=True)
    for _ in range(3):  # groups are compiled after the first run, and compared in the second
        np.testing.assert_array_equal(gradient(of), expected)
    assert parts(of) == STEPS - 1
    assert sum(i.op is not None and i.op.type == "sum" for i in of.instructions) == 1


def test_what_is_alive_at_the_peak_does_not_grow_with_the_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    fewest = peak(of := unrolled(), registers(of)).nbytes
    monkeypatch.setattr(accumulation, "MANY", STEPS + 1)
    with fresh_programs():
        most = peak(of := unrolled(), registers(of)).nbytes
    assert fewest < 4 * TERM < (STEPS - 1) * TERM < most


def test_terms_that_somebody_else_reads_are_left_alone() -> None:
    (whole,) = [i.op for i in unrolled().instructions if i.op is not None and i.op.type == "sum"]
    _, term, *_ = whole.input_variables()
    assert parts(lower(main(), ["x"], ["w@GRAD", term.name], backend("numpy"))) == 1
    assert parts(lower(main(), ["x"], ["w@GRAD"], backend("numpy"))) == STEPS - 1


def test_small_ones_are_added_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulation, "LARGE", TERM + 1)
    assert parts(unrolled()) == 1


def hand_made(order: list[int], terms: list[Any], kernel: Any) -> list[Any]:
    """The registers after terms in this order, and a sum of 0, 1, 2, …"""
    code = [Instruction(None, lambda _, n=n: terms[n], (9,), (n,)) for n in order]
    ins = tuple(range(len(terms)))
    code.append(Instruction(None, kernel, ins, (8,), dead=ins, in_turn=True))
    regs: list[Any] = [None] * 10
    for i in split_sums(code):
        regs[i.outs[0]] = i.kernel(*[regs[r] for r in i.ins])
        for r in i.dead:
            regs[r] = None
    return regs


def add(*terms: Any) -> Any:
    total = terms[0] + terms[1]
    for t in terms[2:]:
        total = total + t
    return total


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 0, 2, 3], [3, 2, 1, 0]])
def test_the_order_of_adding_is_that_of_the_operator(order: list[int]) -> None:
    terms = [np.full(3, v, "float32") for v in (1e8, 1.0, -1e8, 1.0)]
    calls: list[int] = []
    regs = hand_made(order, terms, lambda *given: calls.append(len(given)) or add(*given))
    np.testing.assert_array_equal(regs[8], add(*terms))
    assert calls == ([] if order == sorted(order) else [4])
    np.testing.assert_array_equal(terms[0], 1e8)  # what others may hold is not added into
    assert regs[:8] == [None] * 8


def test_rows_and_numbers_wait_for_the_operator() -> None:
    rows = [SelectedRows(np.array([n]), np.ones((1, 2)), 4) for n in range(4)]
    for terms in (rows, [np.float64(n) for n in range(4)]):
        given: list[Any] = []
        hand_made([*range(4)], terms, lambda *values, given=given: given.extend(values))
        assert [*map(id, given)] == [*map(id, terms)]
    dense = [np.ones((4, 2)), np.ones((4, 2)), rows[0], np.ones((4, 2))]
    total = hand_made([*range(4)], dense, lambda *values: [v if v is rows[0] else v[0, 0] for v in values])
    assert total[8] == [2.0, rows[0], 1.0]  # what comes behind it is not added before it


def test_random_programs_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulation, "LARGE", 0)
    monkeypatch.setattr(accumulation, "MANY", 3)
    split = 0
    for seed in range(16):
        draw = random.Random(seed)
        recipe = [tuple(draw.randrange(60) for _ in range(4)) for _ in range(60)]
        with fresh_programs():
            net = Net(recipe, blocks=seed % 2 == 0)
            pairs = paddle.static.append_backward(net.loss, net.sources)
            of = lower(net.program, net.feed, [net.loss.name, *(g.name for _, g in pairs)], backend("numpy"))
        split += parts(of) - sum(i.op is not None and i.op.type == "sum" for i in of.instructions)
        watched, bare = (of.registers(net.feed, dict(net.start)) for _ in range(2))
        assert [*of.steps(watched)]
        of.run(bare)
        assert all(same(watched[r], bare[r]) for r in of.fetches), seed
    assert split >= 10
