"""Each invariant of ``ir/verify.py`` holds for what gradtool builds, and is found broken when it is broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core.spec import TensorSpec
from gradtool.engine.ir import verify
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.variable import Parameter, Variable


@pytest.fixture
def program() -> Program:
    """A model with its backward part."""
    program = Program()
    with paddle.static.program_guard(program, Program()):
        x = paddle.static.data("x", [None, 3])
        h = paddle.nn.functional.relu(paddle.static.nn.fc(x, 4, name="a"))
        paddle.static.append_backward(paddle.mean(paddle.scale(paddle.add_n([h, h]), 2.0)))
    return program


def broken(program: Program) -> list[str]:
    return list(dict.fromkeys(name for name, _, _ in verify.problems(program)))


def test_a_model_and_its_copies_are_sound(program: Program) -> None:
    for form in (program, program.clone(), program.clone(for_test=True), Program.parse_from_string(str(program))):
        verify.verify(form)


def op_of(program: Program, type_: str) -> object:
    return next(o for o in program.global_block().ops if o.type == type_)


def _renumber(p: Program) -> None:
    p.global_block().idx = 1


def _orphan(p: Program) -> None:
    p.blocks.append(Block(p, 1, 5))


def _lost_forward(p: Program) -> None:
    p.global_block().forward_block_idx = 4


def _pending(p: Program) -> None:
    p.global_block().pending.append(p.global_block().ops[0])


def _renamed(p: Program) -> None:
    p.global_block().var("x").name = "z"


def _moved_variable(p: Program) -> None:
    p.global_block().var("x").block = Program().global_block()


def _parameter_inside(p: Program) -> None:
    inner = Block(p, 1, 0)
    inner.vars["w"] = Parameter(inner, "w", TensorSpec((2,), "float32"))
    p.blocks.append(inner)


def _unknown_parameter(p: Program) -> None:
    p.global_block().var("a.w_0").spec = TensorSpec((-1, 4), "float32")


def _wrong_writer(p: Program) -> None:
    p.global_block().var("a.tmp_0").op = p.global_block().ops[-1]


def _forgotten_writer(p: Program) -> None:
    p.global_block().var("a.tmp_0").op = None


def _foreign_operator(p: Program) -> None:
    p.global_block().ops[0].block = Program().global_block()


def _twice(p: Program) -> None:
    p.global_block().ops.append(p.global_block().ops[-1])


def _missing_output_slot(p: Program) -> None:
    op_of(p, "relu").outputs = ()  # type: ignore[attr-defined]


def _too_many_inputs(p: Program) -> None:
    op = p.global_block().ops[0]
    op.inputs = (*op.inputs, op.inputs[0])


def _left_out_input(p: Program) -> None:
    p.global_block().ops[0].inputs = p.global_block().ops[0].inputs[:1]


def _empty_input(p: Program) -> None:
    p.global_block().ops[0].inputs = (None, p.global_block().var("a.w_0"))


def _list_in_a_single_slot(p: Program) -> None:
    op = p.global_block().ops[0]
    op.inputs = ((p.global_block().var("x"),), op.inputs[1])


def _single_in_a_list_slot(p: Program) -> None:
    op_of(p, "sum").inputs = (p.global_block().var("x"),)  # type: ignore[attr-defined]


def _no_variable(p: Program) -> None:
    p.global_block().ops[0].inputs = ("x", p.global_block().var("a.w_0"))  # type: ignore[assignment]


def _foreign_operand(p: Program) -> None:
    op = op_of(p, "relu")
    stranger = Variable(p.global_block(), "a.tmp_1", TensorSpec((-1, 4), "float32"))
    op.inputs = (stranger,)  # type: ignore[attr-defined]


def _missing_attribute(p: Program) -> None:
    p.global_block().ops[0].attrs = {}


def _wrong_attribute(p: Program) -> None:
    op = op_of(p, "scale")
    op.attrs = {**op.attrs, "scale": 2}  # type: ignore[attr-defined]


def _impossible_attribute(p: Program) -> None:
    op = op_of(p, "scale")
    op.attrs = {**op.attrs, "scale": "two"}  # type: ignore[attr-defined]


def _unknown_role(p: Program) -> None:
    p.global_block().ops[0].role = 512


def _odd_role_var(p: Program) -> None:
    p.global_block().ops[0].role_var = ("x",)


def _unknown_role_var(p: Program) -> None:
    p.global_block().ops[0].role_var = ("x", "nope")


def _wrong_spec(p: Program) -> None:
    p.global_block().var("a.tmp_1").spec = TensorSpec((-1, 7), "float32")


def _wrong_dtype(p: Program) -> None:
    p.global_block().var("mean_0.tmp_0").spec = TensorSpec((), "float64")


def _wrong_gradient_spec(p: Program) -> None:
    p.global_block().var("a.w_0@GRAD").spec = TensorSpec((4, 3), "float32")


def _impossible_inputs(p: Program) -> None:
    p.global_block().var("a.w_0").spec = TensorSpec((5, 4), "float32")


def _lost_origin(p: Program) -> None:
    gradient = op_of(p, "relu_grad")
    gradient.origin = p.clone().global_block().ops[2]  # type: ignore[attr-defined]


def _lost_repetition(p: Program) -> None:
    op_of(p, "relu_grad").repeats = p.clone().global_block().ops[2]  # type: ignore[attr-defined]


def _branch(program: Program) -> Any:
    """An operator that runs a block."""
    with paddle.static.program_guard(program):
        h = program.global_block().var("a.tmp_1")
        paddle.static.nn.cond(paddle.mean(h) > 0.0, lambda: h * 2.0, lambda: paddle.exp(h))
    return next(o for o in program.global_block().ops if o.type == "conditional_block")


def _shared_block(program: Program) -> None:
    first = _branch(program)
    second = next(o for o in program.global_block().ops if o.type == "conditional_block" and o is not first)
    second.attrs = {**second.attrs, "sub_block": first.attrs["sub_block"]}


def _unnamed_input(program: Program) -> None:
    op = _branch(program)
    op.inputs = ((), *op.inputs[1:])


def _written_twice(program: Program) -> None:
    block = program.global_block()
    split = block.append_op(
        "split", {"X": "a.tmp_1"}, {"Out": [block.create_var("p"), block.create_var("q")]}, {"num": 2, "axis": 1}
    )
    split.outputs = ((block.var("p"), block.var("p")),)


def _immense(p: Program) -> None:
    p.global_block().create_var("n", [2**53, 3])


def _reversed_block(program: Program) -> None:
    _branch(program).attrs["sub_block"].ops.reverse()


def _early_branch(program: Program) -> None:
    op = _branch(program)
    program.global_block().ops.remove(op)
    program.global_block().ops.insert(0, op)


@pytest.mark.parametrize(
    ("damage", "invariant"),
    [
        (_renumber, "blocks are numbered"),
        (_orphan, "blocks are numbered"),
        (_lost_forward, "blocks are numbered"),
        (_pending, "nothing is half built"),
        (_renamed, "a block holds its variables under their names"),
        (_moved_variable, "a block holds its variables under their names"),
        (_parameter_inside, "parameters are known"),
        (_unknown_parameter, "parameters are known"),
        (_wrong_writer, "a variable knows its last writer"),
        (_forgotten_writer, "a variable knows its last writer"),
        (_foreign_operator, "an operator stands in its block, once"),
        (_twice, "an operator stands in its block, once"),
        (_missing_output_slot, "slots fit the definition"),
        (_too_many_inputs, "slots fit the definition"),
        (_left_out_input, "slots fit the definition"),
        (_empty_input, "slots fit the definition"),
        (_list_in_a_single_slot, "slots fit the definition"),
        (_single_in_a_list_slot, "slots fit the definition"),
        (_no_variable, "slots fit the definition"),
        (_written_twice, "an operator writes a variable once"),
        (_immense, "a tensor fits into a memory"),
        (_reversed_block, "a block runs as its operator says"),
        (_early_branch, "a branch or a loop reads what is there"),
        (_foreign_operand, "operands belong to the program"),
        (_missing_attribute, "attributes fit the definition"),
        (_wrong_attribute, "attributes fit the definition"),
        (_impossible_attribute, "attributes fit the definition"),
        (_unknown_role, "roles are known"),
        (_odd_role_var, "roles are known"),
        (_unknown_role_var, "roles are known"),
        (_wrong_spec, "specs match inference"),
        (_wrong_dtype, "specs match inference"),
        (_wrong_gradient_spec, "specs match inference"),
        (_impossible_inputs, "specs match inference"),
        (_lost_origin, "gradient operators know their forward operator"),
        (_lost_repetition, "gradient operators know their forward operator"),
        (_shared_block, "a block belongs to one operator"),
        (_unnamed_input, "an operator names what its block uses"),
    ],
)
def test_damage_is_found(program: Program, damage: Callable[[Program], None], invariant: str) -> None:
    damage(program)
    assert broken(program) == [invariant]
    with pytest.raises(verify.BrokenProgram, match="after the damage") as caught:
        verify.verify(program, "the damage")
    assert caught.value.broken == invariant


def test_every_invariant_is_broken_by_a_test() -> None:
    marks = test_damage_is_found.pytestmark  # type: ignore[attr-defined]
    tested = {invariant for _, invariant in marks[0].args[1]}
    assert tested == set(verify.INVARIANTS)


def test_the_message_says_where(program: Program) -> None:
    _wrong_spec(program)
    with pytest.raises(verify.BrokenProgram) as caught:
        verify.verify(program)
    assert "'a.tmp_1' is float32[-1, 7], but elementwise_add computes float32[-1, 4]" in caught.value.message
    assert caught.value.op is not None
    assert caught.value.op.startswith("elementwise_add(")
    assert caught.value.made is not None
    assert "test_program_verification.py" in caught.value.made


def test_a_long_list_of_problems_is_cut(program: Program) -> None:
    for op in program.global_block().ops:
        op.role = 512
    with pytest.raises(verify.BrokenProgram, match=r"and \d+ more"):
        verify.verify(program)


def test_verification_runs_after_passes_when_asked_for(monkeypatch: pytest.MonkeyPatch, program: Program) -> None:
    _unknown_role(program)
    monkeypatch.delenv("GRADTOOL_VERIFY", raising=False)
    program.clone()
    monkeypatch.setenv("GRADTOOL_VERIFY", "1")
    loss = program.global_block().var("mean_0.tmp_0")
    for after, change in (
        ("clone", program.clone),
        ("append_backward", lambda: paddle.static.append_backward(loss)),
        ("gradients", lambda: paddle.static.gradients(loss, program.global_block().var("a.tmp_0"))),
    ):
        with pytest.raises(verify.BrokenProgram, match=f"not sound after {after}: roles are known"):
            change()
