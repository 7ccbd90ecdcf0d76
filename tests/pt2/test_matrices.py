"""Operators of ``torch.linalg`` on square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.pt2.archives import meta, node
from tests.pt2.test_reading import fresh, one, read, run

__all__ = ["fresh"]

MATRIX = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]], "float32")
LOWER = np.linalg.cholesky(MATRIX)
CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "aten.linalg_det.default": ({"A": "@x"}, np.linalg.det(MATRIX)),
    "aten.det.default": ({"self": "@x"}, np.linalg.det(MATRIX)),
    "aten.linalg_inv.default": ({"A": "@x"}, np.linalg.inv(MATRIX)),
    "aten.inverse.default": ({"self": "@x"}, np.linalg.inv(MATRIX)),
    "aten.linalg_solve.default": ({"A": "@x", "B": "@x"}, np.eye(3)),
    "aten.linalg_cholesky.default": ({"self": "@x"}, LOWER),
    "aten.cholesky.default": ({"self": "@x", "upper": True}, LOWER.T),
}


@pytest.mark.parametrize("target", CASES)
def test_values_are_those_of_numpy(target: str) -> None:
    arguments, expected = CASES[target]
    shapes = {"x": meta([3, 3]), "y": meta(np.shape(expected))}
    (value,) = run(read(one(node(target, "y", **arguments), shapes=shapes, outputs="y")), x=MATRIX)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_one_right_side_is_a_vector() -> None:
    shapes = {"x": meta([3, 3]), "b": meta([3]), "y": meta([3])}
    nodes = (
        node("aten.select.int", "b", self="@x", dim=0, index=0),
        node("aten.linalg_solve.default", "y", A="@x", B="@b"),
    )
    (value,) = run(read(one(*nodes, shapes=shapes, outputs="y")), x=MATRIX)
    np.testing.assert_allclose(value, [1.0, 0.0, 0.0], atol=1e-6)
