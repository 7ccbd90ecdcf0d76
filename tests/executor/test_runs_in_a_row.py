"""Runs of one plan in a row: what one run has checked, the next ones need not, and nothing else gets past."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import FeedError, UninitializedError
from gradtool.engine.executor import inputs
from gradtool.engine.executor.inputs import FedTypeError, StoredTypeError
from gradtool.paddle import static

X = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)

Trained = tuple[static.Executor, Any]


@pytest.fixture(params=["numpy", "jax"])
def trained(request: pytest.FixtureRequest) -> Iterator[Trained]:
    """An executor, and the loss of a layer that was trained a few steps with it."""
    paddle.enable_static()
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        x = static.data("x", [-1, 4])
        loss = paddle.mean(static.nn.fc(x, 2, name="layer") ** 2)
        paddle.optimizer.SGD(0.1).minimize(loss)
        exe = static.Executor(backend=request.param)
        exe.run(static.default_startup_program())
        for _ in range(3):
            exe.run(feed={"x": X, "nobody": X}, fetch_list=[loss])
        yield exe, loss
    paddle.disable_static()


def test_what_is_fed_is_checked_in_every_run(trained: Trained) -> None:
    exe, loss = trained
    for wrong, error in ((X.astype("float64"), FedTypeError), (X[:, :3], FeedError), ("text", FeedError)):
        with pytest.raises(error):
            exe.run(feed={"x": wrong}, fetch_list=[loss])
        exe.run(feed={"x": X}, fetch_list=[loss])
    assert exe.run(feed={"x": X.tolist()}, fetch_list=[loss])[0].dtype == np.float32


def test_more_shapes_than_are_remembered() -> None:
    paddle.enable_static()
    with static.program_guard(static.Program()):
        x = static.data("x", [-1, 4])
        out, exe = x + 1, static.Executor(backend="numpy")
        for rows in (*range(1, 70), 1):
            assert exe.run(feed={"x": np.zeros((rows, 4), "float32")}, fetch_list=[out])[0].shape == (rows, 4)
        with pytest.raises(FeedError):
            exe.run(feed={"x": np.zeros((1, 3), "float32")}, fetch_list=[out])
    paddle.disable_static()


def test_a_declaration_that_changes_is_looked_at_again(trained: Trained) -> None:
    exe, loss = trained
    x = loss.block.vars["x"]
    x.spec = type(x.spec)((2, 4), x.spec.dtype)
    with pytest.raises(FeedError, match=r"shape = \(2, 4\), but received fed shape \[3, 4\]"):
        exe.run(feed={"x": X}, fetch_list=[loss])


def test_what_the_scope_holds_is_checked_in_every_run(trained: Trained) -> None:
    exe, loss = trained
    values = static.global_scope().values
    weight = np.array(values["layer.w_0"])
    values["layer.w_0"] = weight.astype("float64")
    with pytest.raises(StoredTypeError, match=r"'layer.w_0' must be 'float32', but .* is 'float64'"):
        exe.run(feed={"x": X}, fetch_list=[loss])
    del values["layer.w_0"]
    with pytest.raises(UninitializedError, match=r"'layer\.w_0' has not been initialized"):
        exe.run(feed={"x": X}, fetch_list=[loss])
    values["layer.w_0"] = weight
    before = weight.copy()
    exe.run(feed={"x": X}, fetch_list=[loss])
    np.testing.assert_array_equal(weight, before)
    assert not np.array_equal(values["layer.w_0"], before)


def test_a_run_like_the_one_before_is_looked_at_in_few_calls(trained: Trained) -> None:
    exe, loss = trained
    folder, calls = os.path.dirname(inputs.__file__) + os.sep, 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.startswith(folder)  # gradtool's own, of no other package

    feed = {"x": X}
    sys.setprofile(count)
    try:
        exe.run(feed=feed, fetch_list=[loss], return_numpy=False)
    finally:
        sys.setprofile(None)
    assert calls <= {"numpy": 48, "jax": 24}[exe.backend.name], calls
