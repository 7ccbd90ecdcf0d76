"""Where several elements are the largest, and where functions have kinks, the gradient goes where Paddle's goes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from tests.paddle.record_ties import CASES, OUT, outcome

RECORDED: dict[str, dict[str, Any]] = json.loads(OUT.read_text(encoding="utf-8"))

ELSEWHERE = {
    "topk False": "of equal elements the first, in their order; Paddle's come as its partial sort leaves them",
    "topk True": "likewise",
    "median 1": "likewise, of two that are the upper middle",
}
"""Cases in which another of the equal elements is chosen -> why."""


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str) -> None:
    paddle.disable_static()
    ours, theirs = outcome(paddle, CASES[name]), RECORDED[name]
    assert ours.keys() == theirs.keys()
    for part in ours:
        if part == "gradient" and name in ELSEWHERE:
            assert ours[part] != theirs[part]
            np.testing.assert_allclose(np.sum(ours[part], axis=1), np.sum(theirs[part], axis=1))
        elif part == "dtype" or theirs[part] is None:
            assert ours[part] == theirs[part]
        else:
            # Paddle's attributes are float32: the slope of selu has seven digits.
            np.testing.assert_allclose(ours[part], theirs[part], rtol=1e-6, atol=1e-7, err_msg=part)
