"""What is cast, and how a loss scale moves: recorded with Paddle, compared with gradtool.

``PYTHON -m tests.paddle.amp.cases`` with a Python that has paddlepaddle 3.3.1 writes ``recorded.json`` anew. Paddle
casts on accelerators alone; the types are those that its static programs get from the same lists and levels, and the
scaler is told that there is a device.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import io
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

FILE = Path(__file__).with_name("recorded.json")

SETTINGS: list[dict[str, Any]] = [
    {"level": "O1"},
    {"level": "O2"},
    {"level": "OD"},
    {"level": "O0"},
    {"level": "O1", "custom_white_list": ["exp", "softmax"], "custom_black_list": ["matmul_v2", "matmul"]},
    {"level": "O2", "custom_black_list": ["elementwise_add", "add"]},
]


def functions(paddle: Any, x: Any, w: Any, h: Any, i: Any) -> dict[str, Callable[[], Any]]:
    """Calls with tensors of float32 (*x*, *w*), bfloat16 (*h*) and int64 (*i*)."""
    F = paddle.nn.functional
    return {
        "matmul": lambda: paddle.matmul(x, w),
        "add": lambda: x + 1,
        "add wide": lambda: h + x,
        "add narrow": lambda: h + h,
        "multiply": lambda: x * h,
        "exp": lambda: paddle.exp(h),
        "exp wide": lambda: paddle.exp(x),
        "softmax": lambda: F.softmax(h),
        "mean": lambda: h.mean(),
        "sum": lambda: h.sum(),
        "relu": lambda: F.relu(x),
        "relu narrow": lambda: F.relu(h),
        "embedding": lambda: F.embedding(i, w),
        "concat": lambda: paddle.concat([x, h]),
        "linear": lambda: F.linear(x, w),
        "linear with bias": lambda: F.linear(x, w, w[0]),
        "layer norm": lambda: F.layer_norm(h, [3]),
        "cast": lambda: h.astype("float32"),
        "reshape": lambda: x.reshape([3, 2]),
        "dropout": lambda: F.dropout(h),
        "conv2d": lambda: F.conv2d(x.reshape([1, 1, 2, 3]), w.reshape([1, 1, 2, 3])),
        "batch norm": lambda: F.batch_norm(x.reshape([2, 3, 1, 1]), x[0], x[0], x[0], x[0], training=True),
        "sqrt": lambda: paddle.sqrt(x),
        "tanh": lambda: paddle.tanh(h),
        "subtract": lambda: x - h,
        "log softmax": lambda: F.log_softmax(h),
        "sigmoid": lambda: F.sigmoid(h),
        "transpose": lambda: h.transpose([1, 0]),
        "scale": lambda: h * 2.0,
        "greater": lambda: h > 0,
        "whole numbers": lambda: i + i,
    }


def named(settings: dict[str, Any]) -> str:
    return json.dumps(settings)


def kinds(paddle: Any, calls: dict[str, Callable[[], Any]], settings: dict[str, Any]) -> dict[str, str]:
    """The types of the results; what Paddle's CPU refuses is left out."""
    result = {}
    with paddle.amp.auto_cast(True, dtype="bfloat16", **settings):
        for name, call in calls.items():
            with contextlib.suppress(Exception):
                result[name] = str(call().dtype).rpartition(".")[2].lower()
    return result


FACTORS = [1.0, np.inf, 1.0, 1.0, np.nan, np.inf, np.inf, np.inf, np.inf, np.inf, np.inf, np.inf, np.inf, np.inf, 1.0]


def scaling(paddle: Any, scaler: Any, minimizes: bool = False) -> list[Any]:
    """A weight, the scale, counts and what is printed over steps whose gradients are those factors."""
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    optimizer = paddle.optimizer.SGD(0.5, parameters=[w])
    course = []
    for factor in FACTORS:
        w.grad = None
        scaled = scaler.scale((w * 1.0).sum())
        scaled.backward()
        w.grad.set_value(w.grad * factor)
        with contextlib.redirect_stdout(io.StringIO()) as lines:
            if minimizes:
                scaler.minimize(optimizer, scaled)
            else:
                scaler.step(optimizer)
                scaler.update()
        state = scaler.state_dict()
        numbers = [float(np.asarray(state["scale"]).reshape(-1)[0]), state["incr_count"], state["decr_count"]]
        course.append([list(scaled.shape), w.numpy().tolist(), *numbers, lines.getvalue()])
    return course


SCALERS: dict[str, dict[str, Any]] = {
    "dynamic": {"init_loss_scaling": 8.0, "incr_every_n_steps": 2, "decr_every_n_nan_or_inf": 2},
    "fast": {"init_loss_scaling": 1024.0, "incr_every_n_steps": 1, "incr_ratio": 4.0, "decr_ratio": 0.125},
    "fixed": {"init_loss_scaling": 4.0, "use_dynamic_loss_scaling": False},
}


def record() -> None:
    """Write what an installed Paddle gives."""
    paddle = importlib.import_module("paddle")
    casting, scaling_module = (sys.modules[f"paddle.amp.{name}"] for name in ("auto_cast", "grad_scaler"))
    vars(scaling_module)["float"] = lambda v: builtins.float(np.asarray(v).reshape(-1)[0])  # it fails with NumPy 2
    amp = paddle.amp
    lists = {"white": amp.white_list(), "black": amp.black_list()}
    sets = {c: {d: {n: sorted(s) for n, s in levels.items()} for d, levels in t.items()} for c, t in lists.items()}
    # loss scales
    place = types.SimpleNamespace(is_gpu_place=lambda: True, is_xpu_place=lambda: False, is_custom_place=lambda: False)
    vars(casting)["amp_global_state"]().amp_dtype = "float16"
    courses = {}
    for name, settings in SCALERS.items():
        for minimizes in (False, True):
            tracer = types.SimpleNamespace(_expected_place=place)
            with mock.patch.object(scaling_module, "_dygraph_tracer", lambda t=tracer: t, create=True):
                scaler = amp.GradScaler(**settings)
            courses[f"{name} {minimizes}"] = scaling(paddle, scaler, minimizes)
    # types
    paddle.enable_static()
    results = {}
    for settings in SETTINGS:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            data = paddle.static.data
            x, w, h, i = data("x", [2, 3]), data("w", [3, 2]), data("h", [2, 3], "bfloat16"), data("i", [2, 2], "int64")
            results[named(settings)] = kinds(paddle, functions(paddle, x, w, h, i), settings)
    FILE.write_text(
        json.dumps({"lists": sets, "courses": courses, "types": results}, indent=1, sort_keys=True) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    record()
