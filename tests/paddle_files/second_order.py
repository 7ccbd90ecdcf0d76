"""Gradients of gradients in programs that are exported: what Paddle itself computes with them.

``python -m tests.paddle_files.second_order write OUT`` exports a program for each function, with what it is fed;
``PADDLE'S_PYTHON -m tests.paddle_files.second_order run OUT``, with ``FLAGS_enable_pir_api=0``, runs them there and
writes what came, ``OUT/values.npz``: ``saved/second_order_3.1.1.npz`` is that file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

FED: Final = np.array([[0.3, -0.7, 1.2], [0.9, 0.4, -0.2]], "float32")
POSITIVE: Final = np.abs(FED) + np.float32(0.25)


def functions(paddle: Any) -> dict[str, tuple[Callable[[Any], Any], np.ndarray]]:
    """By name: a function of a matrix, and where it is differentiated."""
    F = paddle.nn.functional

    def picture(x: Any) -> Any:
        return paddle.reshape(x, [1, 1, 2, 3])

    plain: dict[str, Callable[[Any], Any]] = {
        "abs": lambda x: paddle.abs(x * x * x),
        "add": lambda x: x * x + paddle.sum(x, axis=0),
        "avg_pool2d": lambda x: F.avg_pool2d(picture(x * x), 2, stride=1),
        "celu": F.celu,
        "clip": lambda x: paddle.clip(x * x * x, -0.5, 0.5),
        "concat": lambda x: paddle.concat([x, x * x], axis=1),
        "cos": paddle.cos,
        "cumsum": lambda x: paddle.cumsum(x * x, axis=1),
        "divide": lambda x: x / (x * x + 1.0),
        "elu": F.elu,
        "exp": paddle.exp,
        "expand": lambda x: paddle.expand(x * x, [5, 2, 3]),
        "gelu": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate=True),
        "layer_norm": lambda x: F.layer_norm(x, [3]),
        "leaky_relu": lambda x: F.leaky_relu(x * x * x),
        "log_softmax": lambda x: F.log_softmax(x, axis=1),
        "logsumexp": lambda x: paddle.logsumexp(x, axis=1),
        "matmul": lambda x: paddle.matmul(x, x, transpose_y=True),
        "max": lambda x: paddle.max(x * x, axis=1),
        "maximum": lambda x: paddle.maximum(x, x * x),
        "mean": lambda x: paddle.mean(x * x, axis=1),
        "mean_of_all": lambda x: paddle.mean(x * x),
        "mish": F.mish,
        "multiply": lambda x: x * x * x,
        "norm": lambda x: paddle.norm(x, 2, axis=1),
        "pad": lambda x: F.pad(x * x, [1, 1, 1, 1]),
        "power": lambda x: paddle.pow(x, 3.0),
        "reshape": lambda x: paddle.reshape(x * x, [3, 2]),
        "sigmoid": F.sigmoid,
        "silu": F.silu,
        "sin": paddle.sin,
        "slice": lambda x: x[:1] * x,
        "softmax": lambda x: F.softmax(x, axis=1),
        "softplus": F.softplus,
        "split": lambda x: paddle.split(x * x, [1, 2], axis=1)[1],
        "square": paddle.square,
        "squeeze": lambda x: paddle.squeeze(paddle.unsqueeze(x * x, 0), 0),
        "stack": lambda x: paddle.stack([x, x * x]),
        "subtract": lambda x: x - x * x,
        "sum": lambda x: paddle.sum(x * x, axis=1),
        "swish": F.swish,
        "tan": paddle.tan,
        "tanh": paddle.tanh,
        "tile": lambda x: paddle.tile(x * x, [2, 1]),
        "transpose": lambda x: paddle.matmul(x, paddle.transpose(x, [1, 0])),
        "where": lambda x: paddle.where(x > 0, x * x, x * x * x),
    }
    positive: dict[str, Callable[[Any], Any]] = {
        "log": paddle.log,
        "log1p": paddle.log1p,
        "reciprocal": paddle.reciprocal,
        "rsqrt": paddle.rsqrt,
        "sqrt": paddle.sqrt,
    }
    return {
        **{name: (f, FED) for name, f in plain.items()},
        **{name: (f, POSITIVE) for name, f in positive.items()},
    }


FIXED: Final = frozenset({"add", "avg_pool2d", "expand", "reshape", "tile"})
"""Functions of a matrix of a known size: of the others the number of rows is open."""
SECOND: Final = frozenset({"avg_pool2d"})
"""Functions that are differentiated twice: Paddle cannot say the third gradient of theirs."""


def program(paddle: Any, name: str, function: Callable[[Any], Any]) -> tuple[Any, list[Any]]:
    """A program with gradients of a function's squares by its operand, the first, the second and the third."""
    main = paddle.static.Program()
    gradients: list[Any] = []
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2 if name in FIXED else None, 3], "float32")
        x.stop_gradient = False
        value = function(x)
        for _ in range(2 if name in SECOND else 3):
            (value,) = paddle.static.gradients([value * value], [x])
            gradients.append(value)
    return main, gradients


def write(out: Path) -> None:
    """Export the program of each function."""
    from gradtool import paddle

    out.mkdir(parents=True, exist_ok=True)
    paddle.enable_static()
    for name, (function, fed) in functions(paddle).items():
        main, gradients = program(paddle, name, function)
        (out / f"{name}.pdmodel").write_bytes(main.to_desc())
        np.savez(out / f"{name}.npz", x=fed, fetched=np.array([g.name for g in gradients]))


def run(out: Path) -> None:
    """Run what was exported in Paddle, and write down what came."""
    import paddle

    paddle.enable_static()
    executor = paddle.static.Executor(paddle.CPUPlace())
    values = {}
    for file in sorted(out.glob("*.pdmodel")):
        told = np.load(file.with_suffix(".npz"))
        read = paddle.static.Program.parse_from_string(file.read_bytes())
        fetched = [str(n) for n in told["fetched"]]
        values[file.stem] = np.stack(executor.run(read, feed={"x": told["x"]}, fetch_list=fetched))
    np.savez_compressed(out / "values.npz", **values)
    print(sum(map(len, values.values())), "gradients came of Paddle", paddle.__version__)


if __name__ == "__main__":
    {"write": write, "run": run}[sys.argv[1]](Path(sys.argv[2]))
