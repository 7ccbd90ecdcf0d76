"""Records checkpoints of a real Paddle, and what it reads back from them: ``python record_checkpoints.py FOLDER``.

Run with FLAGS_enable_pir_api=0; the folder is ``checkpoints``. Paddle 3.1.1 and 3.3.1 write the same bytes.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np


def described(value: Any) -> Any:
    """What is read back, in JSON: tensors with name, type and values, everything else as it is."""
    if isinstance(value, dict):
        return {"dict": type(value).__name__, "entries": {k: described(v) for k, v in value.items()}}
    if isinstance(value, (list, tuple)):
        return {"sequence": type(value).__name__, "entries": [described(v) for v in value]}
    if isinstance(value, (np.ndarray, np.generic)):
        return {"array": str(value.dtype), "values": value.tolist()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    numbers = value.astype("complex64" if "complex" in str(value.dtype) else "float64").numpy()
    values = [numbers.real.tolist(), numbers.imag.tolist()] if numbers.dtype.kind == "c" else numbers.tolist()
    named = value.name if not value.name.startswith(("generated_tensor", "eager_tmp")) else None
    return {"tensor": str(value.dtype).rpartition(".")[2], "name": named, "values": values}


def main(folder: str) -> None:
    import paddle

    paddle.seed(1)
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 2), paddle.nn.BatchNorm1D(2))
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    optimizer = paddle.optimizer.Adam(rate, parameters=net.parameters())
    for _ in range(3):
        net(paddle.rand([4, 3])).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
    half = paddle.nn.Linear(2, 2)
    half.to(dtype="bfloat16")
    # The CPU has no step for bfloat16: the entry is the one that AdamW(multi_precision=True) has.
    master = {p.name: p.astype("float32") for p in half.parameters()}
    types = {"float16": [1, 2.5], "bfloat16": [1, -3], "int64": [1, 2], "bool": [True], "uint8": [3]}
    tensors = {name: paddle.to_tensor(values).astype(name) for name, values in types.items()}
    objects = {
        "layer.pdparams": net.state_dict(),
        "optimizer.pdopt": optimizer.state_dict(),
        "master.pdopt": optimizer.state_dict() | {"master_weights": master},
        "half.pdparams": half.state_dict(),
        "nested.pdparams": {"epoch": 3, "net": net.state_dict(), "all": [paddle.ones([2]), (1, 2.5, None, True, "x")]},
        "tensor.pdtensor": paddle.arange(6).reshape([2, 3]).astype("float32"),
        "types.pdparams": tensors | {"complex64": paddle.to_tensor([1 + 2j]), "scalar": paddle.to_tensor(3.0)},
        "arrays.pdparams": [paddle.ones([2]), {"array": np.ones((2, 2)), "number": np.float32(1.5)}],
        "numbers.pdparams": {"best": 0.5, "history": [1.0, 2.0], "arrays": {"a": np.arange(3)}},
    }
    for name, value in objects.items():
        for protocol in (2, 4):
            paddle.save(value, os.path.join(folder, f"{protocol}_{name}"), protocol=protocol)
    paddle.enable_static()
    x = paddle.static.data("x", [2, 3])
    loss = paddle.mean(paddle.static.nn.fc(x, 2, name="head"))
    paddle.optimizer.Adam(0.1).minimize(loss)
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    executor.run(feed={"x": np.ones((2, 3), "float32")})
    paddle.static.save(paddle.static.default_main_program(), os.path.join(folder, "static"))
    os.remove(os.path.join(folder, "static.pdmodel"))
    paddle.disable_static()
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            read = described(paddle.load(os.path.join(folder, name)))
            with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
                json.dump(read, file)


if __name__ == "__main__":
    main(sys.argv[1])
