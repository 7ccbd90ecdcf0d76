"""Where decompositions have no derivative, the cause of NaN says which of their values meet."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool
from gradtool import paddle

EQUAL = [[2.0, 0.0], [0.0, 2.0]]
SHORT = [[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]
CASES: dict[str, tuple[Any, str]] = {
    "linalg.eigh(x)[1]": (EQUAL, "two equal eigenvalues"),
    "linalg.svd(x)[0]": (EQUAL, "two equal singular values"),
    "linalg.pinv(x, rcond=0.1)": (EQUAL, "two equal singular values"),
    "linalg.pinv(x)": (EQUAL, ""),
    "linalg.svd(x * 0.0 + paddle.to_tensor([[1.0, 0.0], [0.0, 0.0]]))[2]": (EQUAL, "a singular value of 0"),
    "linalg.eigh(x)[0]": (EQUAL, ""),
    "linalg.svd(x)[1]": (EQUAL, ""),
    "linalg.lstsq(x, paddle.ones([3, 1]), driver='gelsd')[0]": (SHORT, ""),
    "linalg.qr(x)[0]": (SHORT, ""),
}


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", CASES)
def test_the_cause_names_the_values(call: str) -> None:
    matrix, words = CASES[call]
    x = paddle.to_tensor(matrix, stop_gradient=False)

    def loss() -> Any:
        out = eval(f"paddle.{call}", {"paddle": paddle, "x": x})
        return (out * (paddle.arange(out.size, dtype="float32").reshape(out.shape) + 1.0)).sum()

    causes = [birth.cause for birth in gradtool.nan(loss).births]
    assert [words in cause for cause in causes] == [True] * bool(words), causes
