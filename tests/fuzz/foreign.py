"""Files of Paddle itself, changed at random: descriptions, the new IR, tensors without names, pickles."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.executor.lower import lower
from gradtool.engine.files import messages, pickle_writer, streams
from gradtool.engine.ir.paddle.from_desc import from_desc
from gradtool.engine.ir.paddle.from_pir import from_pir
from gradtool.engine.kernels.choice import backend
from tests.paddle_files import archives

from . import mutations

PROGRAMS = ("s013_mlp_tanh_sigmoid", "s106_dropout_off", "s178_while_stopgrad_loopvar")
BLOCKS = ("BranchThenLoop", "Lists", "s212_array_in_while")


def description(draw: Random) -> tuple[bytes, Callable[[bytes], object]]:
    """A program in protobuf: its bytes, or the fields of its messages."""
    data = draw.choice(_descriptions())
    if draw.random() < 0.4:
        return mutations.changed_bytes(data, _descriptions(), draw), _read_description
    message = messages.parse("Program", data, "net.pdmodel", "a program")
    for _ in range(draw.choice((1, 1, 2, 3))):
        _change(message, draw)
    return message.SerializeToString(), _read_description


def _change(message: Any, draw: Random) -> None:
    """One field somewhere in a message, taken away, doubled, or with another value."""
    while True:
        fields = message.ListFields()
        if not fields:
            return
        field, value = draw.choice(fields)
        inner = list(value) if field.is_repeated else [value]
        if field.message_type is not None and inner and draw.random() < 0.85:
            message = draw.choice(inner)
            continue
        break
    if field.message_type is not None:
        if field.is_repeated and draw.random() < 0.5:
            value.add().CopyFrom(draw.choice(inner))
        elif field.is_repeated:
            del value[draw.randrange(len(value))]
        else:
            message.ClearField(field.name)
        return
    new = (
        draw.choice((b"", b"x", b"@EMPTY@", b"\xff", b"while", b"fc_0.w_0", b"sub_block"))
        if isinstance(inner[0], bytes)
        else draw.choice(mutations.NUMBERS)
    )
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        if field.is_repeated:
            value[draw.randrange(len(value))] = new
        else:
            setattr(message, field.name, type(inner[0])(new))


def new_ir(draw: Random) -> tuple[bytes, Callable[[bytes], object]]:
    """A program in the JSON of the new IR: its bytes, or its values."""
    data = draw.choice(_new_irs())
    if draw.random() < 0.4:
        return mutations.changed_bytes(data, _new_irs(), draw), _read_new_ir
    return json.dumps(mutations.changed_value(json.loads(data), draw)).encode("utf-8", "surrogatepass"), _read_new_ir


def tensors(draw: Random) -> tuple[bytes, Callable[[bytes], object]]:
    """Tensors as Paddle's kernels write them."""
    return mutations.changed_bytes(draw.choice(_streams()), _streams(), draw), _read_tensors


def checkpoint(draw: Random) -> tuple[bytes, Callable[[bytes], object]]:
    """A pickle of ``paddle.save``."""
    return mutations.changed_bytes(draw.choice(_pickles()), _pickles(), draw), _read_pickle


@cache
def _descriptions() -> Sequence[bytes]:
    files, zoo = archives.files("classic_3.1.1"), archives.files("zoo_classic_3.1.1")
    whole = [files[f"{name}/{kind}.pdmodel"] for name in PROGRAMS for kind in ("infer", "train")]
    return [*whole, files["s073_second_order_relu/train.pdmodel"], zoo["zoo_gru4rec/train.pdmodel"]]


@cache
def _new_irs() -> Sequence[bytes]:
    files, blocks = archives.files("pir_3.3.1"), archives.files("pir_blocks_3.3.1")
    whole = [files[f"{name}/{kind}.json"] for name in PROGRAMS for kind in ("infer", "train")]
    more = [archives.files("zoo_pir_3.3.1")["zoo_gru4rec/train.json"]]
    more += [archives.files("pir_blocks_3.1.1")["Popped/infer.json"]]
    return [*whole, *(blocks[f"{name}/infer.json"] for name in BLOCKS), *more]


@cache
def _streams() -> Sequence[bytes]:
    arrays = {"w": np.arange(6, dtype="float32").reshape(2, 3), "n": np.array([True, False]), "z": np.zeros((0, 2))}
    return [b"".join(streams.pieces(arrays)), b"".join(streams.tensor(arrays["w"]))]


@cache
def _pickles() -> Sequence[bytes]:
    state = {"w": np.arange(6, dtype="float32"), "StructuredToParameterName@@": {"w": "linear_0.w_0"}}
    nested = {"a": [("t", np.ones((2, 2))), 1, "x"], "b": (None, 2.5), "s": {1, 2}}
    return [*(pickle_writer.dumps(value, p) for value in (state, nested) for p in (2, 3, 4)), pickle.dumps(state, 4)]


def _read_description(data: bytes) -> None:
    _use(from_desc(data).program)


def _read_new_ir(data: bytes) -> None:
    _use(from_pir(data).program)


def _use(program: Any) -> None:
    """What reading lets pass must print, be written again, and be made a plan of."""
    str(program)
    with contextlib.suppress(GradtoolError):
        from_desc(program.to_desc())
    block = program.global_block()
    fed = [v.name for v in block.vars.values() if v.is_data]
    written = list(dict.fromkeys(v.name for op in block.ops for v in op.output_variables() if v.block is block))
    with contextlib.suppress(GradtoolError):
        lower(program, fed, written, backend("numpy"), {"prune"})


def _read_tensors(data: bytes) -> None:
    streams.read(data, "w.pdiparams")


def _read_pickle(data: bytes) -> None:
    paddle.load(io.BytesIO(data))


READERS = {"description": description, "new IR": new_ir, "tensors of Paddle": tensors, "checkpoint": checkpoint}
