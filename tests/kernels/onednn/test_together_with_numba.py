"""oneDNN's convolutions and groups compiled by Numba in one plan: always the same bits, NumPy's but for roundings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.kernels import choice
from gradtool.engine.kernels.numba import hot
from gradtool.engine.kernels.numba.fused import FusedKernel
from gradtool.engine.kernels.onednn import poolings, products
from gradtool.paddle import static

F = paddle.nn.functional
ROUNDING = 3e-5
"""How far results may be from NumPy's, of the largest of them: some hundred units in the last place of float32."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nobody_has_chosen: None) -> None:
    """Plans are hot in their third run, whatever they cost, and nothing is too small for oneDNN."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(hot, "RUNS", 3)
    monkeypatch.setattr(hot, "OPERATOR", 0.0)
    monkeypatch.setattr(products, "LEAST", 1)
    monkeypatch.setattr(poolings, "LEAST", 1)


class Random:
    """A network of random layers, with its gradients; smooth, so that roundings do not choose a branch."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.main, self.startup = static.Program(), static.Program()
        self.startup.random_seed = seed + 1
        with paddle.utils.unique_name.guard(), static.program_guard(self.main, self.startup):
            self.x = static.data("x", [3, 4, None, 24])
            h = self.x
            for _ in range(4):
                h = self.layer(h)
            h = paddle.tanh(static.nn.conv2d(h, 4, 3) * 0.5 + 0.1) * 0.7 + 0.2
            loss = paddle.mean(h * h)
            self.fetched = [loss, *(gradient for _, gradient in static.append_backward(loss))]

    def layer(self, h: Any) -> Any:
        kind, channels = self.rng.integers(5), int(self.rng.choice([4, 8]))
        if kind == 0:
            return static.nn.conv2d(h, channels, 3, padding=1, groups=int(self.rng.choice([1, 2])))
        if kind == 1:
            return static.nn.conv2d_transpose(h, channels, filter_size=3, padding=1)
        if kind == 2:
            return F.avg_pool2d(static.nn.conv2d(h, channels, 3, padding=1, act="tanh"), 3, 1, 1)
        if kind == 3:
            return paddle.tanh(static.nn.conv2d(h, channels, 1) * 0.5 + 0.25) * F.sigmoid(h[:, :1])
        return paddle.exp(-F.max_pool2d(static.nn.conv2d(h, channels, 3, padding=1), 3, 1, 1).square())

    def runs(self, backend: str | None, count: int, image: np.ndarray) -> list[list[np.ndarray]]:
        """What is fetched in each of the runs."""
        self.executor = static.Executor() if backend is None else static.Executor(backend=backend)
        results = []
        with static.scope_guard(static.Scope()):
            self.executor.run(self.startup)
            for _ in range(count):
                results.append(self.executor.run(self.main, feed={"x": image}, fetch_list=self.fetched))
                hot.wait()
        return results


@pytest.mark.parametrize("seed", range(5))
def test_random_networks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    carried_out: list[Any] = []
    compile_ = FusedKernel.compile
    monkeypatch.setattr(FusedKernel, "compile", lambda self, *a: carried_out.append(self) or compile_(self, *a))
    network = Random(seed)
    image = network.rng.standard_normal((3, 4, 24, 24)).astype("float32")
    assert choice.current().name == "onednn"
    first, *later = network.runs(None, 6, image)
    assert carried_out, "no group has been compiled"
    for values in later:
        assert all(map(np.array_equal, first, values))
    (reference,) = network.runs("numpy", 1, image)
    for a, b in zip(first, reference, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=ROUNDING * max(np.abs(b).max(), 1e-3))
    assert not all(map(np.array_equal, first, reference)), "oneDNN has computed nothing"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_where_it_is_on_numpy(bad: float) -> None:
    network = Random(2)
    image = np.ones((3, 4, 24, 24), "float32")
    image[1, 2, 3, 4] = bad
    (reference,) = network.runs("numpy", 1, image)
    for values in network.runs(None, 5, image):
        for a, b in zip(values, reference, strict=True):
            np.testing.assert_array_equal(np.isnan(a), np.isnan(b))


def test_errors_are_numpys_with_the_same_line() -> None:
    network = Random(0)
    told = []
    for backend in ("numpy", None):
        with pytest.raises(GradtoolError) as error:
            network.runs(backend, 5, np.ones((3, 4, 1, 24), "float32"))
        told.append(str(error.value))
    assert told[0] == told[1]
    assert "test_together_with_numba.py" in told[0]
