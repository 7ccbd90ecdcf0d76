"""What Paddle answers about sparse tensors, segments and messages, and ours: values, types, gradients, errors."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

from . import calls

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))

GRADIENTS = {
    "pull(S.subtract": "Paddle's second operand gets what stands at other places",
    "pull(lambda x: S.slice": "Paddle's stands where the part is alone, not at the places of the operand",
}
"""Where the values are the same and the gradients are not, and why; `test_products.py` has ours."""

SPACE = calls.names(paddle)


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", calls.CALLS)
def test_answers(call: str) -> None:
    given, expected = calls.answer(call, SPACE), RECORDED[call]
    if isinstance(expected, dict) and "raises" in expected:
        wanted = [getattr(builtins, name) for name in expected["raises"]]
        kinds = tuple(getattr(builtins, name) for name in given["raises"])
        assert any(issubclass(kind, wanted[0]) for kind in kinds), (kinds, wanted)
        return
    if call.startswith(tuple(GRADIENTS)):
        given, expected = given[0], expected[0]
    same(given, expected)


def same(given: Any, expected: Any) -> None:
    """Equal in form and type, and in value as far as float32 goes."""
    if isinstance(expected, list):
        assert len(given) == len(expected)
        for one, other in zip(given, expected, strict=True):
            same(one, other)
        return
    if not isinstance(expected, dict):
        assert given == expected
        return
    assert [*given] == [*expected]
    assert {**given, "parts": 0} == {**expected, "parts": 0}
    for one, other in zip(given["parts"], expected["parts"], strict=True):
        np.testing.assert_allclose(np.array(one), np.array(other), rtol=2e-5, atol=2e-5)


def test_every_call_is_recorded() -> None:
    assert [*RECORDED] == [*calls.CALLS]
