"""What operators and variables that are alike hold is one object, and stays each one's own when it is changed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from gradtool import paddle
from gradtool.engine.core import watch
from gradtool.engine.core.identity import identity
from gradtool.engine.ir import roles
from gradtool.engine.ir.operator import REMEMBERED_MARKS, make_marks
from gradtool.engine.ir.variable import USUAL, Variable


def chain(length: int) -> tuple[Any, Any]:
    """A program of *length* operators, one reading the other, with its backward part."""
    program = paddle.static.Program()
    with paddle.static.program_guard(program, paddle.static.Program()):
        x = paddle.static.data("x", [2, 3])
        x.stop_gradient = False
        h = x
        for _ in range(length):
            h = paddle.tanh(h)
        paddle.static.append_backward(paddle.mean(h), [x])
    return program, x


def test_alike_operators_and_variables_share_what_they_have_in_common() -> None:
    program, x = chain(20)
    for shown in (program, program.clone()):
        block = shown.global_block()
        assert {id(v.standing) for v in block.vars.values() if v.name != x.name} == {id(USUAL)}
        marks = {id(op.marks) for op in block.ops}
        assert len(marks) == len({(op.loc, op.role, op.scope, op.role_var) for op in block.ops}) < 7
        assert {id(op.block) for op in block.ops} == {id(block)}
    ops = program.global_block().ops[:20]
    assert all(later.inputs is before.outputs for before, later in pairwise(ops))


def test_what_is_changed_is_changed_of_one_alone() -> None:
    program, _ = chain(3)
    first, second, third, *_ = program.global_block().ops
    first.role |= roles.LOSS
    second.role_var = ("a", "b")
    third.scope, third.repeats = "/block/", first
    assert [(op.role, op.role_var, op.scope, op.repeats) for op in (first, second, third)] == [
        (roles.LOSS, (), "/", None),
        (0, ("a", "b"), "/", None),
        (0, (), "/block/", first),
    ]
    first.role = 0
    second.role_var = ()
    assert first.marks is second.marks
    v, other = (next(op.output_variables()) for op in (first, second))
    v.is_data, v.kind, v.persistable = True, "SELECTED_ROWS", True
    assert (v.is_data, v.kind, v.persistable) == (True, "SELECTED_ROWS", True)
    assert (other.is_data, other.kind, other.persistable) == (False, "DENSE_TENSOR", False)


def test_a_block_remembers_few_marks_and_tells_places_apart_whose_objects_are_gone() -> None:
    program, _ = chain(1)
    block, op = program.global_block(), program.global_block().ops[0]
    places = [((op.loc[0][0], line),) for line in range(REMEMBERED_MARKS + 5)]
    for place in places:
        op.loc = place
        assert op.marks is make_marks(block, place, op.role, op.scope)
        assert len(block.marks) <= REMEMBERED_MARKS
    stale = ((op.loc[0][0], 7),)
    block.marks[identity(stale), 0, "/"] = op.marks  # as if a place that is gone had lain there
    assert make_marks(block, stale, 0, "/").loc is stale


def test_a_variable_notes_where_it_was_stopped_while_somebody_watches() -> None:
    block = paddle.static.Program().global_block()
    with watch.watch(tensors=lambda event: None):
        stopped = block.create_var(name="stopped", shape=[2], dtype="float32", stop_gradient=True)
        v = block.create_var(name="v", shape=[2], dtype="float32")
        assert not v.stopped_at
        v.stop_gradient = True
    assert v.stopped_at
    assert stopped.stopped_at
    assert v.stopped_at is not stopped.stopped_at
    assert isinstance(v, Variable)
    assert v.twin(block).stopped_at == v.stopped_at
    v.stop_gradient = False
    assert not block.create_var(name="w", shape=[2], dtype="float32", stop_gradient=True).stopped_at


def test_the_backward_part_leaves_nothing_behind_that_only_building_it_needs(monkeypatch: Any) -> None:
    from gradtool.engine.autodiff import naming

    namers = []
    begin = naming.Namer.__init__
    monkeypatch.setattr(naming.Namer, "__init__", lambda self, *a: (namers.append(self), begin(self, *a))[1])
    chain(10)
    assert len(namers) == 1
    assert not namers[0]._taken
