"""Everything that a check needs, loaded before the first model runs: what is loaded later counts as the model's own."""

from __future__ import annotations

import os
from functools import cache
from typing import Final

from ..files import temporary_files
from ..questions import saved
from . import checking
from .check_result import Job
from .selection import Selection
from .subject import Subject

SMALL: Final = {
    "eager": """\
import paddle

net = paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.ReLU(), paddle.nn.Linear(4, 1))
optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=net.parameters())
loss = paddle.nn.functional.mse_loss(net(paddle.rand([8, 4])), paddle.zeros([8, 1]))
loss.backward()
optimizer.step()
""",
    "static": """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 8])
loss = paddle.mean(paddle.nn.functional.relu(paddle.static.nn.fc(x, 3)))
paddle.static.append_backward(loss)
""",
}
"""Models that have all that most models need loaded, so that none of them pays for it."""


@cache
def load() -> None:
    """Load what two small models of our own need, once in a process."""
    import sysconfig

    import numpy.fft
    import numpy.linalg
    import numpy.random

    _ = (numpy.fft, numpy.linalg, numpy.random, saved, sysconfig.get_config_vars())
    with temporary_files.folder() as folder:
        for name, text in SMALL.items():
            file = os.path.join(folder, f"{name}.py")
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(text)
            checking.check_model(Job(subject=Subject(name=name, target=file), selection=Selection()))
