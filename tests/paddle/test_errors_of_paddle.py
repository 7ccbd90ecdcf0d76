"""Wrong calls raise errors of the classes that Paddle's have, with the words of theirs that existing code looks for."""

from __future__ import annotations

import json
import re

import pytest

from gradtool import paddle

from .record_errors import CALLS, TARGET, error_of, kinds

RECORDED = json.loads(TARGET.read_text(encoding="utf-8"))

OTHER_CLASSES = {
    "paddle.dot(ones(2), ones(3))": "shapes that do not fit are a ValueError everywhere; Paddle has RuntimeError here",
    "ones(2).item(5)": "an index out of range is an IndexError, as NumPy has it; Paddle has ValueError here",
    "nn.Linear('a',4)": "what is no number is a ValueError; Paddle compares it with one",
}
"""Why an error is of another class."""

OTHER_WORDS = {
    "paddle.dot(ones(2), ones(3))",
    "ones(2).item(5)",
    "ones(2)['a']",
    "paddle.randint(5, 3, [2])",
    "paddle.multinomial(paddle.zeros([3]))",
}
"""Calls whose errors do not say which of Paddle's kinds they are."""


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", CALLS)
def test_class_and_kind(call: str) -> None:
    kind, words = RECORDED[call]
    error = error_of(paddle, call)
    assert (kind in kinds(error)) != (call in OTHER_CLASSES), (kind, error)
    marker = re.match(r"\(\w+\)", words)
    if marker is not None:
        assert (marker[0] in str(error)) != (call in OTHER_WORDS), (marker[0], error)


def test_every_call_is_recorded() -> None:
    assert [*RECORDED] == CALLS
    assert OTHER_CLASSES.keys() | OTHER_WORDS <= set(CALLS)
