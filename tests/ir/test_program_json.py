"""Programs as JSON and as bytes: nothing that a program knows gets lost, and what is wrong is one error."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool import paddle
from gradtool.engine.core import source
from gradtool.engine.core.errors import FileFormatError, ProgramError
from gradtool.engine.ir import to_json as writing
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.verify import verify

SCHEMA = json.loads((Path(writing.__file__).parent / "schemas" / "static-program.json").read_text(encoding="utf-8"))


def trained() -> tuple[Program, Program, Any]:
    """A program with scopes, backward part, regularizer and optimizer; its startup program; its loss."""
    main, startup = Program(), Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 3])
        with paddle.static.name_scope("encoder"):
            decay = paddle.ParamAttr(regularizer=paddle.regularizer.L2Decay(0.25), learning_rate=0.5, need_clip=False)
            h = paddle.static.nn.fc(x, 4, activation="tanh", weight_attr=decay)
            h = paddle.static.nn.batch_norm(paddle.nn.functional.dropout(h, 0.25))
        loss = paddle.mean(paddle.static.nn.fc(h, 1, weight_attr=paddle.ParamAttr(name="frozen", trainable=False)))
        paddle.optimizer.Adam(0.1).minimize(loss)
    main.random_seed = 7
    return main, startup, loss


def forms(program: Program) -> list[Program]:
    """The program after each of its ways through a file."""
    return [Program.from_json(program.to_json()), Program.parse_from_string(program.serialize_to_string())]


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == writing.SCHEMA


def test_a_trained_program_fits_the_schema_and_comes_back_whole() -> None:
    main, startup, _ = trained()
    for program in (main, startup):
        text = program.to_json()
        jsonschema.validate(json.loads(text), SCHEMA)
        for form in forms(program):
            verify(form)
            assert str(form) == str(program)
            assert form.to_json() == text
    form = forms(main)[0]
    ops, block = main.global_block().ops, form.global_block()
    numbers = {op: i for i, op in enumerate(ops)}
    assert [numbers[o.origin] if o.origin else None for o in ops] == [
        {o: i for i, o in enumerate(block.ops)}[o.origin] if o.origin else None for o in block.ops
    ]
    assert any(o.origin for o in block.ops)
    assert [source.short(o.loc) for o in block.ops] == [source.short(o.loc) for o in ops]
    assert (form.random_seed, form._appending_grad_times) == (7, 1)
    assert form.names.every_count() == main.names.every_count()
    assert form.scope_names == main.scope_names
    weight = block.var("fc_0.w_0")
    assert weight.optimize_attr == {"learning_rate": 0.5}
    assert not weight.need_clip
    assert type(weight.regularizer) is paddle.regularizer.L2Decay
    assert weight.regularizer.coeff == 0.25
    assert not block.var("frozen").trainable
    assert block.var("x").is_data


def test_a_loaded_program_trains_bit_for_bit() -> None:
    main, startup, loss = trained()
    feed = {"x": np.cos(np.arange(15, dtype=np.float32)).reshape(5, 3)}

    def run(program: Program, start: Program) -> list[bytes]:
        exe = paddle.static.Executor()
        with paddle.static.scope_guard(paddle.static.Scope()):
            paddle.seed(3)
            exe.run(start)
            losses = [exe.run(program, feed=feed, fetch_list=[loss.name])[0].tobytes() for _ in range(4)]
            return losses + [np.array(v).tobytes() for v in program.state_dict().values()]

    expected = run(main, startup)
    for program, start in zip(forms(main), forms(startup), strict=True):
        assert run(program, start) == expected


def test_a_loaded_program_goes_on_as_the_one_that_was_saved() -> None:
    main, _, loss = trained()
    loaded = forms(main)
    for program in (main, *loaded):
        with paddle.static.program_guard(program, Program()):
            more = paddle.static.nn.fc(program.global_block().var("x"), 4)
            paddle.static.append_backward(program.global_block().var(loss.name))
            paddle.static.gradients(paddle.mean(more), [program.global_block().var("fc_0.w_0")])
    assert [str(program) for program in loaded] == [str(main)] * 2


def test_a_loaded_program_reuses_its_backward_part() -> None:
    main = Program()
    with paddle.static.program_guard(main, Program()):
        loss = paddle.mean(paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 4))
        paddle.static.append_backward(loss)
    for program in forms(main):
        paddle.static.append_backward(program.global_block().var(loss.name))
        assert str(program) == str(main)


@pytest.fixture
def blocks() -> Program:
    """Branches in a branch, a loop, a part with gradients of its own, and the backward parts of all of them."""
    nn = paddle.static.nn
    main = Program()
    with paddle.static.program_guard(main, Program()):
        x, p = paddle.static.data("x", [3]), paddle.static.data("p", [1], "bool")
        x.stop_gradient = False
        h = nn.cond(p, lambda: nn.cond(p, lambda: x * 2.0, lambda: paddle.tanh(x)), lambda: x * 3.0)
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 2, "int64")
        _, h = nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, paddle.tanh(h)], [i, h])
        h = nn.static_pylayer(lambda a: a * 2.0, [h], lambda d: d * 3.0)
        paddle.static.gradients(h, x)
    return main


def test_blocks_and_references_to_them_come_back(blocks: Program) -> None:
    assert "sub_block = block[1]" in str(blocks)
    assert "blocks = blocks[[6, 7]]" in str(blocks)
    text = blocks.to_json()
    jsonschema.validate(json.loads(text), SCHEMA)
    for program in (*forms(blocks), Program.parse_from_string(str(blocks))):
        verify(program)
        assert str(program) == str(blocks)
        for block, twin in zip(blocks.blocks, program.blocks, strict=True):
            assert twin.backward_block_idx == block.backward_block_idx
            assert twin.owner is None or twin in twin.owner.sub_blocks
            for op, same in zip(block.ops, twin.ops, strict=True):
                assert [b.idx for b in same.sub_blocks] == [b.idx for b in op.sub_blocks]
                assert all(b is program.blocks[b.idx] for b in same.sub_blocks)


def test_blocks_that_do_not_exist_or_run_inside_themselves(blocks: Program) -> None:
    data = json.loads(blocks.to_json())
    inner = next(op for op in data["blocks"][1]["operators"] if op["type"] == "conditional_block")
    for reference in (0, 1):
        inner["attributes"]["sub_block"] = {"block": reference}
        with pytest.raises(FileFormatError, match="is run inside itself"):
            Program.from_json(json.dumps(data))
    inner["attributes"]["sub_block"] = {"block": 99}
    with pytest.raises(FileFormatError, match=r"block 99 is named, but there are \d+ blocks"):
        Program.from_json(json.dumps(data))
    del inner["attributes"]["sub_block"]
    with pytest.raises(FileFormatError, match="attribute sub_block of conditional_block is missing"):
        Program.from_json(json.dumps(data))
    with pytest.raises(ProgramError, match=r"line \d+: block 99 is named"):
        Program.parse_from_string(str(blocks).replace("sub_block = block[1]", "sub_block = block[99]"))


def one_op(type_: str, attrs: dict[str, Any]) -> Program:
    program = Program()
    block = program.global_block()
    block.append_op(type_, {}, {"Out": block.create_var("y")}, attrs)
    return program


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 0.1, 1e300, -0.0, np.float32(0.1)])
def test_numbers_in_attributes_come_back_bit_for_bit(value: float) -> None:
    program = one_op("fill_constant", {"shape": [2], "value": value, "dtype": 6})
    jsonschema.validate(json.loads(program.to_json()), SCHEMA)
    restored = Program.from_json(program.to_json()).global_block().ops[0].attr("value")
    assert np.float64(restored).tobytes() == np.float64(value).tobytes()


def test_an_attribute_that_is_no_data_is_refused() -> None:
    program = one_op("fill_constant", {"shape": [2], "value": 1.0})
    op = program.global_block().ops[0]
    op.attrs = {**op.attrs, "value": len}
    with pytest.raises(ProgramError, match="attribute value holds builtin_function_or_method, which is no data"):
        program.to_json()


def test_locations_name_no_folders_and_can_be_left_out() -> None:
    main, _, _ = trained()
    assert str(Path(__file__).parent) not in main.to_json()
    assert '"test_program_json.py"' in main.to_json()
    assert "test_program_json" not in main.to_json(sources=False)
    with source.full_stacks():
        main, _, _ = trained()
    again = Program.from_json(main.to_json())
    ours, theirs = main.global_block().ops[0], again.global_block().ops[0]
    assert len(theirs.loc) == len(ours.loc) > 1
    frames = [text for text in source.stack(theirs.loc) if "test_program_json" in text]
    assert frames[-1].startswith('File "test_program_json.py", line ')
    assert frames[-1].endswith(", in trained")
    assert source.describe(theirs.loc) == f"{source.short(ours.loc)} in trained"


def test_indented_json_is_the_same_program() -> None:
    main, _, _ = trained()
    text = main.to_json(indent=1)
    assert text.count("\n") > 100
    assert json.loads(text) == json.loads(main.to_json())


# -- what is wrong ----------------------------------------------------------------------------------------------------

SMALL = {
    "schema": "gradtool/static-program/1",
    "locations": [[["a.py", 1, "f"]]],
    "blocks": [
        {
            "parent": -1,
            "variables": [
                {"name": "x", "shape": [-1, 2], "dtype": "float32", "is_data": True},
                {"name": "w", "shape": [2, 2], "dtype": "float32", "persistable": True, "parameter": {}},
                {"name": "y", "shape": [-1, 2], "dtype": "float32"},
            ],
            "operators": [
                {
                    "type": "mul",
                    "inputs": {"X": ["x"], "Y": ["w"]},
                    "outputs": {"Out": ["y"]},
                    "attributes": {"x_num_col_dims": 1},
                    "location": 0,
                }
            ],
        }
    ],
}


def test_what_has_a_default_may_be_left_out() -> None:
    jsonschema.validate(SMALL, SCHEMA)
    program = Program.from_json(json.dumps(SMALL))
    verify(program)
    assert program.global_block().ops[0].attr("y_num_col_dims") == 1
    assert [p.name for p in program.all_parameters()] == ["w"]


def put(value: Any, *path: Any) -> dict[str, Any]:
    """``SMALL`` with *value* at *path*; ``...`` removes what is there."""
    data: Any = copy.deepcopy(SMALL)
    place = data
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    elif isinstance(place, list) and path[-1] == len(place):
        place.append(value)
    else:
        place[path[-1]] = value
    return data  # type: ignore[no-any-return]


VARIABLE, OPERATOR = ("blocks", 0, "variables", 2), ("blocks", 0, "operators", 0)
WRONG = [
    ([], r"expected a program \(gradtool/static-program/1\)"),
    (put("gradtool/static-program/2", "schema"), "it is 'gradtool/static-program/2'"),
    (put(..., "blocks"), "blocks: a list of at least one block, but it is missing"),
    (put([], "blocks"), "a list of at least one block"),
    (put(1, "more"), "it has 'more'"),
    (put({"x": -1}, "names"), "counters of unique names"),
    (put([["/", "a"]], "scopes"), "counters of name scopes"),
    (put("7", "random_seed"), "random_seed: a number"),
    (put([[["../a.py", 1, "f"]]], "locations"), "lists of file, line and function"),
    (put([[["a.py\0", 1, "f"]]], "locations"), "lists of file, line and function"),
    (put([[["a.py", -1, "f"]]], "locations"), "lists of file, line and function"),
    (put(3, "blocks", 0), "an object with parent"),
    (put(0, "blocks", 0, "parent"), "block 0 cannot have block 0 as its parent"),
    (put(5, "blocks", 0, "forward"), "belong to the gradient of block 5"),
    (put(5, "blocks", 0, "backward"), "names block 5, which does not exist"),
    (put(..., *VARIABLE, "name"), "block 0, variable 2: expected name: a name, but it is missing"),
    (put("x", *VARIABLE, "name"), "variables of different names, but 'x' comes twice"),
    (put([-2], *VARIABLE, "shape"), "a list of dimensions"),
    (put([2.0], *VARIABLE, "shape"), "a list of dimensions"),
    (put([2**70], *VARIABLE, "shape"), "a list of dimensions"),
    (put("float33", *VARIABLE, "dtype"), r"data type 'float33' not understood\.\n  hint  did you mean"),
    (put(1, *VARIABLE, "persistable"), "true or false"),
    (put({}, *VARIABLE, "parameter"), "every dimension must be known"),
    (put(9, *VARIABLE, "location"), "one of 1 locations, but it is 9"),
    (put(True, *VARIABLE, "location"), "the number of a location"),
    (put({"type": "Evil", "coeff": 1}, "blocks", 0, "variables", 1, "parameter", "regularizer"), "L1Decay or L2Decay"),
    (put("nothing", *OPERATOR, "type"), 'block 0, operator 0: .*Operator "nothing" has not been registered'),
    (put("tanh" + "_grad" * 60, *OPERATOR, "type"), "up to order 6"),
    (put(["x"], *OPERATOR, "inputs"), "lists of names by slot"),
    (put({"X": ["x"], "Z": []}, *OPERATOR, "inputs"), "mul has no input slot Z"),
    (put({"X": ["x", "x"], "Y": ["w"]}, *OPERATOR, "inputs"), "takes one variable, but 2 are given"),
    (put({"X": ["x"]}, *OPERATOR, "inputs"), "input Y of mul is missing"),
    (put({"X": ["z"], "Y": ["w"]}, *OPERATOR, "inputs"), "variable 'z' is not declared"),
    (put({"Out": "y"}, *OPERATOR, "outputs"), "lists of names by slot"),
    (put(1, *OPERATOR, "attributes", "y_cols"), "mul has no attribute y_cols"),
    (put("1", *OPERATOR, "attributes", "x_num_col_dims"), "must be int"),
    (put({"call": "os.system"}, *OPERATOR, "attributes", "x_num_col_dims"), "an attribute's value"),
    (put({"float": "1"}, *OPERATOR, "attributes", "x_num_col_dims"), "an attribute's value"),
    (put({"complex": [1, 2]}, *OPERATOR, "attributes", "x_num_col_dims"), "an attribute's value"),
    (put({"block": True}, *OPERATOR, "attributes", "x_num_col_dims"), "an attribute's value"),
    (put({"block": 0}, *OPERATOR, "attributes", "x_num_col_dims"), "must be int"),
    (put([[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]], *OPERATOR, "attributes", "x_num_col_dims"), "nested up to 16 deep"),
    (put(-1, *OPERATOR, "role"), "a role's number"),
    (put(["a"], *OPERATOR, "role_var"), "two by two"),
    (put(0, *OPERATOR, "gradient_of"), "an operator before, but it is 0"),
    (put(-1, *OPERATOR, "gradient_of"), "the number of the operator"),
    (put(0, *OPERATOR, "repeats"), "an operator before, but it is 0"),
]


@pytest.mark.parametrize(("data", "about"), WRONG, ids=[about[:40] for _, about in WRONG])
def test_what_is_wrong_is_said(data: Any, about: str) -> None:
    with pytest.raises(FileFormatError, match=about) as caught:
        Program.from_json(json.dumps(data))
    assert str(caught.value).startswith("the program")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("text", ["", "nothing", b"\xff", '{"schema": NaN}', "[" * 100_000])
def test_what_is_no_json(text: str | bytes) -> None:
    with pytest.raises(FileFormatError, match="the program: expected JSON"):
        Program.from_json(text)


@pytest.mark.parametrize("data", [b"", b"nothing that begins a file", paddle.static.Program().to_json().encode()])
def test_bytes_that_are_no_program(data: bytes) -> None:
    with pytest.raises(FileFormatError, match="the bytes: expected"):
        Program.parse_from_string(data)


_TEXT = json.dumps(SMALL)
_PLACES = st.integers(0, len(_TEXT) - 1)
_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda e: st.lists(e, max_size=2))


@given(_PLACES, st.text(max_size=3), st.integers(0, 4))
def test_damaged_json_is_read_or_refused(at: int, put_in: str, left_out: int) -> None:
    with contextlib.suppress(FileFormatError):  # and nothing else
        Program.from_json(_TEXT[:at] + put_in + _TEXT[at + left_out :])


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: Iterable[tuple[Any, Any]] = enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict):
        inner = value.items()
    paths = [path] if path else []
    for key, entry in inner:
        paths += _paths(entry, (*path, key))
    return paths


@given(
    st.sampled_from(_paths(SMALL)), _JSON | st.dictionaries(st.sampled_from(["block", "float", "complex", "x"]), _JSON)
)
def test_json_with_anything_anywhere_is_read_or_refused(path: tuple[Any, ...], value: Any) -> None:
    with contextlib.suppress(FileFormatError):  # and nothing else
        Program.from_json(json.dumps(put(value, *path)))
