"""Files in the forms of former versions of Paddle, of which no program runs any more: written here, field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import source
from gradtool.engine.core.errors import FileFormatError, FileMissing
from gradtool.engine.files import messages, streams
from gradtool.engine.ir.paddle.from_desc import from_desc
from gradtool.engine.loading.from_python import load
from tests.paddle_files import archives

W = np.arange(6, dtype="float32").reshape(3, 2)


def message(names: tuple[str, ...] = ("w", "b")) -> Any:
    """``mean(mul(x, w) + b)`` as Paddle 1.8 wrote it: no flags of parameters, attributes of its kernels."""
    program = messages.message("Program")
    block = program.blocks.add(idx=0, parent_idx=-1)
    weight, bias = names
    shapes = {"x": [-1, 3], weight: [3, 2], bias: [2], "h": [-1, 2], "s": [-1, 2], "loss": [1]}
    for name, shape in shapes.items():
        v = block.vars.add(name=name.encode(), persistable=name in names)
        v.type.type = 7
        v.type.dense.tensor.data_type = 5
        v.type.dense.tensor.dims.extend(shape)
    for name, number in (("feed", 9), ("fetch", 10)):
        block.vars.add(name=name.encode(), persistable=True).type.type = number
    operator(block, "feed", {"X": "feed"}, {"Out": "x"}, col=0)
    operator(block, "mul", {"X": "x", "Y": weight}, {"Out": "h"}, x_num_col_dims=1, y_num_col_dims=1)
    operator(block, "elementwise_add", {"X": "h", "Y": bias}, {"Out": "s"}, axis=1)
    operator(block, "mean", {"X": "s"}, {"Out": "loss"})
    operator(block, "fetch", {"X": "loss"}, {"Out": "fetch"}, col=0)
    block.ops[1].attrs.add(name=b"use_mkldnn", type=6, b=False)
    block.ops[2].attrs.add(name=b"x_data_format", type=2, s=b"")
    return program


def operator(block: Any, type_: str, inputs: dict[str, str], outputs: dict[str, str], **numbers: int) -> None:
    op = block.ops.add(type=type_.encode())
    for listed, slots in ((op.inputs, inputs), (op.outputs, outputs)):
        for slot, name in slots.items():
            listed.add(parameter=slot.encode()).arguments.append(name.encode())
    for name, number in numbers.items():
        op.attrs.add(name=name.encode(), type=0, i=number)


def test_parameters_follow_from_who_reads_them() -> None:
    described = from_desc(message().SerializeToString())
    assert [p.name for p in described.program.all_parameters()] == ["w", "b"]
    assert (described.feeds, described.fetches) == (["x"], ["loss"])
    assert not described.absent.reasons


@pytest.mark.usefixtures("isolated")
def test_a_file_for_each_variable(tmp_path: Path) -> None:
    (tmp_path / "__model__").write_bytes(message().SerializeToString())
    for name, array in (("w", W), ("b", W[0])):
        (tmp_path / name).write_bytes(b"".join(streams.tensor(array)))
    paddle.enable_static()
    executor = paddle.static.Executor()
    program, feeds, (loss,) = paddle.fluid.io.load_inference_model(str(tmp_path), executor)
    x = np.ones((2, 3), "float32")
    (value,) = executor.run(program, feed={feeds[0]: x}, fetch_list=[loss])
    assert float(value.item()) == pytest.approx((x @ W + W[0]).mean())
    (tmp_path / "b").unlink()
    with pytest.raises(FileMissing, match="'b'"):
        paddle.fluid.io.load_inference_model(str(tmp_path), executor)


def test_outputs_that_are_no_loss_are_summed_up(tmp_path: Path) -> None:
    program = message()
    fetch = program.blocks[0].ops.pop()
    program.blocks[0].ops.pop()
    fetch.inputs[0].arguments[0] = b"s"
    program.blocks[0].ops.append(fetch)
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    np.savez(tmp_path / "model.npz", x=np.ones((2, 3), "float32"))
    (tmp_path / "model.pdiparams").write_bytes(b"".join(streams.pieces({"b": W[0], "w": W})))
    table = load(str(tmp_path / "model.pdmodel")).backward(feed=str(tmp_path / "model.npz"), run=True)
    assert {row.name: table.arrays[row.subject].tolist() for row in table.rows} == {
        "w": [[2.0] * 2] * 3,
        "b": [2.0] * 2,
    }


def test_what_pruning_left_is_no_input_and_not_there() -> None:
    program = message()
    v = program.blocks[0].vars.add(name=b"h@XShape", need_check_feed=True)
    v.type.type = 7
    v.type.dense.tensor.data_type = 5
    block = from_desc(program.SerializeToString()).program.global_block()
    assert [v.name for v in block.vars.values() if v.is_data] == ["x"]
    assert "h@XShape" not in block.vars


def test_lines_of_1_8_are_those_of_the_user(tmp_path: Path) -> None:
    archives.unpacked("classic_1.8.5", "words", tmp_path)
    program = from_desc((tmp_path / "train.pdmodel").read_bytes()).program
    op = next(op for op in program.global_block().ops if op.type == "layer_norm")
    assert source.short(op.loc) == "recording_1_8.py:32"
    assert [frame[2] for frame in source.frames(op.loc)][:2] == ["words", "saved"]


def test_an_operator_that_holds_a_block_and_stands_in_is_differentiated() -> None:
    """As ``recurrent``, which a ``StaticRNN`` of 1.8 is."""
    program = message()
    program.blocks.add(idx=1, parent_idx=0)
    op = program.blocks[0].ops[3]
    op.type = b"recurrent"
    op.attrs.add(name=b"sub_block", type=8, block_idx=1)
    described = from_desc(program.SerializeToString())
    block = described.program.global_block()
    paddle.enable_static()
    with paddle.static.program_guard(described.program):
        pairs = paddle.static.append_backward(block.vars["loss"], parameter_list=["w"])
    assert [g.name for _, g in pairs] == ["w@GRAD"]
    assert [op.type for op in block.ops if op.type.endswith("_grad")] == [
        "recurrent_grad",
        "elementwise_add_grad",
        "mul_grad",
    ]


@pytest.mark.usefixtures("isolated")
def test_a_name_leads_out_of_no_folder(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "__model__").write_bytes(message(("../w", "b")).SerializeToString())
    for path in (tmp_path / "w", inside / "b"):
        path.write_bytes(b"".join(streams.tensor(W)))
    paddle.enable_static()
    with pytest.raises(FileMissing, match="w'"):
        paddle.fluid.io.load_inference_model(str(inside), paddle.static.Executor())


def changed(change: Any) -> bytes:
    program = message()
    change(program)
    return bytes(program.SerializeToString())


@pytest.mark.parametrize(
    ("data", "came"),
    [
        (changed(lambda p: setattr(p.blocks[0], "idx", 1)), "its number is 1"),
        (changed(lambda p: setattr(p.blocks[0], "parent_idx", 0)), "as its parent"),
        (changed(lambda p: p.blocks[0].vars.add(name=b"w")), "declared twice"),
        (changed(lambda p: p.blocks[0].vars[0].type.dense.tensor.dims.extend([2**40] * 9)), "shape"),
        (changed(lambda p: p.blocks[0].ops[1].inputs[0].arguments.append(b"nobody")), "nobody"),
        (changed(lambda p: p.blocks[0].ops[1].attrs.add(name=b"op_role", type=0, i=4096)), "unknown role"),
        (changed(lambda p: p.blocks[0].ops[1].attrs.add(name=b"op_role", type=2, s=b"x")), "op_role"),
        (changed(lambda p: setattr(p.blocks[0].ops[1], "type", b"\xff\xfe")), "no text"),
        (changed(lambda p: p.blocks[0].ops[1].attrs.add(name=b"sub_block", type=8, block_idx=9)), "block 9"),
        (changed(lambda p: p.ClearField("blocks")), "no blocks"),
        (message().SerializeToString()[:-3], "cut short"),
    ],
)
def test_programs_that_cannot_exist_are_refused(data: bytes, came: str) -> None:
    with pytest.raises(FileFormatError, match=came):
        from_desc(data)


def test_a_block_inside_itself_is_refused() -> None:
    program = message()
    program.blocks.add(idx=1, parent_idx=0)
    for block in program.blocks:
        op = block.ops.add(type=b"strange")
        op.attrs.add(name=b"sub_block", type=8, block_idx=1)
    with pytest.raises(FileFormatError, match="inside itself"):
        from_desc(program.SerializeToString())
