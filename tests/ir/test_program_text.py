"""Programs print as Paddle prints them, and are read back from what they print."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradtool import paddle
from gradtool.engine.autodiff.gradients import gradients
from gradtool.engine.core import state
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.parse import ProgramTextError, parse_program
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ir.verify import verify
from tests.ops.cases import Case, each_case
from tests.ops.test_op_programs import OneOp


def read_back(program: Program) -> Program:
    """The program read from its own text, which must print the same and be sound; through JSON and bytes as well."""
    text = str(program)
    read = parse_program(text)
    for again in (
        read,
        Program.from_json(program.to_json()),
        Program.parse_from_string(program.serialize_to_string()),
    ):
        assert str(again) == text
        verify(again)
    return read


@each_case()
def test_every_operator_is_read_back(case: Case) -> None:
    one = OneOp(case)
    read = read_back(one.program)
    ours, theirs = one.operator, read.global_block().ops[-1]
    assert theirs.op is ours.op
    assert theirs.attrs == ours.attrs
    assert len(theirs.inputs) == len(ours.inputs)
    assert [type(v) for v in theirs.outputs] == [type(v) for v in ours.outputs]


@each_case("float64", gradient=True)
def test_every_gradient_operator_is_read_back(case: Case) -> None:
    one = OneOp(case)
    _, targets, given_seeds = one.seeded(np.random.default_rng(0))
    seeds = [g for g in gradients(targets, one.wrt(), given_seeds) if g is not None]
    read = read_back(one.program)
    state.random.reset(0)
    again = paddle.static.Executor().run(read, feed=one.feed, fetch_list=[g.name for g in seeds])
    state.random.reset(0)
    for a, b in zip(again, one.run(seeds), strict=True):
        np.testing.assert_array_equal(a, b)


def test_backward_part_scopes_and_roles_are_read_back() -> None:
    program = Program()
    with paddle.static.program_guard(program, Program()):
        x = paddle.static.data("x", [None, 3])
        with paddle.static.name_scope("encoder"):
            h = paddle.static.nn.fc(x, 4, name="a", activation="relu")
        frozen = paddle.ParamAttr(name="frozen", trainable=False)
        loss = paddle.mean(paddle.static.nn.fc(h, 2, weight_attr=frozen))
        pairs = paddle.static.append_backward(loss)
    read = read_back(program)
    block = read.global_block()
    for ours, theirs in zip(program.global_block().ops, block.ops, strict=True):
        assert (theirs.role, theirs.role_var, theirs.scope) == (ours.role, ours.role_var, ours.scope)
    assert {o.scope for o in block.ops} == {"/", "/encoder/"}
    assert read._appending_grad_times == 1
    assert [p.name for p in read.all_parameters() if not p.trainable] == ["frozen"]
    assert block.var("frozen").stop_gradient
    assert block.var("x").is_data
    assert not block.var("a.tmp_0").is_data
    assert block.var(pairs[0][1].name).op is block.ops[-1]


def test_a_program_read_back_goes_on_with_fresh_names_and_reuses_its_backward_part() -> None:
    program = Program()
    with paddle.static.program_guard(program, Program()):
        x = paddle.static.data("x", [2, 3])
        loss = paddle.mean(paddle.nn.functional.relu(paddle.static.nn.fc(x, 4)))
        names = [g.name for _, g in paddle.static.append_backward(loss)]
    read = read_back(program)
    count = len(read.global_block().ops)
    again = paddle.static.append_backward(read.global_block().var(loss.name))
    assert [g.name for _, g in again] == names
    assert len(read.global_block().ops) == count
    with paddle.static.program_guard(read, Program()):
        out = paddle.static.nn.fc(read.global_block().var("x"), 4)
        assert out.name == "fc_1.tmp_1"
        assert paddle.nn.functional.relu(out).name == "relu_1.tmp_0"


def test_places_in_a_list_without_a_gradient_are_kept() -> None:
    x = paddle.static.data("x", [2, 3])
    w = paddle.static.create_parameter([2, 3], "float32", name="w")
    block = paddle.static.default_main_program().global_block()
    joined = block.create_var("joined")
    block.append_op("concat", {"X": [x, w, x]}, {"Out": joined}, {"axis": 0})
    paddle.static.append_backward(paddle.mean(joined))
    grad = next(o for o in block.ops if o.type == "concat_grad")
    assert grad.output("X@GRAD") == ["@EMPTY@", "w@GRAD", "@EMPTY@"]
    theirs = next(o for o in read_back(block.program).global_block().ops if o.type == "concat_grad")
    assert [v is None for v in theirs.outputs[0]] == [True, False, True]


def test_blocks_are_read_back() -> None:
    program = Program()
    outer = program.global_block()
    outer.create_var("x", [2], "float32")
    inner = Block(program, 1, 0)
    program.blocks.append(inner)
    inner.append_op("relu", {"X": "x"}, {"Out": inner.create_var("y", [2])})
    grad_block = Block(program, 2, 0)
    grad_block.forward_block_idx, inner.backward_block_idx = 1, 2
    program.blocks.append(grad_block)
    grad_block.append_op("square", {"X": "y"}, {"Out": grad_block.create_var("z", [2])})
    read = read_back(program)
    assert [(b.parent_idx, b.forward_block_idx, b.backward_block_idx) for b in read.blocks] == [
        (-1, -1, -1),
        (0, -1, 2),
        (0, 1, -1),
    ]
    assert read.block(1).ops[0].inputs[0] is read.global_block().var("x")
    assert read.block(2).ops[0].inputs[0] is read.block(1).var("y")


def test_kinds_without_a_shape_and_an_empty_program() -> None:
    program = Program()
    assert str(program) == "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1\n\n}\n"
    read_back(program)
    block = program.global_block()
    block.create_var("steps", type="STEP_SCOPES")
    block.create_var("rows", [2, 3], "float32", type="SELECTED_ROWS")
    assert "    var steps : STEP_SCOPES)\n" in str(program)
    assert "    var rows : SELECTED_ROWS.shape(2, 3).dtype(float32)" in str(program)
    assert [v.kind for v in read_back(program).list_vars()] == ["STEP_SCOPES", "SELECTED_ROWS"]


def test_paddle_2_calls_the_kind_of_a_tensor_lod_tensor() -> None:
    text = str(Program()).replace("\n\n", "\n    var x : LOD_TENSOR.shape(2,).dtype(int64).stop_gradient(True)\n\n")
    (x,) = parse_program(text).list_vars()
    assert (x.kind, x.shape, x.dtype) == ("DENSE_TENSOR", (2,), paddle.int64)


# -- strings that need quotes ---------------------------------------------------------------------------------------

PLAIN = ["x", "fc_0.tmp_1@GRAD@RENAME@block0@0", "grad/grad/w@GRAD", "变量", ":", "a:b", "a(b", "]}"]
ODD = ["a b", "it's", 'say "hi"', "back\\slash", "two\nlines", "tab\t", "", "\u2028", "\ud800", " x", "a, b"]


@pytest.mark.parametrize("name", PLAIN)
def test_ordinary_names_are_printed_bare(name: str) -> None:
    assert str(_named(name)).split("\n")[1].startswith(f"    var {name} : ")


@pytest.mark.parametrize("name", PLAIN + ODD)
def test_any_name_is_read_back(name: str) -> None:
    read = read_back(_named(name))
    assert list(read.global_block().vars) == [name, "out"]
    assert read.global_block().ops[0].input("X") == [name]


def _named(name: str) -> Program:
    program = Program()
    block = program.global_block()
    block.create_var(name, [2])
    block.append_op("scale", {"X": name}, {"Out": block.create_var("out", [2])})
    return program


@pytest.mark.parametrize("text", [*ODD, "NCHW", "/a/b/", "1.0", "True", "None", "[1]", "ij,jk->ik", "a,", "a)", "-"])
def test_any_string_attribute_is_read_back(text: str) -> None:
    program = _named("x")
    op = program.global_block().ops[0]
    op._set_attr("op_namescope", text)
    block = program.global_block()
    block.append_op("fill_constant", {}, {"Out": block.create_var("c")}, {"str_value": text})
    ops = read_back(program).global_block().ops
    assert [ops[0].attr("op_namescope"), ops[1].attr("str_value")] == [text, text]


@pytest.mark.parametrize("value", [0.1, -1e-20, 1e300, float("inf"), float("-inf"), float("nan"), np.float64(1.5), 3])
def test_numbers_are_read_back_exactly(value: float) -> None:
    program = Program()
    block = program.global_block()
    op = block.append_op("fill_constant", {}, {"Out": block.create_var("c")}, {"value": value, "shape": [2, 0]})
    read = read_back(program).global_block().ops[0]
    assert repr(read.attr("value")) == repr(float(op.attr("value")))
    assert read.attr("shape") == [2, 0]


names = st.text(max_size=6)


@settings(max_examples=60)
@given(st.data())
def test_random_programs_are_read_back(data: st.DataObject) -> None:
    program = Program()
    block = program.global_block()
    variables = [block.create_var("start", [2, 3], "float32")]
    for _ in range(data.draw(st.integers(0, 6))):
        type_ = data.draw(st.sampled_from(["relu", "scale", "elementwise_add", "sum"]))
        name = data.draw(names.filter(lambda n: n not in block.vars and n != "@EMPTY@"))
        pick = st.sampled_from(variables)
        inputs: dict[str, list[Variable]] = {"X": [data.draw(pick)]}
        if type_ == "elementwise_add":
            inputs["Y"] = [data.draw(pick)]
        if type_ == "sum":
            inputs["X"] = data.draw(st.lists(pick, min_size=1, max_size=3))
        attrs = {"scale": data.draw(st.floats())} if type_ == "scale" else {}
        v = block.create_var(name, [2, 3], stop_gradient=data.draw(st.booleans()), persistable=data.draw(st.booleans()))
        op = block.append_op(type_, inputs, {"Out": v}, attrs)
        op._set_attr("op_namescope", data.draw(names))
        op._set_attr("op_role", data.draw(st.sampled_from([0, 1, 2, 256, 257])))
        op._set_attr("op_role_var", data.draw(st.sampled_from([[], [v.name, variables[0].name]])))
        variables.append(v)
    read = read_back(program)
    assert [_facts(o) for o in read.global_block().ops] == [_facts(o) for o in block.ops]


def _facts(op: Operator) -> tuple[object, ...]:
    return op.type, op.input_arg_names, op.output_arg_names, op.role, op.role_var, op.scope, repr(op.attrs)


# -- what cannot be read -------------------------------------------------------------------------------------------

HEAD = "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1"
X = "var x : DENSE_TENSOR.shape(2, 4).dtype(float32).stop_gradient(True)"
Y = X.replace(" x ", " y ")
RELU = "{Out=['y']} = relu(inputs={X=['x']}, op_role = 0)"


def text_of(*lines: str) -> str:
    return "\n".join([HEAD, *lines, "}"])


def test_attributes_that_are_left_out_get_their_defaults() -> None:
    (op,) = parse_program(text_of(X, Y, "{Out=['y']} = scale(inputs={X=['x']})")).global_block().ops
    assert op.attr("scale") == 1.0
    assert op.input_names == ["X"]


@pytest.mark.parametrize(
    ("text", "line", "about"),
    [
        ("", None, "no block"),
        (HEAD, None, "ends inside block 0"),
        ("hello", 1, "block_idx"),
        (HEAD.replace("block_idx:0", "block_idx:1"), 1, "where block 0 belongs"),
        (text_of() + "\n" + HEAD.replace("block_idx:0", "block_idx:1"), 3, "parent"),
        (text_of() + "\n" + HEAD.replace("x:0  parent_idx:-1", "x:1  parent_idx:7"), 3, "parent"),
        (HEAD.replace("forward_idx:-1", "forward_idx:3") + "\n}", 1, "comes later"),
        (HEAD.replace("backward_idx:-1", "backward_idx:3") + "\n}", None, "block 3"),
        (text_of("var x"), 2, "' : '"),
        (text_of("var x : DENSE_TENSOR"), 2, "shape"),
        (text_of("var x : DENSE_TENSOR.shape(2 4).dtype(float32).stop_gradient(True)"), 2, "shape"),
        (text_of(X.replace("float32", "float33")), 2, "float33"),
        (text_of(X.replace("True", "true")), 2, "stop_gradient"),
        (text_of("persist trainable param" + X[3:].replace("2, 4", "-1, 4")), 2, "must be known"),
        (text_of(X, X), 3, "declared twice"),
        (text_of(X + " "), None, None),
        (text_of(X + "!"), 2, "end of the line"),
        (text_of("var 'x : STEP_SCOPES)"), 2, "name"),
        (text_of("var '\\N{nope}' : STEP_SCOPES)"), 2, "no string"),
        (text_of(X, Y, RELU.replace("relu", "rellu")), 4, "rellu"),
        (text_of(X, RELU), 3, "'y' is not declared"),
        (text_of(X, Y, RELU.replace("X=", "Z=")), 4, "no input slot Z"),
        (text_of(X, Y, RELU.replace("Out=", "Oot=")), 4, "no output slot Oot"),
        (text_of(X, Y, RELU.replace("X=['x']", "")), 4, "input X of relu is missing"),
        (text_of(X, Y, RELU.replace("{Out=['y']} = ", "")), 4, "output Out of relu is missing"),
        (text_of(X, Y, RELU.replace("['x']", "['x', 'y']")), 4, "takes one variable"),
        (text_of(X, Y, RELU.replace("X=['x']", "X=['x'], X=['x']")), 4, "slot X is given twice"),
        (text_of(X, Y, RELU.replace("['x']", "[x]")), 4, "in quotes"),
        (text_of(X, Y, RELU.replace("['x']", "['x' 'y']")), 4, "', '"),
        (text_of(X, Y, RELU[:-1]), 4, "attribute"),
        (text_of(X, Y, RELU.replace("op_role = 0", "alpha = 0")), 4, "no attribute alpha"),
        (text_of(X, Y, RELU.replace("op_role = 0", "op_role = 0, op_role = 0")), 4, "given twice"),
        (text_of(X, Y, RELU.replace("op_role = 0", "op_role = True")), 4, "op_role must be"),
        (text_of(X, Y, RELU.replace("op_role = 0", "op_role = zero")), 4, "a value"),
        (text_of(X, Y, RELU.replace("op_role = 0", "op_role_var = ['x']")), 4, "two by two"),
        (text_of(X, Y, RELU.replace("op_role = 0", "op_device = gpu:0")), 4, "places no operators"),
        (text_of(X, Y, RELU.replace("op_role = 0", "with_quant_attr = True")), 4, "quantisation"),
        (text_of(X, Y, "{Out=['y']} = scale(inputs={X=['x']}, scale = [1.0])"), 4, "must be float"),
        (text_of(X, Y, "{Out=['y']} = scale(inputs={X=['x']}, scale = [1.0"), 4, "']'"),
        (text_of(X, Y, "{Out=['y']} = scale(inputs={X=['x']}, scale = " + "9" * 5000 + ")"), 4, "digits"),
        (text_of(X, Y, "{Out=['y']} = scale(inputs={X=['x']}, scale = __import__('os'))"), 4, "a value"),
    ],
)
def test_malformed_texts_are_refused_with_their_line(text: str, line: int | None, about: str | None) -> None:
    if about is None:
        assert parse_program(text).num_blocks == 1
        return
    with pytest.raises(ProgramTextError) as caught:
        parse_program(text)
    assert about in str(caught.value)
    assert line is None or caught.value.message.startswith(f"line {line}: ")


def test_deep_nesting_is_refused_not_recursed_into() -> None:
    text = text_of(X, Y, "{Out=['y']} = scale(inputs={X=['x']}, scale = " + "[" * 100_000)
    with pytest.raises(ProgramTextError):
        parse_program(text)


def test_only_text_is_read() -> None:
    with pytest.raises(ProgramTextError, match="bytes"):
        parse_program(b"")  # type: ignore[arg-type]


@settings(max_examples=200)
@given(st.integers(0, 10_000), st.sampled_from(["", " ", "'", "[", "}", ",", "=", "\n", "x"]))
def test_a_damaged_text_is_read_or_refused_but_never_breaks(at: int, damage: str) -> None:
    text = text_of(X, Y, RELU, "{Out=['y']} = scale(inputs={X=['x']}, bias = 0.5, scale = 2.0)")
    at %= len(text)
    try:
        read = parse_program(text[:at] + damage + text[at + 1 :])
    except ProgramTextError:
        return
    assert str(parse_program(str(read))) == str(read)
