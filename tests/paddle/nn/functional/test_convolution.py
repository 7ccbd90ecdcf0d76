"""Convolution and pooling through the public functions, against loops over every element."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UnsupportedError, UsageError

F = paddle.nn.functional


@pytest.fixture
def main() -> Any:
    return paddle.static.default_main_program()


def fed(name: str, value: np.ndarray, *, unknown: bool = False) -> Any:
    shape = [None if unknown and i != 1 else n for i, n in enumerate(value.shape)]
    variable = paddle.static.data(name, shape, str(value.dtype))
    variable.stop_gradient = value.dtype.kind != "f"
    return variable


def run(fetch: Any, **feed: np.ndarray) -> list[np.ndarray]:
    fetch = list(fetch) if isinstance(fetch, (list, tuple)) else [fetch]
    return paddle.static.Executor().run(feed=feed, fetch_list=fetch)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def convolved(
    x: np.ndarray,
    w: np.ndarray,
    strides: tuple[int, int],
    pads: tuple[int, int, int, int],
    dilations: tuple[int, int],
    groups: int,
) -> np.ndarray:
    """The definition of the convolution, one element after the other."""
    x = np.pad(x, ((0, 0), (0, 0), pads[:2], pads[2:]))
    filters, depth, height, width = w.shape
    rows, columns = ((x.shape[2 + i] - dilations[i] * (w.shape[2 + i] - 1) - 1) // strides[i] + 1 for i in range(2))
    out = np.zeros((x.shape[0], filters, rows, columns))
    for n, f, r, c in product(*map(range, out.shape)):
        group = f // (filters // groups)
        for d, i, j in product(range(depth), range(height), range(width)):
            at = r * strides[0] + i * dilations[0], c * strides[1] + j * dilations[1]
            out[n, f, r, c] += x[n, group * depth + d, at[0], at[1]] * w[f, d, i, j]
    return out


FORMS = [
    ({}, (1, 1), (0, 0, 0, 0), (1, 1)),
    ({"stride": 2, "padding": 1}, (2, 2), (1, 1, 1, 1), (1, 1)),
    ({"stride": [1, 2], "padding": [0, 2]}, (1, 2), (0, 0, 2, 2), (1, 1)),
    ({"padding": [1, 0, 2, 1], "dilation": [2, 1]}, (1, 1), (1, 0, 2, 1), (2, 1)),
    ({"padding": [[0, 0], [0, 0], [1, 2], [0, 1]]}, (1, 1), (1, 2, 0, 1), (1, 1)),
    ({"padding": "valid", "dilation": 2}, (1, 1), (0, 0, 0, 0), (2, 2)),
    # SAME: 7 rows with stride 2 give 4 results, whose windows span 3·2+3 = 9 rows: 2 more than there are.
    ({"padding": "SAME", "stride": [2, 1]}, (2, 1), (1, 1, 0, 1), (1, 1)),
]


@pytest.mark.parametrize(("settings", "strides", "pads", "dilations"), FORMS)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("unknown", [False, True])
def test_every_form_of_stride_padding_dilation(
    settings: dict[str, Any], strides: Any, pads: Any, dilations: Any, groups: int, unknown: bool
) -> None:
    x, w = normal(2, 4, 7, 6), normal(6, 4 // groups, 3, 2)
    y = F.conv2d(fed("x", x, unknown=unknown), fed("w", w), groups=groups, **settings)
    expected = convolved(x, w, strides, pads, dilations, groups)
    assert all(a in (b, -1) for a, b in zip(y.shape, expected.shape, strict=True))
    np.testing.assert_allclose(run(y, x=x, w=w)[0], expected, atol=1e-12)


def test_channels_last_is_the_same_convolution() -> None:
    x, w = normal(2, 3, 6, 5), normal(4, 3, 3, 2)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    y = F.conv2d(fed("x", last), fed("w", w), padding=[[0, 0], [1, 1], [0, 2], [0, 0]], data_format="NHWC")
    expected = convolved(x, w, (1, 1), (1, 1, 0, 2), (1, 1), 1)
    np.testing.assert_allclose(run(y, x=last, w=w)[0].transpose(0, 3, 1, 2), expected, atol=1e-12)


@pytest.mark.parametrize("multiplier", [1, 2])
def test_a_filter_for_each_channel_is_depthwise(main: Any, multiplier: int) -> None:
    x, w = normal(2, 3, 5, 6), normal(3 * multiplier, 1, 3, 2)
    y = F.conv2d(fed("x", x), fed("w", w), groups=3)
    assert main.global_block().ops[-1].type == "depthwise_conv2d"
    assert y.name == "depthwise_conv2d_0.tmp_0"
    np.testing.assert_allclose(run(y, x=x, w=w)[0], convolved(x, w, (1, 1), (0,) * 4, (1, 1), 3), atol=1e-12)


def test_large_batches_are_unrolled_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradtool.engine.ops.library import convolve

    x, w = normal(5, 3, 6, 5), normal(4, 3, 3, 2)
    y = F.conv2d(fed("x", x), fed("w", w))
    grads = paddle.static.gradients(
        paddle.mean(paddle.square(y)),
        [
            y.block.var("x"),
            y.block.var("w"),
        ],
    )
    whole = run([y, *grads], x=x, w=w)
    monkeypatch.setattr(convolve, "UNROLLED", 1)
    for a, b in zip(whole, run([y, *grads], x=x, w=w), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "size"),
    [
        ({}, (6, 6)),
        ({"stride": 2}, (9, 10)),
        ({"stride": 2, "output_padding": [1, 0]}, (10, 10)),
        ({"stride": 2, "output_size": [10, 11]}, (10, 11)),
        ({"stride": 2, "padding": [1, 0, 0, 1]}, (8, 9)),
        ({"dilation": [2, 1], "groups": 2}, (8, 6)),
        ({"padding": "SAME", "stride": 2}, (8, 9)),
    ],
)
def test_the_transpose_is_the_adjoint(settings: dict[str, Any], size: tuple[int, int]) -> None:
    groups = settings.get("groups", 1)
    y, w = normal(2, 4, 4, 5), normal(4, 3, 3, 2)
    image = normal(2, 3 * groups, *size)
    spread = F.conv2d_transpose(fed("y", y), fed("w", w), **settings)
    assert spread.shape == image.shape
    plain = {k: v for k, v in settings.items() if k not in ("output_padding", "output_size")}
    if settings.get("padding") == "SAME":  # reckoned from the smaller of the two images
        plain["padding"] = [0, 1, 0, 1]
    back = F.conv2d(fed("image", image), fed("w2", w), **plain)
    a, b = run([spread, back], y=y, w=w, w2=w, image=image)
    np.testing.assert_allclose((a * image).sum(), (y * b).sum(), rtol=1e-10)


def test_bias_takes_the_rank_of_the_result(main: Any) -> None:
    x, w, b = normal(1, 2, 4, 4), normal(3, 2, 2, 2), normal(3)
    y = F.conv2d(fed("x", x), fed("w", w), fed("b", b))
    assert [o.type for o in main.global_block().ops] == ["conv2d", "reshape2", "elementwise_add"]
    assert y.name == "conv2d_0.tmp_1"
    expected = convolved(x, w, (1, 1), (0,) * 4, (1, 1), 1) + b[:, None, None]
    np.testing.assert_allclose(run(y, x=x, w=w, b=b)[0], expected, atol=1e-12)


def test_second_derivatives_agree_with_differences() -> None:
    x, w = normal(1, 2, 4, 3), normal(2, 2, 2, 2)
    vx, vw = fed("x", x), fed("w", w)
    loss = paddle.mean(paddle.square(paddle.square(F.conv2d(vx, vw, stride=[2, 1], padding=1))))
    (first,) = paddle.static.gradients(loss, vx)
    (second,) = paddle.static.gradients(paddle.mean(paddle.square(first)), vw)
    direction = normal(2, 2, 2, 3)[..., :2]
    step = 1e-5

    def size(at: np.ndarray) -> float:
        return float(np.mean(run(first, x=x, w=at)[0] ** 2))

    numeric = (size(w + step * direction) - size(w - step * direction)) / (2 * step)
    assert float((run(second, x=x, w=w)[0] * direction).sum()) == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda x, w: F.conv2d(x, w, data_format="N"), "NCHW"),
        (lambda x, w: F.conv2d(x, w, padding="half"), "Unknown padding"),
        (lambda x, w: F.conv2d(x, w, padding=-1), "at least 0"),
        (lambda x, w: F.conv2d(x, w, padding=[1, 1, 1]), "length must be 2"),
        (lambda x, w: F.conv2d(x, w, padding=[[1, 0], [0, 0], [0, 0], [0, 0]]), "batch or channel"),
        (lambda x, w: F.conv2d(x, w, groups=0), "groups"),
        (lambda x, w: F.conv2d(x, w, groups=3), "divisible"),
        (lambda x, w: F.conv2d(x, w, groups=2), "takes 8"),
        (lambda x, w: F.conv2d(x, w, dilation=4), "does not fit"),
        (lambda x, w: F.conv2d(x, w, stride=0), "strides"),
        (lambda x, w: F.conv2d_transpose(x, w, stride=2, output_size=20), "13 to 14"),
        (lambda x, w: F.conv2d_transpose(x, w, output_padding=1, output_size=9), "mutually exclusive"),
        (lambda x, w: F.max_pool2d(x, 8, 1), "does not fit"),
        (lambda x, w: F.max_pool2d(x, 2, padding="VALID", ceil_mode=True), "ceil_mode"),
        (lambda x, w: F.max_pool2d(x, 2, return_mask=True, data_format="NHWC"), "NCHW"),
        (lambda x, w: F.max_pool2d(x, 0), "at least 1"),
        (lambda x, w: F.avg_pool2d(x, 2, divisor_override=0), "must not be 0"),
        (lambda x, w: F.max_pool2d(x, 2, stride=7, padding=1, ceil_mode=True, return_mask=True), "outside"),
        (lambda x, w: F.adaptive_avg_pool2d(x, [1, 2, 3]), "length must be 2"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(main: Any, make: Any, said: str) -> None:
    x, w = fed("x", normal(2, 4, 6, 6)), fed("w", normal(4, 4, 3, 3))
    with pytest.raises((UsageError, ShapeError, ValueError), match=said):
        make(x, w)
    assert not main.global_block().ops


def test_a_mask_of_same_padding_is_not_there() -> None:
    with pytest.raises(UnsupportedError, match="return_mask"):
        F.max_pool2d(fed("x", normal(1, 1, 4, 4)), 2, padding="SAME", return_mask=True)


def pooled(x: np.ndarray, windows: Any, reduce: Any) -> np.ndarray:
    """*reduce* over every window; *windows* holds pairs of bounds for rows and for columns."""
    rows, columns = windows
    return np.stack([np.stack([reduce(x[:, :, a:b, c:d]) for c, d in columns], -1) for a, b in rows], -2)


def spans(size: int, k: int, s: int, before: int, count: int) -> list[tuple[int, int]]:
    return [(max(i * s - before, 0), min(i * s - before + k, size)) for i in range(count)]


def largest(part: np.ndarray) -> np.ndarray:
    return part.max((2, 3))


def average(part: np.ndarray) -> np.ndarray:
    return part.mean((2, 3))


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize(
    ("settings", "rows", "columns"),
    [
        ({"kernel_size": 2}, spans(7, 2, 2, 0, 3), spans(6, 2, 2, 0, 3)),
        ({"kernel_size": [3, 2], "stride": [2, 1], "padding": 1}, spans(7, 3, 2, 1, 4), spans(6, 2, 1, 1, 7)),
        ({"kernel_size": 2, "ceil_mode": True}, spans(7, 2, 2, 0, 4), spans(6, 2, 2, 0, 3)),
        ({"kernel_size": 3, "stride": 2, "padding": "SAME"}, spans(7, 3, 2, 1, 4), spans(6, 3, 2, 0, 3)),
    ],
)
def test_pooling_reduces_every_window(kind: str, settings: dict[str, Any], rows: Any, columns: Any) -> None:
    x = normal(2, 3, 7, 6)
    function, reduce = (F.max_pool2d, largest) if kind == "max" else (F.avg_pool2d, average)
    np.testing.assert_allclose(run(function(fed("x", x), **settings), x=x)[0], pooled(x, (rows, columns), reduce))


def test_an_inclusive_mean_counts_padding() -> None:
    x = np.ones((1, 1, 4, 4))
    y = F.avg_pool2d(fed("x", x), 2, stride=2, padding=1, exclusive=False)
    np.testing.assert_allclose(run(y, x=x)[0][0, 0], [[0.25, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 0.25]])


def test_a_divisor_replaces_the_size_of_the_window(main: Any) -> None:
    x = normal(1, 2, 4, 6)
    y = F.avg_pool2d(fed("x", x), 2, divisor_override=3)
    assert [o.type for o in main.global_block().ops] == ["pool2d", "scale", "scale"]
    parts = spans(4, 2, 2, 0, 2), spans(6, 2, 2, 0, 3)
    np.testing.assert_allclose(run(y, x=x)[0], pooled(x, parts, lambda p: p.sum((2, 3)) / 3))


@pytest.mark.parametrize("size", [1, 3, [4, None], [7, 6]])
def test_adaptive_pooling_divides_the_image(size: Any) -> None:
    x = normal(2, 3, 7, 6)
    wanted = size if isinstance(size, list) else [size, size]
    parts = [
        [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]
        for n, m in zip((7, 6), (wanted[0], wanted[1] or 6), strict=True)
    ]
    image = fed("x", x)
    means, maxima = F.adaptive_avg_pool2d(image, size), F.adaptive_max_pool2d(image, size)
    results = run([means, maxima], x=x)
    np.testing.assert_allclose(results[0], pooled(x, parts, average))
    np.testing.assert_allclose(results[1], pooled(x, parts, largest))


def test_the_mask_says_where_the_first_maximum_stands() -> None:
    x = np.array([[[[1.0, 3, 3, 0], [3, 2, 0, 5], [4, 4, 1, 5], [4, 0, 5, 5]]]])
    out, mask = F.max_pool2d(fed("x", x), 2, return_mask=True)
    assert mask.dtype is paddle.int32
    values, places = run([out, mask], x=x)
    np.testing.assert_array_equal(values[0, 0], [[3, 5], [4, 5]])
    np.testing.assert_array_equal(places[0, 0], [[1, 7], [8, 11]])


@pytest.mark.parametrize("size", [2, 4])
def test_a_tie_gives_the_gradient_to_the_first_maximum(size: int) -> None:
    x = np.zeros((1, 1, 4, 4))
    image = fed("x", x)
    (gradient,) = paddle.static.gradients(F.max_pool2d(image, size), image)
    expected = np.zeros((4, 4))
    expected[::size, ::size] = 1
    np.testing.assert_array_equal(run(gradient, x=x)[0][0, 0], expected)
