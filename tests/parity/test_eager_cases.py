"""Every recorded case of dynamic mode: what gradtool computes against what Paddle computed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

import gradtool
from gradtool.paddle import _alias

from . import replay
from .returned import differences

DECIDED = {
    "e031_leaf_inplace_error": "an in-place method that is refused leaves its tensor as it was; Paddle's has written",
}
"""Cases in which gradtool differs on purpose; a test below asserts what it gives instead."""


@pytest.fixture(autouse=True)
def paddle_is_gradtool() -> Iterator[None]:
    gradtool.paddle.disable_static()
    with _alias.active(), gradtool.paddle.utils.unique_name.guard(), warnings.catch_warnings():
        # Backward from a tensor without a graph does nothing in Paddle; that we say so is tested elsewhere.
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.mark.parametrize("name", [n for n in replay.names("e") if n not in DECIDED])
def test_case(name: str) -> None:
    namespace, record = replay.load(name)
    assert differences(namespace["run"](), record["returns"]) == []


def test_an_in_place_method_that_is_refused_changes_nothing() -> None:
    namespace, record = replay.load("e031_leaf_inplace_error")
    faults = differences(namespace["run"](), record["returns"])
    assert [d.split(":")[0] for d in faults] == ["/a"]
    assert namespace["run"]()["a"].tolist() == [2.0, 3.0]
