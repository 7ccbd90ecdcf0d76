"""Look-ups of rows and their gradients, written by hand: NumPy's bits, and its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.kernels.numba.fused import FusedKernel, same
from gradtool.engine.kernels.numba.lookups import group_lookup
from gradtool.paddle import static

RNG = np.random.default_rng(0)
IDS = np.array([[3, 0, 3], [7, 3, 1], [9, 9, 9], [0, 5, 3]])


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that the tests share."""
    folder = tmp_path_factory.getbasetemp() / "lookups"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


class Model:
    """Two tables joined, one of which may have rows that stay zero, with the gradients of both."""

    def __init__(self, backend: str, dtype: str, ids: str, padding: int | None = None) -> None:
        self.main, startup, self.scope = static.Program(), static.Program(), static.Scope()
        self.exe = static.Executor(backend=backend)
        rng = np.random.default_rng(1)
        with static.program_guard(self.main, startup), static.scope_guard(self.scope):
            tables = [
                paddle.create_parameter(
                    [10, n], dtype, default_initializer=paddle.nn.initializer.Assign(rng.standard_normal((10, n)))
                )
                for n in (4, 5)
            ]
            words = static.data("ids", [-1, 3], ids)
            rows = [paddle.nn.functional.embedding(words, t, padding_idx=padding) for t in tables]
            joined = paddle.concat([paddle.reshape(r, [-1, r.shape[-1]]) for r in rows], -1)
            alone = paddle.nn.functional.embedding(words, tables[0])
            loss = paddle.sum(paddle.matmul(joined, joined, transpose_y=True)) + paddle.sum(
                paddle.cumsum(alone * alone, 1)
            )
            pairs = static.append_backward(loss)
            self.exe.run(startup)
        self.fetch = [loss, joined, *(g for _, g in pairs)]

    def run(self, ids: Any) -> list[Any]:
        with static.scope_guard(self.scope):
            return self.exe.run(self.main, {"ids": ids}, self.fetch)

    def compiled(self) -> list[str]:
        assert self.exe.plan is not None
        kernels = [i.kernel for i in self.exe.plan.path[0] if isinstance(i.kernel, FusedKernel)]
        assert not any(k.differs for k in kernels)
        return [op.type for k in kernels for op in k.operators if op.type.startswith("lookup")]


@pytest.mark.parametrize(("dtype", "ids"), [("float32", "int64"), ("float64", "int32")])
def test_rows_and_gradients_are_the_same_to_the_bit(dtype: str, ids: str) -> None:
    numpys, here = (Model(name, dtype, ids) for name in ("numpy", "numba"))
    for words in (IDS, IDS[::-1].copy(), IDS % 2, IDS[:2], IDS.T.reshape(4, 3).copy()):
        expected, results = numpys.run(words.astype(ids)), here.run(words.astype(ids))
        assert all(map(same, expected, results))
        assert all(r.base is None for r in results)
    assert here.compiled() == ["lookup_table_v2"] * 3 + ["lookup_table_v2_grad"] * 3


@pytest.mark.parametrize("wrong", [10, -1])
def test_what_is_no_row_is_refused_as_numpy_does(wrong: int) -> None:
    words = IDS.copy()
    words[2, 1] = wrong
    errors = []
    for name in ("numpy", "numba"):
        model = Model(name, "float32", "int64")
        model.run(IDS)
        with pytest.raises(GradtoolError) as caught:
            model.run(words)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert f"id {wrong} is outside the table of 10 rows" in errors[0]


def test_rows_that_count_for_nothing_are_numpys() -> None:
    model, numpys = (Model(name, "float32", "int64", padding=3) for name in ("numba", "numpy"))
    for _ in range(2):
        assert all(map(same, numpys.run(IDS), model.run(IDS)))
    assert model.compiled() == ["lookup_table_v2", "lookup_table_v2_grad"]  # of the table that is read alone


def test_other_instructions_are_left_alone() -> None:
    model = Model("numpy", "float32", "int64")
    model.run(IDS)
    assert model.exe.plan is not None
    for index, i in enumerate(model.exe.plan.instructions):
        if i.op is None or not i.op.type.startswith("lookup"):
            assert group_lookup(i, index, ([], [])) is None
