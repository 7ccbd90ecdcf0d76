"""A training that two processes run together; test_meshes.py starts them: ``python of_two_hosts.py``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gradtool import paddle


def losses(mesh: str | None, backend: str) -> list[float]:
    """Of five steps, the sum of the trained weight at the end."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    startup.random_seed = 7
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [None, 6], "float32")
        loss = paddle.mean(paddle.tanh(paddle.static.nn.fc(x, 4)) ** 2)
        paddle.optimizer.Adam(0.05).minimize(loss)
    feed: dict[str, Any] = {"x": np.sin(np.arange(96, dtype="float32")).reshape(16, 6)}
    scope = paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        paddle.static.Executor(backend="numpy").run(startup)
        exe = paddle.static.Executor(backend=backend, mesh=mesh)
        found = [float(exe.run(main, feed, [loss])[0]) for _ in range(5)]
        (weight,) = exe.run(main, feed, ["fc_0.w_0"])
    return [*found, float(np.abs(weight).sum())]


if __name__ == "__main__":
    print(json.dumps(losses("data=4,model=2", "jax")))
