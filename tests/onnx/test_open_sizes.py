"""Sizes that a file leaves open: kept open, told, taken from what is fed, or such as are usual."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import FileFormatError, UsageError
from gradtool.engine.importers import UnknownSizes
from gradtool.engine.importers.onnx import reading
from gradtool.engine.loading import from_python as loading
from tests.onnx.models import model, node, saved, weights


def recurrent(steps: Any = "t") -> Any:
    """A layer whose rounds are its steps, and what reads its last one."""
    values = {"w": weights(1, 3, 2), "r": weights(1, 3, 3, seed=1), "last": np.asarray(-1, "int64")}
    nodes = [node("RNN", "x w r", "y"), node("Gather", "y last", "h", axis=0)]
    return model(nodes, {"x": [steps, "batch", 2]}, ["h"], values)


def read(content: Any, **told: Any) -> Any:
    return reading.read(content.SerializeToString(), "model.onnx", Path(), UnknownSizes(**told))


def shape(imported: Any, name: str = "x") -> tuple[int, ...]:
    return tuple(imported.program.global_block().vars[name].shape)


def test_they_stay_open_where_no_operator_needs_them() -> None:
    result = read(model([node("Relu", "x", "y")], {"x": ["n", None]}, ["y"]))
    assert shape(result) == (-1, -1)
    assert result.notes == ()


def test_usual_ones_are_taken_where_one_does_and_the_file_is_told_of() -> None:
    result = read(recurrent())
    assert shape(result) == (4, 4, 2)
    (note,) = result.notes
    taken = "sizes that the file leaves open are taken as t = 4, batch = 4, since 1 of its operators needs them"
    assert note == f"{taken}; --arg t=8 gives others"


def test_an_image_is_larger() -> None:
    """Four pools halve a side that is computed, and a linear layer takes what is left of 32."""
    nodes = [
        node("MaxPool", f"{'x' if i == 0 else f'h{i}'}", f"h{i + 1}", kernel_shape=[2, 2], strides=[2, 2])
        for i in range(3)
    ]
    nodes += [node("Reshape", "h3 shape", "flat"), node("MatMul", "flat w", "y")]
    values = {"shape": np.asarray([-1, 32], "int64"), "w": weights(32, 3)}
    nodes.append(node("Resize", "h3 - scales", "z"))
    values["scales"] = np.asarray([1, 1, 2, 2], "float32")
    result = read(model(nodes, {"x": ["n", 2, "h", "w"]}, ["y", "z"], values))
    assert shape(result) == (4, 2, 32, 32)


def test_sums_of_names_are_computed() -> None:
    nodes = [node("Resize", "a - scales", "b"), node("Relu", "c", "d")]
    values = {"scales": np.asarray([1, 2], "float32")}
    result = read(
        model(nodes, {"a": ["n", "past"], "c": ["2 * past + 1", "other"]}, ["b", "d"], values), named={"past": 5}
    )
    assert (shape(result, "a"), shape(result, "c")) == ((-1, 5), (11, -1))


def test_what_is_told_is_taken_even_where_nobody_needs_it() -> None:
    result = read(model([node("Relu", "x", "y")], {"x": ["n", None]}, ["y"]), named={"x.1": 7})
    assert shape(result) == (-1, 7)
    assert result.notes == ()


def test_a_size_that_the_file_does_not_leave_open_is_refused() -> None:
    with pytest.raises(CommandError, match="unknown open size 'time'"):
        read(recurrent(), named={"time": 3})


def test_what_is_fed_says_them(tmp_path: Path) -> None:
    path = saved(recurrent(), tmp_path)
    np.savez(tmp_path / "feed.npz", x=np.ones((6, 1, 2), "float32"))
    table = loading.load(path).backward(feed=str(tmp_path / "feed.npz"), run=True)
    assert sorted(row.name for row in table.rows) == ["r", "w"]
    rows = loading.load(path, arg=["t=6", "batch=1"]).backward(feed=str(tmp_path / "feed.npz"), run=True)
    for one, other in zip(table.rows, rows.rows, strict=True):
        np.testing.assert_array_equal(table.arrays[one.subject], rows.arrays[other.subject])


def test_an_argument_that_is_no_size_is_refused(tmp_path: Path) -> None:
    path = saved(recurrent(), tmp_path)
    with pytest.raises(UsageError, match="a saved model takes sizes of what is fed"):
        loading.load(path, arg=["t=-1"])


def test_what_no_size_mends_is_what_the_file_says() -> None:
    nodes = [node("Reshape", "x shape", "y")]
    with pytest.raises(FileFormatError, match="keeps a size that its operand has not"):
        read(model(nodes, {"x": ["n", "m"]}, ["y"], {"shape": np.asarray([-1, 4, 0], "int64")}))


def test_axes_that_are_resized_to_computed_sizes_are_no_axes_that_stay() -> None:
    """The sizes of another image: not known, and not those of the image that is resized."""
    nodes = [node("Shape", "other", "sizes"), node("Resize", "x - - sizes", "y", mode="nearest")]
    result = read(model(nodes, {"x": ["n", 1, "h", "w"], "other": ["n", 1, "h2", "w2"]}, ["y"]), named={"h2": 8})
    assert result.program.global_block().vars[result.outputs[0]].shape == (4, 1, 8, 4)
