"""Files of PyTorch, changed at random: archives of exported programs, and runs that were recorded inside torch."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.eager.tape import FreedGraphError, InplaceError
from gradtool.engine.files import container
from gradtool.engine.importers.pt2.reading import read
from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

from . import mutations

RUNS = Path(__file__).parents[1] / "torch" / "runs"
OLDER = Path(__file__).parents[1] / "pt2" / "saved" / "older.npz"


def exported(draw: Random) -> tuple[bytes, Callable[[bytes], object]]:
    """An archive: its bytes, or values of the JSON in it."""
    data = draw.choice(_archives())
    if draw.random() < 0.2:
        return mutations.changed_bytes(data, _archives(), draw), _read
    files = _members(data)
    name = draw.choice([n for n in files if n.endswith(".json")] + ["net/models/model.json"] * 4)
    content = json.loads(files[name])
    if name.endswith("model.json") and draw.random() < 0.7:  # what stands deep inside
        graph = content["graph_module"]["graph"]
        part = draw.choice(("nodes", "nodes", "tensor_values"))
        entries = graph[part]
        at = draw.choice(list(entries) if isinstance(entries, dict) else range(len(entries)))
        entries[at] = mutations.changed_value(entries[at], draw)
    else:
        content = mutations.changed_value(content, draw)
    return _zipped({**files, name: json.dumps(content).encode()}), _read


def older(draw: Random) -> tuple[bytes, Callable[[bytes], object]]:
    """An archive of an older version: its bytes, values of the program in it, or a pickle of its weights."""
    whole = draw.choice(_older("model"))
    if draw.random() < 0.2:
        return mutations.changed_bytes(whole, _older("model"), draw), _read
    files = _members(whole)
    name = draw.choice([n for n in files if n.endswith((".json", ".pt"))])
    if files[name].startswith(b"PK"):
        return _zipped({**files, name: _changed_pickle(files[name], draw)}), _read
    content = json.loads(files[name])
    module = content["graph_module"]
    part = draw.choice((content, module, module["signature"], module["graph"], draw.choice(module["graph"]["nodes"])))
    key = draw.choice(list(part))
    part[key] = mutations.changed_value(part[key], draw)
    return _zipped({**files, name: json.dumps(content).encode()}), _read


def saved(draw: Random) -> tuple[bytes, Callable[[bytes], object]]:
    """A file of ``torch.save``: its bytes, or the pickle in it."""
    whole = draw.choice(_older("state"))
    if draw.random() < 0.3:
        return mutations.changed_bytes(whole, _older("state"), draw), _load
    return _changed_pickle(whole, draw), _load


def _changed_pickle(whole: bytes, draw: Random) -> bytes:
    files = _members(whole)
    pickle = next(name for name in files if name.endswith("/data.pkl"))
    return _zipped({**files, pickle: mutations.changed_bytes(files[pickle], list(files.values()), draw)})


def _members(whole: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def recorded(draw: Random) -> tuple[bytes, Callable[[bytes], object]]:
    """A run: its bytes, or an event, a place or an object in it."""
    data = draw.choice(_runs())
    if draw.random() < 0.3:
        return mutations.changed_bytes(data, _runs(), draw), _play
    arrays, texts = container.read_stream(io.BytesIO(data), "run.torchrun")
    name = draw.choice(("events", "events", "events", "frames", "left"))
    content = json.loads(texts[name])
    if isinstance(content, list) and content:
        at = draw.randrange(len(content))
        content[at] = mutations.changed_value(content[at], draw)
    else:
        content = mutations.changed_value(content, draw)
    changed = {**texts, name: json.dumps(content)}
    return b"".join(bytes(piece) for piece in container.pieces(arrays, changed)), _play


def _zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as whole:
        for name, data in files.items():
            whole.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()


@cache
def _archives() -> Sequence[bytes]:
    from tests.pt2.archives import archive, meta, mlp, node, program, weights

    shapes = {
        "x": [None, 2, 4, 4],
        "k": [3, 2, 3, 3],
        "s": [3],
        "b": [3],
        "c": [None, 3, 4, 4],
        "n": [None, 3, 4, 4],
        "p": [None, 3, 2, 2],
        "first": [None, 3, 2],
        "part": [None, 1, 2],
        "flat": [None, 6],
        "y": [None, 6],
    }
    picture = program(
        [
            node("aten.conv2d.default", "c", input="@x", weight="@k", bias=None, stride=[1, 1], padding=[1, 1]),
            node("aten.batch_norm.default", "n", input="@c", weight="@s", bias="@b", running_mean="@b",
                 running_var="@s", training=True, momentum=0.1, eps=1e-5, cudnn_enabled=False),
            node("aten.max_pool2d.default", "p", self="@n", kernel_size=[2, 2]),
            node("aten.select.int", "first", self="@p", dim=3, index=0),
            node("aten.slice.Tensor", "part", self="@first", dim=1, start=0, end=1),
            node("aten.mul_.Scalar", "part", self="@part", other=2.0),
            node("aten.reshape.default", "flat", self="@first", shape=[-1, 6]),
            node("aten.softmax.int", "y", self="@flat", dim=-1),
        ],
        {name: meta(shape, trains=name in "ksb") for name, shape in shapes.items()},
        ["x"],
        ["y"],
        {"k": "conv.weight", "s": "norm.weight", "b": "norm.bias"},
    )  # fmt: skip
    return [mlp(), archive(picture, {"conv.weight": weights(3, 2, 3, 3), "norm.weight": np.ones(3, "float32"),
                                     "norm.bias": np.zeros(3, "float32")})]  # fmt: skip


@cache
def _older(kind: str) -> Sequence[bytes]:
    with np.load(OLDER) as file:
        return [file[key].tobytes() for key in file if key.endswith(f"/{kind}")]


@cache
def _runs() -> Sequence[bytes]:
    names = ("b_float_in_loss", "b_hook_zeros", "b_in_place_slice", "r_function", "r_mlp", "b_detach_hidden")
    return [(RUNS / f"{name}.torchrun").read_bytes() for name in names]


def _read(data: bytes) -> None:
    """What reading lets pass must print."""
    str(read(data, "model.pt2").program)


def _load(data: bytes) -> None:
    paddle.load(io.BytesIO(data))


def _play(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".torchrun") as file:
        file.write(data)
        file.flush()
        with contextlib.suppress(UnsupportedError, InplaceError, FreedGraphError):  # what a program of such a run does
            Why().ask(Request(file.name))


READERS = {"PT2": exported, "older PT2": older, "torch.save": saved, "recorded run": recorded}
