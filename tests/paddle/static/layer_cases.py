"""Layers of ``static.nn`` as programs for Paddle and for gradtool, with values that both can make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Fed = dict[str, tuple[tuple[int, ...], str]]


def _images(layer: str, **settings: Any) -> Callable[[Any, Any], Any]:
    return lambda paddle, x: getattr(paddle.static.nn, layer)(x, **settings)


def _weight_norm(dim: int | None) -> Callable[[Any, Any], Any]:
    def build(paddle: Any, x: Any) -> Any:
        attr = paddle.static.WeightNormParamAttr(dim=dim, name="wn")
        return paddle.static.nn.fc(x, 4, weight_attr=attr)

    return build


CASES: dict[str, tuple[Fed, Callable[..., Any]]] = {
    "conv3d": (
        {"x": ((2, 4, 3, 4, 5), "float32")},
        _images("conv3d", num_filters=6, filter_size=2, groups=2, act="tanh"),
    ),
    "conv3d_last": (
        {"x": ((1, 3, 4, 5, 2), "float32")},
        _images("conv3d", num_filters=3, filter_size=(2, 3, 2), stride=(1, 2, 1), padding=1, data_format="NDHWC"),
    ),
    "conv3d_transpose": (
        {"x": ((1, 2, 3, 2, 3), "float32")},
        _images("conv3d_transpose", num_filters=3, filter_size=2, stride=2, padding=1),
    ),
    "conv3d_transpose_size": (
        {"x": ((1, 2, 2, 2, 2), "float32")},
        _images("conv3d_transpose", num_filters=4, output_size=(4, 5, 4), stride=2, groups=2, act="sigmoid"),
    ),
    "bilinear_tensor_product": (
        {"x": ((4, 3), "float32"), "y": ((4, 2), "float32")},
        lambda paddle, x, y: paddle.static.nn.bilinear_tensor_product(x, y, 5, act="tanh"),
    ),
    "row_conv": ({"x": ((2, 5, 3), "float32")}, lambda paddle, x: paddle.static.nn.row_conv(x, 2, act="sigmoid")),
    "spectral_norm": (
        {"x": ((3, 2, 4), "float32")},
        lambda paddle, x: paddle.static.nn.spectral_norm(x, dim=1, power_iters=3, eps=1e-3),
    ),
    "deform_conv2d": (
        {"x": ((2, 4, 5, 6), "float32"), "o": ((2, 16, 3, 3), "float32"), "m": ((2, 8, 3, 3), "float32")},
        lambda paddle, x, o, m: paddle.static.nn.deform_conv2d(
            x, o * 3, m, 6, 2, stride=(2, 2), padding=(1, 1), dilation=(1, 2), groups=2, deformable_groups=2
        ),
    ),
    "deform_conv2d_v1": (
        {"x": ((1, 2, 5, 6), "float32"), "o": ((1, 8, 4, 5), "float32")},
        lambda paddle, x, o: paddle.static.nn.deform_conv2d(x, o * 2, None, 3, 2, bias_attr=False),
    ),
    "nce": (
        {"x": ((3, 4), "float32"), "y": ((3, 1), "classes")},
        lambda paddle, x, y: paddle.static.nn.nce(
            x, y, 3, num_neg_samples=2, sampler="custom_dist", custom_dist=[0.0, 1.0, 0.0]
        ),
    ),
    "weight_norm_all": ({"x": ((3, 5), "float32")}, _weight_norm(None)),
}
"""What is fed, and what makes the result of it."""


def values(shape: tuple[int, ...], kind: str, seed: int) -> Any:
    count = int(np.prod(shape))
    if kind == "classes":
        return np.arange(count).reshape(shape) % 3
    return (np.sin(np.arange(count) * 1.7 + seed) * 0.8).astype(kind).reshape(shape)


def run(paddle: Any, name: str) -> dict[str, Any]:
    """The result of a case, and the gradients of what is fed and of parameters, where ``Σ result · coefficient`` is."""
    fed, build = CASES[name]
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        inputs = {
            n: paddle.static.data(n, shape, "int64" if kind == "classes" else kind) for n, (shape, kind) in fed.items()
        }
        for v in inputs.values():
            v.stop_gradient = False
        out = build(paddle, *inputs.values())
        shape = tuple(out.shape)
        coefficient = paddle.static.data("coefficient", shape, "float32")
        wanted = [v for n, v in inputs.items() if fed[n][1] != "classes"]
        wanted += [p for p in main.all_parameters() if not p.stop_gradient]
        grads = paddle.static.gradients([paddle.sum(out * coefficient)], wanted)
        executor = paddle.static.Executor()
        executor.run(startup)
        for i, p in enumerate(main.all_parameters()):
            if p.name not in ("nce_0.w_1", "nce_0.w_2", "nce_0.w_3"):
                tensor = paddle.static.global_scope().find_var(p.name).get_tensor()
                tensor.set(values(tuple(p.shape), "float32", 10 + i), paddle.CPUPlace())
        feed = {n: values(shape, kind, i) for i, (n, (shape, kind)) in enumerate(fed.items())}
        feed["coefficient"] = values(shape, "float32", 99)
        fetched = executor.run(main, feed=feed, fetch_list=[out, *grads])
    names = ["out", *[f"{v.name}@GRAD" for v in wanted]]
    return {"name": out.name, "values": dict(zip(names, fetched, strict=True))}
