"""Reshaping, joining, taking apart, choosing, sorting, comparing: operators, names, values and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool.paddle.nn.functional as F
from gradtool import paddle

X = np.random.default_rng(0).permutation(24).reshape(2, 3, 4).astype("float32")
Y = X[:, ::-1] - 7.0

CALLS: list[tuple[str, str, str, str]] = [
    ("paddle.reshape(x, [0, -1])", "reshape2", "reshape2_0.tmp_0", "x.reshape(2, 12)"),
    ("paddle.reshape(x, [paddle.full([1], 4, 'int32'), -1])", "", "reshape2_0.tmp_0", "x.reshape(4, 6)"),
    ("paddle.reshape(x, paddle.assign([6, 4]))", "assign_value reshape2", "reshape2_0.tmp_0", "x.reshape(6, 4)"),
    ("paddle.transpose(x, [2, 0, 1])", "transpose2", "transpose_0.tmp_0", "x.transpose(2, 0, 1)"),
    ("paddle.t(x[0])", "slice transpose2", "t_0.tmp_0", "x[0].T"),
    ("paddle.moveaxis(x, 0, 2)", "transpose2", "moveaxis_0.tmp_0", "np.moveaxis(x, 0, 2)"),
    ("paddle.moveaxis(x, [0, 1], [-1, 0])", "transpose2", "moveaxis_0.tmp_0", "np.moveaxis(x, [0, 1], [-1, 0])"),
    ("paddle.unsqueeze(x, [0, -1])", "unsqueeze2", "unsqueeze2_0.tmp_0", "x[None, ..., None]"),
    ("paddle.unsqueeze(x, paddle.full([1], 1, 'int32'))", "", "unsqueeze2_0.tmp_0", "x[:, None]"),
    ("paddle.squeeze(x[:, :1])", "slice squeeze2", "squeeze_0.tmp_0", "x[:, 0]"),
    ("paddle.squeeze(x[:, :1], [0, 1])", "slice squeeze2", "squeeze_0.tmp_0", "x[:, 0]"),
    ("paddle.flatten(x)", "flatten_contiguous_range", "flatten_0.tmp_0", "x.reshape(-1)"),
    ("paddle.flatten(x, -2)", "flatten_contiguous_range", "flatten_0.tmp_0", "x.reshape(2, 12)"),
    ("paddle.concat([x, y], -1)", "concat", "concat_0.tmp_0", "np.concatenate([x, y], -1)"),
    ("paddle.concat((x, y), paddle.full([1], 1, 'int32'))", "", "concat_0.tmp_0", "np.concatenate([x, y], 1)"),
    ("paddle.concat(x)", "concat", "concat_0.tmp_0", "x"),
    ("paddle.stack([x, y], 1)", "stack", "stack_0.tmp_0", "np.stack([x, y], 1)"),
    ("paddle.split(x, 3, 1)", "split", "split_0.tmp_0", "np.split(x, 3, 1)"),
    ("paddle.split(x, [1, -1], axis=-1)", "split", "split_0.tmp_0", "np.split(x, [1], -1)"),
    ("paddle.split(x, [paddle.full([1], 1, 'int32'), 2], 1)", "", "split_0.tmp_0", "np.split(x, [1], 1)"),
    ("paddle.split(x, 2, paddle.full([1], 2, 'int32'))", "", "split_0.tmp_0", "np.split(x, 2, 2)"),
    ("paddle.chunk(x, 2)", "split", "split_0.tmp_0", "np.split(x, 2)"),
    ("paddle.unbind(x, 1)", "unbind", "unbind_0.tmp_0", "[x[:, 0], x[:, 1], x[:, 2]]"),
    ("paddle.unstack(x, -1, 4)", "unstack", "unstack_0.tmp_0", "[x[..., i] for i in range(4)]"),
    ("paddle.tile(x, [2, 1])", "tile", "tile_0.tmp_0", "np.tile(x, [2, 1])"),
    ("paddle.tile(x, paddle.assign([2]))", "assign_value tile", "tile_0.tmp_0", "np.tile(x, [2])"),
    ("paddle.expand(x[:1], [2, -1, 4])", "slice expand_v2", "expand_0.tmp_0", "np.broadcast_to(x[:1], (2, 3, 4))"),
    ("paddle.expand(x[:1], paddle.shape(x))", "", "expand_0.tmp_0", "np.broadcast_to(x[:1], (2, 3, 4))"),
    ("paddle.broadcast_to(x, [5, 2, 3, 4])", "expand_v2", "expand_0.tmp_0", "np.broadcast_to(x, (5, 2, 3, 4))"),
    (
        "paddle.expand_as(x[:, :1], y)",
        "slice expand_as_v2",
        "expand_as_0.tmp_0",
        "np.broadcast_to(x[:, :1], (2, 3, 4))",
    ),
    (
        "paddle.broadcast_tensors([x, y[0]])",
        "slice broadcast_tensors",
        "broadcast_tensors_0.tmp_0",
        "np.broadcast_arrays(x, y[0])",
    ),
    ("paddle.slice(x, [0, 2], [0, -2], [1, 9])", "slice", "slice_0.tmp_0", "x[0:1, :, -2:9]"),
    ("paddle.slice(x, [1], [paddle.full([1], 1, 'int32')], [3])", "", "slice_0.tmp_0", "x[:, 1:3]"),
    ("paddle.slice(x, [1], paddle.assign([1]), paddle.assign([2]))", "", "slice_0.tmp_0", "x[:, 1:2]"),
    (
        "paddle.strided_slice(x, [0, 2], [0, 3], [2, 0], [1, -2])",
        "strided_slice",
        "strided_slice_0.tmp_0",
        "x[0:2, :, 3:0:-2]",
    ),
    ("paddle.flip(x, [0, 2])", "flip", "flip_0.tmp_0", "np.flip(x, (0, 2))"),
    ("paddle.reverse(x, 1)", "flip", "flip_0.tmp_0", "np.flip(x, 1)"),
    ("paddle.roll(x, 5)", "roll", "roll_0.tmp_0", "np.roll(x, 5)"),
    ("paddle.roll(x, [1, -1], [0, 2])", "roll", "roll_0.tmp_0", "np.roll(x, [1, -1], [0, 2])"),
    ("paddle.gather(x, paddle.assign([1, 0, 1]))", "assign_value gather", "gather_0.tmp_0", "x[[1, 0, 1]]"),
    ("paddle.gather(x, paddle.assign([2]), 1)", "assign_value gather", "gather_0.tmp_0", "x[:, [2]]"),
    ("paddle.gather_nd(x, paddle.assign([[0, 2], [1, 1]]))", "", "gather_nd_0.tmp_0", "x[[0, 1], [2, 1]]"),
    ("paddle.index_select(x, paddle.assign([3, 0]), -1)", "", "index_select_0.tmp_0", "x[..., [3, 0]]"),
    (
        "paddle.take_along_axis(x, paddle.zeros([1, 3, 2], 'int64'), 2)",
        "fill_constant expand_v2 expand_v2 take_along_axis",
        "take_along_axis_0.tmp_0",
        "x[..., [0, 0]]",
    ),
    (
        "paddle.take_along_axis(x, paddle.argsort(x, 1), 1, False)",
        "argsort take_along_axis",
        "take_along_axis_0.tmp_0",
        "np.sort(x, 1)",
    ),
    ("paddle.scatter(x, paddle.assign([1, 0]), y)", "assign_value scatter", "scatter_0.tmp_0", "y[::-1]"),
    ("paddle.scatter(x, paddle.assign([1, 1]), y, False)", "", "scatter_0.tmp_0", "np.stack([x[0], y[0] + y[1]])"),
    (
        "paddle.index_put(x, (paddle.assign([1, 0]), paddle.assign([2, 2])), y[0, 0], True)",
        "",
        "index_put_0.tmp_0",
        "x + np.array([0, 0, 1], 'f')[:, None] * y[0, 0]",
    ),
    ("paddle.masked_select(x, x > 9)", "", "masked_select_0.tmp_0", "x[x > 9]"),
    ("paddle.where(x > 9, x, y)", "fill_constant greater_than where", "where_0.tmp_0", "np.where(x > 9, x, y)"),
    ("paddle.where(x > 9, x, 1.0)", "", "where_0.tmp_0", "np.where(x > 9, x, np.float32(1))"),
    ("paddle.where(x[0] > 9, 0.0, y)", "", "where_0.tmp_0", "np.where(x[0] > 9, np.float32(0), y)"),
    ("paddle.where(x > 9)", "", "where_index_0.tmp_0_slice_0", "list(np.nonzero(x > 9))"),
    ("paddle.nonzero(x > 9)", "", "where_index_0.tmp_0", "np.argwhere(x > 9)"),
    ("paddle.topk(x, 2)", "top_k_v2", "top_k_v2_0.tmp_0", "[-np.sort(-x)[..., :2], np.argsort(-x)[..., :2]]"),
    ("paddle.topk(x, 1, 1, False)", "top_k_v2", "top_k_v2_0.tmp_0", "[x.min(1, keepdims=True), x.argmin(1)[:, None]]"),
    ("paddle.argmax(x)", "arg_max", "argmax_0.tmp_0", "x.argmax()"),
    ("paddle.argmin(x, -1, True, 'int32')", "arg_min", "argmin_0.tmp_0", "x.argmin(-1, keepdims=True).astype('int32')"),
    ("paddle.argsort(x, 0, True)", "argsort", "argsort_0.tmp_1", "np.argsort(-x, 0)"),
    ("paddle.sort(x, 1)", "argsort", "sort_0.tmp_0", "np.sort(x, 1)"),
    ("paddle.equal(x, y)", "equal", "equal_0.tmp_0", "x == y"),
    ("paddle.equal(x, 4.0)", "fill_constant equal", "equal_0.tmp_0", "x == 4"),
    ("paddle.not_equal(x, y)", "not_equal", "not_equal_0.tmp_0", "x != y"),
    ("paddle.less_than(x, y)", "less_than", "less_than_0.tmp_0", "x < y"),
    ("paddle.less_equal(x, y)", "less_equal", "less_equal_0.tmp_0", "x <= y"),
    ("paddle.greater_than(x, y)", "greater_than", "greater_than_0.tmp_0", "x > y"),
    ("paddle.greater_equal(x, y)", "greater_equal", "greater_equal_0.tmp_0", "x >= y"),
    ("paddle.logical_and(x, y)", "logical_and", "logical_and_0.tmp_0", "(x != 0) & (y != 0)"),
    ("paddle.logical_or(x, y)", "logical_or", "logical_or_0.tmp_0", "(x != 0) | (y != 0)"),
    ("paddle.logical_xor(x, y)", "logical_xor", "logical_xor_0.tmp_0", "(x != 0) ^ (y != 0)"),
    ("paddle.logical_not(x)", "logical_not", "logical_not_0.tmp_0", "x == 0"),
    ("paddle.bitwise_xor(x > 5, y > 5)", "", "bitwise_xor_0.tmp_0", "(x > 5) ^ (y > 5)"),
    ("paddle.isnan(x / x)", "elementwise_div isnan_v2", "isnan_v2_0.tmp_0", "x == 0"),
    ("paddle.isfinite(1 / x)", "", "isfinite_v2_0.tmp_0", "x != 0"),
    ("paddle.isinf(1 / x)", "", "isinf_v2_0.tmp_0", "x == 0"),
    ("paddle.equal_all(x, x)", "equal_all", "equal_all_0.tmp_0", "np.array(True)"),
    ("paddle.isclose(x, x + 0.1, 0.0, 0.2)", "scale isclose", "isclose_0.tmp_0", "x == x"),
    ("paddle.allclose(x, x + 0.1)", "scale allclose", "allclose_0.tmp_0", "np.array(False)"),
    (
        "F.one_hot(paddle.argmax(x, -1), 4)",
        "arg_max one_hot_v2",
        "one_hot_v2_0.tmp_0",
        "np.eye(4, dtype='f')[x.argmax(-1)]",
    ),
    (
        "F.one_hot(paddle.argmax(x, -1), paddle.assign([4]))",
        "",
        "one_hot_v2_0.tmp_0",
        "np.eye(4, dtype='f')[x.argmax(-1)]",
    ),
    ("F.pad(x, [1, 2])", "unsqueeze2 pad3d squeeze2", "squeeze_0.tmp_0", "np.pad(x, [(0, 0), (0, 0), (1, 2)])"),
    (
        "F.pad(x, [1, 0], 'reflect', data_format='NLC')",
        "unsqueeze2 pad3d squeeze2",
        "squeeze_0.tmp_0",
        "np.pad(x, [(0, 0), (1, 0), (0, 0)], 'reflect')",
    ),
    (
        "F.pad(x[None], [1, 2, 0, 1], 'replicate')",
        "",
        "squeeze_0.tmp_0",
        "np.pad(x[None], [(0, 0), (0, 0), (0, 1), (1, 2)], 'edge')",
    ),
    (
        "F.pad(x[None, None], [1, 2, 0, 1, 1, 1], 'circular')",
        "unsqueeze2 pad3d",
        "pad3d_0.tmp_0",
        "np.pad(x[None, None], [(0, 0), (0, 0), (1, 1), (0, 1), (1, 2)], 'wrap')",
    ),
    (
        "F.pad(x[None], paddle.assign([1, 0, 2, 0]))",
        "",
        "squeeze_0.tmp_0",
        "np.pad(x[None], [(0, 0), (0, 0), (2, 0), (1, 0)])",
    ),
    (
        "F.pad(x, [0, 0, 1, 1, 2, 3], value=0.5)",
        "pad",
        "pad_0.tmp_0",
        "np.pad(x, [(0, 0), (1, 1), (2, 3)], constant_values=0.5)",
    ),
    (
        "F.pad(x, [2, 3, 1, 1, 0, 0], pad_from_left_axis=False)",
        "pad",
        "pad_0.tmp_0",
        "np.pad(x, [(0, 0), (1, 1), (2, 3)])",
    ),
    ("F.zeropad2d(x[None], [1, 0, 0, 2])", "", "squeeze_0.tmp_0", "np.pad(x[None], [(0, 0), (0, 0), (0, 2), (1, 0)])"),
    (
        "F.interpolate(x[None], scale_factor=[2, 3])",
        "unsqueeze2 nearest_interp_v2",
        "nearest_interp_v2_0.tmp_0",
        "x[None].repeat(2, 2).repeat(3, 3)",
    ),
    ("F.interpolate(x[None], [3, 2])", "", "nearest_interp_v2_0.tmp_0", "x[None][..., ::2]"),
    (
        "F.upsample(x[None], scale_factor=2, data_format='NHWC')",
        "",
        "nearest_interp_v2_0.tmp_0",
        "x[None].repeat(2, 1).repeat(2, 2)",
    ),
    ("F.interpolate(x[None], [paddle.assign([6]), 4])", "", "nearest_interp_v2_0.tmp_1", "x[None].repeat(2, 2)"),
]


"""Call, its operators (empty: whatever they are), the first result's name, the same in NumPy."""


def types() -> list[str]:
    return [o.type for o in paddle.static.default_main_program().global_block().ops]


def declared() -> tuple[Any, Any]:
    return paddle.static.data("x", [2, 3, 4]), paddle.static.data("y", [2, 3, 4])


@pytest.mark.parametrize(("call", "operators", "name", "expected"), CALLS, ids=[c[0] for c in CALLS])
def test_functions(call: str, operators: str, name: str, expected: str) -> None:
    with paddle.utils.unique_name.guard():
        x, y = declared()
        out = eval(call, {"paddle": paddle, "F": F, "np": np, "x": x, "y": y})
    if operators:
        assert types() == operators.split()
    results = list(out) if isinstance(out, (list, tuple)) else [out]
    assert results[0].name == name
    wanted = eval(expected, {"np": np, "x": X, "y": Y})
    arrays = paddle.static.Executor().run(feed={"x": X, "y": Y}, fetch_list=results)
    wanted = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
    for v, got, want in zip(results, arrays, wanted, strict=True):
        assert got.dtype == np.asarray(want).dtype
        assert v.dtype.name == got.dtype.name
        assert all(d in (-1, n) for d, n in zip(v.shape, got.shape, strict=True))
        np.testing.assert_array_equal(got, want)


def test_places_and_comparisons_stop_gradients() -> None:
    x, y = declared()
    x.stop_gradient = False
    values, places = paddle.topk(x, 2)
    assert not values.stop_gradient
    assert all(v.stop_gradient for v in (places, paddle.argsort(x), paddle.argmax(x), paddle.equal(x, y)))


def test_what_is_known_about_a_tensor() -> None:
    x, _ = declared()
    assert paddle.is_tensor(x)
    assert not paddle.is_tensor(1)
    assert (paddle.is_floating_point(x), paddle.is_integer(x), paddle.is_complex(x)) == (True, False, False)


def test_shapes_with_unknown_dimensions() -> None:
    x = paddle.static.data("z", [-1, 3])
    assert paddle.reshape(x, [-1, 1, 3]).shape == (-1, 1, 3)
    assert paddle.reshape(x, [0, 3, 1]).shape == (-1, 3, 1)
    assert paddle.flatten(x).shape == (-1,)
    assert paddle.concat([x, x], 1).shape == (-1, 6)
    assert [v.shape for v in paddle.split(x, [1, 2], 1)] == [(-1, 1), (-1, 2)]
    assert paddle.tile(x, [2, 2]).shape == (-1, 6)
    assert paddle.expand(x, [4, -1, 3]).shape == (4, -1, 3)
    assert F.one_hot(paddle.argmax(x, 1, True), 3).shape == (-1, 1, 3)


ERRORS: list[tuple[str, type[Exception], str]] = [
    ("paddle.reshape(x, [5, -1])", ValueError, "24 elements"),
    ("paddle.reshape(x, [-1, -1])", AssertionError, "at most one number"),
    ("paddle.reshape(x, [0, 0, 0, 0])", AssertionError, "no dimension to keep"),
    ("paddle.reshape(x, 6.0)", TypeError, "'shape'"),
    ("paddle.reshape(x, [2.0, 12])", TypeError, r"shape\[0\]"),
    ("paddle.reshape(x, [y, 3])", TypeError, "must be int32 or int64"),
    ("paddle.transpose(x, [0, 1])", ValueError, "each of the 3 dimensions once"),
    ("paddle.transpose(x, [0, 1, 1])", ValueError, "once"),
    ("paddle.t(x)", ValueError, "at most two dimensions"),
    ("paddle.moveaxis(x, [0, 0], [1, 2])", ValueError, "each once"),
    ("paddle.squeeze(x, 5)", ValueError, "axis 5 is out of range"),
    ("paddle.unsqueeze(x, 9)", ValueError, "axis 9 is out of range"),
    ("paddle.flatten(x, 2, 1)", ValueError, "must not be before"),
    ("paddle.flatten(x, 3)", ValueError, "start_axis 3 is out of range"),
    ("paddle.concat([x, 1.0])", TypeError, r"x\[1\]"),
    ("paddle.concat([])", TypeError, "at least one"),
    ("paddle.concat([x, y.astype('float64')])", TypeError, "one data type"),
    ("paddle.concat([x, y[0]])", ValueError, "differ in dimensions"),
    ("paddle.concat([x, y[:, :2]], 0)", ValueError, "differ in dimension 1"),
    ("paddle.concat([x, y], 3)", ValueError, "axis 3 is out of range"),
    ("paddle.concat([x, y], 1.5)", TypeError, "'axis'"),
    ("paddle.stack(x)", TypeError, "'x' in paddle.stack"),
    ("paddle.stack([x, y[0]])", ValueError, "same shape"),
    ("paddle.split(x, 2, 1)", AssertionError, "cannot be cut into 2"),
    ("paddle.split(x, [1, 1], 1)", ValueError, "do not add up to 3"),
    ("paddle.split(x, 0)", AssertionError, "must be positive"),
    ("paddle.unbind(x, 5)", ValueError, "axis 5"),
    ("paddle.unbind(paddle.static.data('z', [-1, 3]))", ValueError, "must be known"),
    ("paddle.unstack(x, 0, 3)", ValueError, "num is 3"),
    ("paddle.tile(x, [-1])", AssertionError, "must not be negative"),
    ("paddle.expand(x, [2, 3])", ValueError, "fewer dimensions"),
    ("paddle.expand(x, [2, 3, 5])", ValueError, "neither 1 nor 5"),
    ("paddle.expand_as(x, y[0])", ValueError, "more dimensions"),
    ("paddle.slice(x, [0], [0], [1, 2])", ValueError, "axes has 1 numbers and ends has 2"),
    ("paddle.flip(x, 5)", ValueError, "axis 5"),
    ("paddle.roll(x, [1, 2], 0)", ValueError, "2 shifts for 1 axes"),
    ("paddle.gather(x, y)", TypeError, "must be int32 or int64"),
    ("paddle.gather(x, paddle.zeros([2, 2], 'int64'))", ValueError, "a vector, a column"),
    ("paddle.gather_nd(x, paddle.zeros([2, 4], 'int64'))", ValueError, "at most the 3 coordinates"),
    ("paddle.take_along_axis(x, paddle.zeros([2], 'int64'), 0)", ValueError, "as many dimensions"),
    ("paddle.scatter(x, paddle.assign([0, 1, 2]), y)", ValueError, "must be rows of X"),
    ("paddle.masked_select(x, y)", TypeError, "must be bool"),
    ("paddle.where(x, x, y)", TypeError, "must be bool"),
    ("paddle.where(x > 0, x)", ValueError, "either both or neither"),
    ("paddle.where(x > 0, x, y.astype('int64'))", TypeError, "X 'x' is float32 and Y"),
    ("paddle.topk(x, 9)", ValueError, "k=9"),
    ("paddle.topk(x, 0)", ValueError, "k=0"),
    ("paddle.argmax(x, 9)", ValueError, "axis 9"),
    ("paddle.argmax(x, dtype='float32')", TypeError, "int32 or int64"),
    ("paddle.less_than(x, 1.0)", TypeError, "'y' in paddle.less_than"),
    ("paddle.equal(x, y.astype('int64'))", TypeError, "X is float32 and Y"),
    ("paddle.bitwise_and(x, y)", TypeError, "must be bool or"),
    ("F.one_hot(x, 3)", TypeError, "must be int32 or int64"),
    ("F.one_hot(paddle.argmax(x), 0)", ValueError, "num_classes must be positive"),
    ("F.pad(x, [1, 2, 3])", ValueError, "pad must hold 2 numbers"),
    ("F.pad(x, [1, 2], mode='foo')", AssertionError, "mode must be one of"),
    ("F.pad(x, [4, 0], mode='reflect')", ValueError, "larger than 4"),
    ("F.pad(x[0], [1, 2], mode='reflect')", ValueError, "3, 4 or 5 dimensions"),
    ("F.interpolate(x, scale_factor=2)", ValueError, "4 or 5 dimensions"),
    ("F.interpolate(x[None])", ValueError, "one of size and scale_factor"),
    ("F.interpolate(x[None], [2, 2], 2)", ValueError, "only one of"),
    ("F.interpolate(x[None], [2])", ValueError, "2 numbers"),
    ("F.interpolate(x[None], scale_factor=-1)", ValueError, "must be positive"),
    ("F.interpolate(x[None], [2, 2], mode='trilinear')", ValueError, "takes 5 dimensions"),
    ("F.interpolate(x[None], [2, 2], mode='foo')", ValueError, "mode must be one of"),
    ("F.interpolate(x[None], [2, 2], align_corners=True)", ValueError, "no meaning"),
    ("F.interpolate(x[None], [2, 2], align_mode=2)", ValueError, "align_mode must be 0 or 1"),
    ("F.interpolate(x[None], scale_factor=2, mode='area')", ValueError, "takes a size"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS, ids=[e[0] for e in ERRORS])
def test_wrong_arguments(call: str, error: type[Exception], message: str) -> None:
    x, y = declared()
    with pytest.raises(error, match=message):
        eval(call, {"paddle": paddle, "F": F, "x": x, "y": y})


@pytest.mark.parametrize(
    "call",
    [
        "paddle.gather(x, i)",
        "paddle.index_select(x, i, 1)",
        "paddle.gather_nd(x, i.unsqueeze(-1))",
        "paddle.take_along_axis(x, i.reshape([1, 1, 1]), 0)",
        "paddle.scatter(x, i, y[:1])",
        "paddle.index_put(x, (i,), y[:1])",
        "F.one_hot(i, 4)",
    ],
)
def test_indices_out_of_range_are_errors(call: str) -> None:
    x, y = declared()
    i = paddle.assign([4])
    out = eval(call, {"paddle": paddle, "F": F, "x": x, "y": y, "i": i})
    with pytest.raises(IndexError, match=r"out of range|no place"):
        paddle.static.Executor().run(feed={"x": X, "y": Y}, fetch_list=[out])


def test_the_last_of_repeated_updates_has_the_gradient() -> None:
    x, y = declared()
    y.stop_gradient = False
    loss = paddle.mean(paddle.scatter(x, paddle.assign([1, 1]), y) * 48)
    (gradient,) = paddle.static.gradients([loss], [y])
    (result,) = paddle.static.Executor().run(feed={"x": X, "y": Y}, fetch_list=[gradient])
    np.testing.assert_allclose(result, np.stack([np.zeros((3, 4)), np.full((3, 4), 2.0)]))
