"""Runs of static programs written down from their steps: rounds of blocks, and one number for every value."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import watch
from gradtool.engine.executor.executor import Executor
from gradtool.engine.ir.operator import Operator
from gradtool.engine.runs import of_steps
from gradtool.engine.runs.bound_kernels import NOT_DRAWN_AGAIN
from gradtool.engine.runs.rounds import Round
from gradtool.engine.runs.timeline import NOBODY, Timeline


def loop(times: int, body: Any, h: Any) -> Any:
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], times, "int64")
    return paddle.static.nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, body(h)], [i, h])[1]


def written(loss: Any, runs: int = 1) -> Timeline:
    paddle.static.Executor().run(paddle.static.default_startup_program())
    rounds = of_steps.watch_steps()
    with watch.watch(rounds):
        for _ in range(runs):
            Executor().run(loss.block.program, fetch_list=[loss])
    return of_steps.timeline(rounds.last, loss, {})


def start() -> Any:
    return paddle.static.create_parameter([2], "float32", name="w")


def whole(timeline: Timeline) -> Round[Any]:
    assert timeline.unrolled is not None
    return timeline.unrolled


def the_rounds(block: Round[Any], type_: str) -> list[Round[Any]]:
    [rounds] = [rounds for op, rounds in block.inner.items() if op.type == type_]
    return rounds


def test_loops_in_loops_have_rounds_in_rounds() -> None:
    timeline = written(paddle.sum(loop(2, lambda h: loop(3, paddle.tanh, h), start() * 1.0)))
    outer = the_rounds(whole(timeline), "while")
    assert [r.number for r in outer] == [0, 1]
    assert [[r.number for r in the_rounds(block, "while")] for block in outer] == [[0, 1, 2], [0, 1, 2]]
    assert sum(e.type == "tanh" for e in timeline.entries) == 6
    assert timeline.guards, "conditions decide how often the blocks run"


@pytest.mark.parametrize("runs", [1, 3])
def test_the_last_run_counts(runs: int) -> None:
    timeline = written(paddle.sum(paddle.tanh(start() * 2.0)), runs)
    assert [e.name for e in timeline.entries] == ["scale.0", "tanh.0", "reduce_sum.0"]


def made_by(timeline: Timeline, number: int) -> str:
    """The operator that computed a value, whoever handed it on."""
    entry = timeline.entries[timeline.values[number].maker]
    return made_by(timeline, entry.operands[0]) if entry.type == "assign" else f"{entry.type} at {entry.index}"


def test_a_value_keeps_its_number_on_its_way_through_a_loop() -> None:
    timeline = written(paddle.sum(loop(3, paddle.tanh, paddle.exp(start()))))
    chain = [e for e in timeline.entries if e.type in ("exp", "tanh", "reduce_sum")]
    assert [e.type for e in chain] == ["exp", "tanh", "tanh", "tanh", "reduce_sum"]
    for before, after in pairwise(chain):
        assert made_by(timeline, after.operands[0]) == f"{before.type} at {before.index}"
    assert timeline.loss == chain[-1].outs[0][1]


def test_what_operators_made_and_read_is_held() -> None:
    w = start()
    timeline = written(paddle.sum(paddle.exp(w)))
    [number] = timeline.leaves[w]
    value = timeline.values[number]
    assert (value.name, value.role, value.maker) == ("w", "parameter", NOBODY)
    exp = timeline.entries[0]
    np.testing.assert_array_equal(timeline.store.get(exp.outs[0][1]), np.exp(timeline.store.get(number)))


def test_a_branch_that_was_not_taken_has_no_rounds() -> None:
    w = start()
    taken = paddle.static.nn.cond(paddle.sum(w) < 1e9, lambda: paddle.tanh(w), lambda: paddle.exp(w))
    timeline = written(paddle.sum(taken))
    ran: dict[Operator, list[Round[Any]]] = whole(timeline).inner
    assert [[e.type for e in block.steps] for [block] in ran.values()] == [["tanh", "assign"]]
    assert "exp" not in {e.type for e in timeline.entries}


def test_random_numbers_stay_what_they_were() -> None:
    dropped = paddle.nn.functional.dropout(start() * paddle.rand([2]), 0.5)
    by_type = {e.type: e for e in written(paddle.sum(dropped)).entries}
    assert by_type["uniform_random"].fixed == NOT_DRAWN_AGAIN
    assert by_type["uniform_random"].binding is None
    mask = by_type["dropout"].binding
    assert mask is not None
    assert mask.mask == by_type["dropout"].outs[1][1]
