"""Files with programs that parse and cannot run are refused when they are read, and the operator is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError, ShapeError
from gradtool.engine.ir.assemble import DEEPEST
from gradtool.engine.ir.parse import ProgramTextError
from gradtool.engine.ir.program import Program
from gradtool.engine.ops.library.convolve import Geometry, weigh

Data = dict[str, Any]


def classifier() -> None:
    x = paddle.static.data("x", [4, 3])
    label = paddle.static.data("label", [4, 1], "int64")
    logits = paddle.transpose(paddle.static.nn.fc(x, 4), [1, 0])
    paddle.nn.functional.softmax_with_cross_entropy(logits, label)


def loop() -> None:
    i = paddle.full([1], 0, "int64")
    paddle.static.nn.while_loop(
        lambda i, h: paddle.less_than(i, paddle.full([1], 3, "int64")),
        lambda i, h: [i + 1, paddle.tanh(h)],
        [i, paddle.static.data("x", [2, 3])],
    )


def built(build: Callable[[], None]) -> Data:
    program = Program()
    with paddle.static.program_guard(program, Program()):
        build()
    data: Data = json.loads(program.to_json())
    return data


def op_of(data: Data, type_: str, block: int = 0) -> Data:
    return next(op for op in data["blocks"][block]["operators"] if op["type"] == type_)


def variable(data: Data, name: str) -> Data:
    return next(v for v in data["blocks"][0]["variables"] if v["name"] == name)


def no_logits(data: Data) -> None:
    data["blocks"][0]["variables"].append({"name": "scalar", "shape": [], "dtype": "float32", "is_data": True})
    op_of(data, "softmax_with_cross_entropy")["inputs"]["Logits"] = ["scalar"]


def other_shape(data: Data) -> None:
    variable(data, op_of(data, "mul")["outputs"]["Out"][0])["shape"] = [4, 5]


def other_type(data: Data) -> None:
    variable(data, op_of(data, "mul")["outputs"]["Out"][0])["dtype"] = "int64"


def immense(data: Data) -> None:
    variable(data, "x")["shape"] = [2**53, 3]


def attribute(name: str, value: Any, type_: str = "transpose2") -> Callable[[Data], None]:
    def damage(data: Data) -> None:
        op_of(data, type_)["attributes"][name] = value

    return damage


def no_such_variable(data: Data) -> None:
    op_of(data, "mul")["inputs"]["X"] = ["nothing"]


def writes_twice(data: Data) -> None:
    outputs = op_of(data, "transpose2")["outputs"]
    outputs["XShape"] = outputs["Out"]


def loop_first(data: Data) -> None:
    ops = data["blocks"][0]["operators"]
    ops.insert(0, ops.pop(ops.index(op_of(data, "while"))))


def body_turned_round(data: Data) -> None:
    data["blocks"][1]["operators"].reverse()


def renamed_output(data: Data) -> None:
    op_of(data, "while")["outputs"]["Out"] = ["x"]


def runs_itself(data: Data) -> None:
    op_of(data, "while")["attributes"]["sub_block"] = {"block": 0}


def parent_of_itself(data: Data) -> None:
    data["blocks"][1]["parent"] = 1


def too_deep(data: Data) -> None:
    """Each block holds the loop that runs the next one."""
    loop = op_of(data, "while")
    data["blocks"] = data["blocks"][:1]
    for n in range(DEEPEST + 1):
        data["blocks"][n]["operators"] = [loop | {"attributes": {"sub_block": {"block": n + 1}}}]
        data["blocks"].append({"parent": n, "variables": [], "operators": []})


@pytest.mark.parametrize(
    ("build", "damage", "said"),
    [
        (classifier, no_logits, r"softmax_with_cross_entropy.*\(operator "),
        (
            classifier,
            other_shape,
            r"'fc_0\.tmp_0' is float32\[4, 5\], but mul computes float32\[4, 4\] \(operator mul\(",
        ),
        (classifier, other_type, r"'fc_0\.tmp_0' is int64\[4, 4\], but mul computes float32\[4, 4\]"),
        (classifier, immense, r"'x' has the shape \[9007199254740992, 3\]"),
        (classifier, attribute("axis", "10"), "attribute 'axis' must be tuple, but received str"),
        (classifier, attribute("axis", ["1", "0"]), r"transpose2 does not accept its inputs.*\(operator transpose2\("),
        (classifier, attribute("axis", [[1], 0]), r"transpose2 does not accept its inputs.*\(operator transpose2\("),
        (classifier, attribute("x_num_col_dims", 7, "mul"), "mul does not accept its inputs"),
        (classifier, no_such_variable, "variable 'nothing' is not declared"),
        (classifier, writes_twice, r"transpose2 writes a variable twice \(operator transpose2\("),
        (loop, loop_first, r"while reads '\w+\.tmp_0', which is not written yet \(operator while\("),
        (loop, body_turned_round, r"block 1 reads '\S+' before it is written there \(operator while\("),
        (loop, renamed_output, r"block 1 writes '\S+', which while does not name \(operator while\("),
        (loop, runs_itself, "block 0 is run inside itself"),
        (loop, parent_of_itself, "block 1 cannot have block 1 as its parent"),
        (loop, attribute("sub_block", {"block": -1}, "while"), "block -1 is named"),
        (loop, attribute("sub_block", {"block": 7}, "while"), "block 7 is named"),
        (loop, attribute("sub_block", 1, "while"), "sub_block"),
        (loop, too_deep, f"stands inside more than {DEEPEST} others"),
    ],
)
def test_it_is_refused_when_it_is_read(build: Callable[[], None], damage: Callable[[Data], None], said: str) -> None:
    data = built(build)
    Program.from_json(json.dumps(data))
    damage(data)
    with pytest.raises(FileFormatError, match=said):
        Program.from_json(json.dumps(data))


def test_the_text_of_such_a_program_is_refused_too() -> None:
    text = str(Program.from_json(json.dumps(built(classifier))))
    Program.parse_from_string(text)
    changed = text.replace(
        "transpose_0.tmp_0 : DENSE_TENSOR.shape(4, 4)", "transpose_0.tmp_0 : DENSE_TENSOR.shape(4, 5)"
    )
    assert changed != text
    with pytest.raises(ProgramTextError, match=r"transpose2 computes float32\[4, 4\].*\(operator transpose2\("):
        Program.parse_from_string(changed)


@pytest.mark.parametrize(
    ("strides", "paddings", "dilations"),
    [((-1, 1), (0, 0), (1, 1)), ((1, 1), (-9, 0), (1, 1)), ((1, 1), (0, 0), (1, -4))],
)
def test_windows_stay_within_the_image(
    strides: tuple[int, int], paddings: tuple[int, ...], dilations: tuple[int, int]
) -> None:
    """No shape rule sees what a file says of a gradient operator: the view of the windows must not go astray."""
    x, y = np.ones((1, 1, 5, 5), "float32"), np.ones((1, 1, 3, 3), "float32")
    geometry = Geometry(strides, paddings, dilations, 1, "EXPLICIT", "NCHW")
    with pytest.raises(ShapeError, match="strides and dilations of at least 1 and paddings of at least 0"):
        weigh(np, x, y, (1, 1, 3, 3), geometry)
