"""Programs, blocks, operators and variables behave as Paddle's."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core.errors import (
    ArgumentTypeError,
    NameClash,
    OperatorError,
    ShapeError,
    SlotNotFound,
    UsageError,
    VariableNotFound,
)
from gradtool.engine.core.source import NOWHERE
from gradtool.engine.ir import verify
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import BlockValue


@pytest.fixture
def block() -> Block:
    """Block 0 of the default program, holding a variable ``x`` and a parameter ``w``."""
    home = paddle.static.default_main_program().global_block()
    home.create_var("x", [2, 3], "float32")
    home.create_parameter("w", [3, 4], "float32")
    return home


def types(block: Block) -> list[str]:
    return [o.type for o in block.ops]


# -- programs -------------------------------------------------------------------------------------------------------


def test_a_new_program() -> None:
    program = Program()
    assert (program.num_blocks, program.random_seed, program.current_block_idx) == (1, 0, 0)
    assert program.block(0) is program.global_block() is program.current_block()
    home = program.global_block()
    assert (home.idx, home.parent_idx, home.forward_block_idx, home.backward_block_idx) == (0, -1, -1, -1)
    with pytest.raises(IndexError):
        program.block(3)


def test_random_seed_must_be_a_number() -> None:
    program = Program()
    program.global_seed(5)
    assert program.random_seed == 5
    with pytest.raises(ValueError, match="str"):
        program.random_seed = "a"  # type: ignore[assignment]


def test_every_edit_grows_the_version(block: Block) -> None:
    program = block.program
    seen = [program.version]

    def grown() -> bool:
        seen.append(program.version)
        return seen[-1] > seen[-2]

    y = block.create_var("y")
    assert grown()
    op = block.append_op("relu", {"X": "x"}, {"Out": y})
    assert grown()
    op._set_attr("op_role", 1)
    assert grown()
    block._insert_op(0, type="relu", inputs={"X": "x"}, outputs={"Out": y})
    assert grown()
    op._rename_input("x", "y")
    assert grown()
    op._rename_output("y", "x")
    assert grown()
    block._remove_op(0)
    assert grown()
    block._rename_var("y", "z")
    assert grown()
    program.random_seed = 3
    assert grown()


def test_the_program_counts_names_and_can_start_anew() -> None:
    program = Program()
    assert [program.names("fc"), program.names("fc")] == ["fc_0", "fc_1"]
    with program.switch_name_generator_guard("net_"):
        assert program.names("fc") == "net_fc_0"
    assert program.names("fc") == "fc_2"


def test_two_programs_count_names_apart() -> None:
    types = []
    for _ in range(2):
        with paddle.static.program_guard(Program(), Program()):
            types.append(paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 4).name)
    assert types == ["fc_0.tmp_1", "fc_0.tmp_1"]


@pytest.mark.parametrize("argument", ["a", None, 3])
def test_program_guard_takes_programs(argument: object) -> None:
    with pytest.raises(TypeError, match="main_program"), paddle.static.program_guard(argument):
        pass
    if argument is not None:
        with pytest.raises(TypeError, match="startup_program"), paddle.static.program_guard(Program(), argument):
            pass


def test_program_guard_without_a_startup_program_keeps_the_current_one() -> None:
    before = paddle.static.default_startup_program()
    with paddle.static.program_guard(Program()):
        assert paddle.static.default_startup_program() is before


def test_switching_programs_returns_the_one_before() -> None:
    main, startup = paddle.static.default_main_program(), paddle.static.default_startup_program()
    new = Program()
    assert paddle.framework.switch_main_program(new) is main
    assert paddle.framework.switch_startup_program(new) is startup
    assert paddle.static.default_main_program() is new is paddle.static.default_startup_program()


# -- variables ------------------------------------------------------------------------------------------------------


def test_var_finds_by_name(block: Block) -> None:
    assert block.var("x").name == "x"
    assert block.has_var("x")
    assert not block.has_var("y")
    with pytest.raises(ValueError, match="var y not in this block"):
        block.var("y")
    with pytest.raises(TypeError):
        block.var(3)  # type: ignore[arg-type]


def test_a_missing_variable_names_near_ones(block: Block) -> None:
    block.create_var("hidden.tmp_0")
    with pytest.raises(VariableNotFound, match=r"did you mean 'hidden\.tmp_0'"):
        block.var("hiden.tmp_0")


def test_variables_without_a_name_are_numbered(block: Block) -> None:
    assert [block.create_var().name, block.create_var().name] == ["_generated_var_0", "_generated_var_1"]
    assert block.create_parameter(shape=[2], dtype="float32").name == "_generated_var_2"


def test_a_variable_created_again_is_the_same_one(block: Block) -> None:
    x = block.var("x")
    assert block.create_var("x", [2, 3], "float32") is x
    assert block.create_var("x") is x
    assert x.shape == (2, 3)
    for arguments, about in (
        ({"shape": [3]}, "shape"),
        ({"dtype": "float64"}, "data type"),
        ({"persistable": True}, "persistable"),
    ):
        with pytest.raises(ValueError, match=f"created before. The previous {about}"):
            block.create_var("x", **arguments)  # type: ignore[arg-type]


def test_data_declared_again_is_the_same_variable_with_fresh_flags() -> None:
    first = paddle.static.data("d", [None, 2])
    doubled = paddle.scale(first, 2.0)
    first.stop_gradient = False
    again = paddle.static.data("d", [None, 2])
    assert again is first
    assert again.stop_gradient
    value = paddle.static.Executor().run(feed={"d": [[1.0, 2.0]]}, fetch_list=[doubled, paddle.scale(again, 3.0)])
    assert [v.tolist() for v in value] == [[[2.0, 4.0]], [[3.0, 6.0]]]


def test_a_parameter_created_again_is_the_same_one(block: Block) -> None:
    assert block.create_parameter("w", [3, 4], "float32") is block.var("w")
    with pytest.raises(NameClash, match="previous shape is \\(3, 4\\), the new shape is \\(4, 3\\)"):
        block.create_parameter("w", [4, 3], "float32")


def test_the_shape_of_a_parameter_must_be_known(block: Block) -> None:
    with pytest.raises(AssertionError, match="every dimension must be known"):
        block.create_parameter("bad", [-1, 2], "float32")
    assert block.create_parameter("empty", [0, 2], "float32").shape == (0, 2)
    assert block.create_parameter("scalar", [], "float32").shape == ()


def test_parameters_land_in_block_0() -> None:
    program = Program()
    inner = Block(program, 1, 0)
    program.blocks.append(inner)
    w = inner.create_parameter("w", [2], "float32")
    assert w.block is program.global_block()
    assert inner._find_var_recursive("w") is w
    assert not inner.has_var("w")
    with pytest.raises(VariableNotFound):
        inner._var_recursive("nope")


def test_lookup_goes_through_parents_and_the_forward_block() -> None:
    program = Program()
    program.global_block().create_var("outer")
    forward, backward = Block(program, 1, 0), Block(program, 2, 0)
    backward.forward_block_idx = 1
    program.blocks += [forward, backward]
    forward.create_var("inner")
    assert backward._find_var_recursive("inner") is forward.var("inner")
    assert backward._find_var_recursive("outer") is program.global_block().var("outer")
    assert forward._find_var_recursive("nope") is None


def test_flags_of_variables(block: Block) -> None:
    x, w = block.var("x"), block.var("w")
    assert (x.stop_gradient, x.persistable, x.is_data, x.is_parameter, x.op) == (False, False, False, False, None)
    assert (w.stop_gradient, w.persistable, w.is_parameter, w.trainable) == (False, True, True, True)
    assert w.optimize_attr == {"learning_rate": 1.0}
    assert (w.regularizer, w.need_clip, w.do_model_average, w.is_distributed) == (None, True, True, False)
    frozen = block.create_parameter("frozen", [2], "float32", trainable=False)
    assert frozen.stop_gradient
    frozen.trainable = True
    assert frozen.stop_gradient
    assert (x.lod_level, x.error_clip, x.belong_to_optimizer, x.is_view_var, x.ndim) == (0, None, False, False, 2)


def test_list_vars_and_parameters_come_in_order_of_creation(block: Block) -> None:
    block.create_parameter("a", [2], "float32")
    assert [v.name for v in block.program.list_vars()] == ["x", "w", "a"]
    assert [p.name for p in block.program.all_parameters()] == ["w", "a"]
    assert [p.name for p in block.iter_parameters()] == ["w", "a"]


# -- operators ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "about"),
    [
        ({"type": "nosuch"}, ValueError, 'Operator "nosuch" has not been registered'),
        ({"type": "relu", "outputs": {"Out": "x"}}, AssertionError, "Input X not found"),
        ({"type": "relu", "inputs": {"X": "x"}}, ValueError, r"should set: \[Out\]"),
        ({"type": "relu", "inputs": {"X": ["x", "w"]}, "outputs": {"Out": "x"}}, ValueError, "2 are given"),
        ({"type": "relu", "inputs": {"X": 3}, "outputs": {"Out": "x"}}, TypeError, "int"),
        ({"type": 3}, TypeError, "int"),
        ({"type": "relu", "inputs": {"X": "nope"}, "outputs": {"Out": "x"}}, ValueError, "nope"),
        ({"type": "relu", "inputs": {"X": "x", "Z": "w"}, "outputs": {"Out": "x"}}, ValueError, "Z is not a slot"),
        (
            {"type": "scale", "inputs": {"X": "x"}, "outputs": {"Out": "x"}, "attrs": {"scale": "two"}},
            TypeError,
            "'scale' must be float",
        ),
        (
            {"type": "elementwise_add", "inputs": {"X": "x", "Y": "w"}, "outputs": {"Out": "x"}},
            ShapeError,
            "cannot broadcast",
        ),
        ({"type": "matmul_v2", "inputs": {"X": "w", "Y": "w"}, "outputs": {"Out": "x"}}, ShapeError, "matmul_v2"),
    ],
)
def test_a_failed_append_op_leaves_nothing_behind(
    block: Block, arguments: dict[str, object], error: type[Exception], about: str
) -> None:
    text, version = str(block.program), block.program.version
    with pytest.raises(error, match=about):
        block.append_op(**arguments)  # type: ignore[arg-type]
    assert (str(block.program), block.program.version, block.desc.op_size()) == (text, version, 0)
    verify.verify(block.program)


def test_unknown_attributes_are_ignored(block: Block) -> None:
    op = block.append_op("relu", {"X": "x"}, {"Out": block.create_var("y")}, {"use_mkldnn": True})
    assert not op.has_attr("use_mkldnn")


def test_append_op_infers_and_stops_gradients(block: Block) -> None:
    y = block.create_var("y")
    block.append_op("matmul_v2", {"X": "x", "Y": "w"}, {"Out": y})
    assert (y.shape, y.stop_gradient) == ((2, 4), False)
    block.var("x").stop_gradient = True
    z = block.create_var("z")
    block.append_op("relu", {"X": "x"}, {"Out": z})
    assert z.stop_gradient


def test_what_an_operator_says_about_itself(block: Block) -> None:
    op = block.append_op("scale", {"X": "x"}, {"Out": block.create_var("y")}, {"scale": 3})
    assert (op.type, op.idx, op.block) == ("scale", 0, block)
    assert op.input_names == ["BiasTensor", "ScaleTensor", "X"]
    assert op.output_names == ["Out"]
    assert (op.input("X"), op.input("ScaleTensor"), op.output("Out")) == (["x"], [], ["y"])
    assert (op.input_arg_names, op.output_arg_names) == (["x"], ["y"])
    assert op.attr("scale") == 3.0
    assert op.attr_names == sorted(op.all_attrs())
    assert op.has_attr("op_role")
    for ask in (lambda: op.input("Z"), lambda: op.output("Z"), lambda: op.attr("z"), lambda: op._set_attr("z", 1)):
        with pytest.raises(RuntimeError, match="scale has no"):
            ask()
    with pytest.raises(SlotNotFound, match="did you mean 'scale'"):
        op.attr("scal")


def test_set_attr_changes_one_operator_only(block: Block) -> None:
    first, second = (block.append_op("scale", {"X": "x"}, {"Out": block.create_var()}) for _ in range(2))
    assert first.attrs is second.attrs
    first._set_attr("scale", 2.0)
    assert (first.attr("scale"), second.attr("scale")) == (2.0, 1.0)
    with pytest.raises(OperatorError):
        first._set_attr("scale", "two")


def test_set_attr_leaves_the_other_attributes_of_every_operator_alone() -> None:
    block = Program().global_block()
    for definition in registry.all_ops():
        plain = {name: _other(value) for name, value in definition.defaults.items()}
        for name, value in definition.defaults.items():
            op = Operator(block, definition, (), (), dict(plain), loc=NOWHERE)
            if isinstance(value, BlockValue):
                continue
            op._set_attr(name, value)
            assert op.attrs == plain | {name: value}, (op.type, name)


def _other(value: Any) -> Any:
    """A value of the same kind that is not *value*."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return f"{value}x" if isinstance(value, str) else value


def test_variables_of_another_program_are_refused() -> None:
    other = Program()
    with paddle.static.program_guard(other, Program()):
        x = paddle.static.data("x", [2])
    with pytest.raises(ValueError, match="belongs to another program"):
        paddle.nn.functional.relu(x)
    assert types(paddle.static.default_main_program().global_block()) == []


# -- edits ----------------------------------------------------------------------------------------------------------


def test_insert_prepend_and_remove_keep_writers_right(block: Block) -> None:
    y = block.create_var("y")
    last = block.append_op("relu", {"X": "x"}, {"Out": y})
    first = block._prepend_op(type="square", inputs={"X": "x"}, outputs={"Out": y})
    middle = block._insert_op(1, type="exp", inputs={"X": "x"}, outputs={"Out": y})
    assert types(block) == ["square", "exp", "relu"]
    assert y.op is last
    block._remove_op(2)
    assert y.op is middle
    block._remove_op(1)
    assert y.op is first
    block._remove_op(0)
    assert y.op is None
    with pytest.raises(IndexError):
        block._remove_op(0)
    verify.verify(block.program)


def test_rename_var_is_followed_by_operators(block: Block) -> None:
    op = block.append_op("relu", {"X": "x"}, {"Out": block.create_var("y")})
    op._set_attr("op_role_var", ["x", "y"])
    renamed = block._rename_var("x", "input")
    assert list(block.vars) == ["input", "w", "y"]
    assert block.var("input") is renamed
    assert (op.input("X"), op.attr("op_role_var")) == (["input"], ["input", "y"])
    with pytest.raises(ValueError, match="var x is not in current block"):
        block._rename_var("x", "z")
    with pytest.raises(NameClash):
        block._rename_var("input", "y")
    assert block._rename_var("input", "input") is renamed
    verify.verify(block.program)


def test_remove_var_refuses_one_that_is_used(block: Block) -> None:
    block.append_op("relu", {"X": "x"}, {"Out": block.create_var("y")})
    for name in ("x", "y"):
        with pytest.raises(NameClash, match="it is used"):
            block._remove_var(name)
    block._remove_var("w")
    assert not block.has_var("w")
    with pytest.raises(KeyError):
        block._remove_var("w")


def test_rename_operands(block: Block) -> None:
    y, z = block.create_var("y", [2, 3]), block.create_var("z", [2, 3])
    op = block.append_op("sum", {"X": ["x", "x"]}, {"Out": y})
    op._rename_input("x", "z")
    op._rename_output("y", "x")
    assert (op.input("X"), op.output("Out")) == (["z", "z"], ["x"])
    assert (y.op, z.op, block.var("x").op) == (None, None, op)
    op._rename_input("nobody", "z")
    with pytest.raises(VariableNotFound):
        op._rename_input("z", "nope")
    verify.verify(block.program)


# -- scopes of names ------------------------------------------------------------------------------------------------


def test_name_scopes_nest_and_are_numbered() -> None:
    x = paddle.static.data("x", [2])
    seen: list[str] = []

    def note() -> None:
        seen.append(paddle.scale(x, 2.0).op.attr("op_namescope"))

    note()
    with paddle.static.name_scope("a"):
        note()
        for _ in range(2):
            with paddle.static.name_scope("b"):
                note()
    with paddle.static.name_scope("a"):
        note()
        with paddle.static.name_scope("b"):
            note()
    note()
    assert seen == ["/", "/a/", "/a/b/", "/a/b_1/", "/a_1/", "/a_1/b/", "/"]


def test_name_scope_needs_a_name_in_static_mode() -> None:
    for empty in (None, ""):
        with pytest.raises(AssertionError, match="must not be empty"), paddle.static.name_scope(empty):
            pass
    with pytest.raises(ArgumentTypeError), paddle.static.name_scope(3):  # type: ignore[arg-type]
        pass
    paddle.disable_static()
    with paddle.static.name_scope(None):
        pass


def test_gradient_operators_are_in_the_scope_of_their_forward_operator() -> None:
    x = paddle.static.data("x", [2, 3])
    with paddle.static.name_scope("head"):
        loss = paddle.mean(paddle.static.nn.fc(x, 2))
    paddle.static.append_backward(loss)
    ops = loss.block.ops
    assert {o.attr("op_namescope") for o in ops if o.type.endswith("_grad")} == {"/head/"}


def test_a_static_variable_has_no_value() -> None:
    x = paddle.static.data("x", [2, 3])
    for ask in (x.numpy, x.backward, x.gradient, x.clear_gradient):
        with pytest.raises(AssertionError, match="static program"):
            ask()
    for convert in (float, int, len):
        with pytest.raises(TypeError):
            convert(x)
    assert bool(x)


def test_usage_errors_are_value_errors() -> None:
    assert issubclass(UsageError, ValueError)


def test_equal_attributes_are_one_mapping_and_numbers_of_other_types_or_signs_are_not_equal() -> None:
    x = paddle.static.data("x", [2, 3])
    home = x.block

    def attrs(scale: object, axes: object = (0,)) -> tuple[object, object]:
        home.append_op("scale", {"X": x}, {"Out": home.create_var(shape=[2, 3])}, {"scale": scale})
        home.append_op("reduce_sum", {"X": x}, {"Out": home.create_var(shape=[3])}, {"dim": axes})
        return home.ops[-2].attrs, home.ops[-1].attrs

    first, second = attrs(0.0), attrs(0.0)
    assert (first[0], first[1]) == (second[0], second[1])
    assert first[0] is second[0]
    assert first[1] is second[1]
    assert str(attrs(-0.0)[0]["scale"]) == "-0.0"  # type: ignore[index]
    assert str(attrs(0.0)[0]["scale"]) == "0.0"  # type: ignore[index]
    assert attrs(0.0, (1,))[1] is not first[1]


def test_a_gradient_operator_has_the_attributes_of_its_forward_operator_also_when_the_program_was_read() -> None:
    x = paddle.static.data("x", [2, 3])
    x.stop_gradient = False
    paddle.static.append_backward(paddle.mean(paddle.nn.functional.softmax(x, axis=0)), [x])
    for program in (x.block.program, Program.parse_from_string(str(x.block.program)), x.block.program.clone()):
        by_type = {o.type: o for o in program.global_block().ops}
        assert by_type["softmax"].attrs is by_type["softmax_grad"].attrs


def test_shapes_that_were_worked_out_once_are_asked_again_for_other_operands() -> None:
    x, y, z = (paddle.static.data(n, shape) for n, shape in (("x", [2, 3]), ("y", [2, 3]), ("z", [4, 3])))
    shapes = [(x, y), (x, y), (z, z), (x, y)]
    assert [paddle.add(a, b).shape for a, b in shapes] == [(2, 3), (2, 3), (4, 3), (2, 3)]
    for _ in range(2):
        with pytest.raises(ShapeError, match="cannot broadcast"):
            paddle.add(x, z)
