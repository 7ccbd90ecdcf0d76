"""Recorded scripts: what Paddle returned from argument errors, callbacks, printing, cloning and running.

Where a script returns the class of an exception, it returns the names of the class and its bases; the recorded name
must be among them. The format and the decided differences: ``tests/oracle/README.md``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from gradtool.engine.core.errors import UnknownNameWarning
from gradtool.paddle import _alias
from gradtool.paddle.utils import unique_name
from tests.parity import replay

NAMES = replay.names("x")

DIFFERENT: dict[str, dict[str, Any]] = {
    # The second and third call would compute the same values, so they reuse the gradients of the first.
    "x002_append_ok_cases": {"plist_set": [["a.w_0", "a.w_0@GRAD"]]},
    # Callbacks are called with checkpoints as well, and no scratch blocks stay behind.
    "x004_callbacks_with_checkpoints": {"calls": 7, "num_blocks": 1},
    # One input that does not matter gives [None], and a target that is its own input a gradient of one.
    "x009_gradients_argument_errors": {"x_of_x_len": 1},
}
"""What gradtool returns instead of the record, and why."""

WARNS = {"x002_append_ok_cases"}
"""Cases that name unknown variables, about which gradtool warns."""


def returned(name: str) -> tuple[Any, Any]:
    """What the script returns on gradtool, and what the record says."""
    namespace, record = replay.load(name)
    with warnings.catch_warnings():
        if name in WARNS:
            warnings.simplefilter("ignore", UnknownNameWarning)
        return namespace["run"](), record["returns"]


def agrees(ours: Any, recorded: Any) -> bool:
    """Whether *ours* is what was recorded; an exception's classes must include the recorded one."""
    if isinstance(ours, str) and isinstance(recorded, str):
        return ours == recorded or recorded in ours.split()
    if isinstance(ours, dict):
        return (
            isinstance(recorded, dict)
            and ours.keys() == recorded.keys()
            and all(agrees(ours[k], recorded[k]) for k in ours)
        )
    if isinstance(ours, (list, tuple)):
        return isinstance(recorded, list) and len(ours) == len(recorded) and all(map(agrees, ours, recorded))
    return bool(ours == recorded)


@pytest.fixture(autouse=True)
def importable() -> Iterator[None]:
    """The scripts import paddle, and count names from the beginning."""
    with _alias.active(), unique_name.guard():
        yield


@pytest.mark.parametrize("name", NAMES)
def test_a_script_returns_what_was_recorded(name: str) -> None:
    ours, recorded = returned(name)
    expected = {**recorded, **DIFFERENT.get(name, {})}
    assert ours.keys() == expected.keys()
    assert {k: v for k, v in ours.items() if not agrees(v, expected[k])} == {}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_still_one(name: str) -> None:
    ours, recorded = returned(name)
    assert {k for k in ours if not agrees(ours[k], recorded[k])} == set(DIFFERENT[name])


def test_the_lists_name_cases() -> None:
    assert {*DIFFERENT, *WARNS} <= set(NAMES)
    assert len(NAMES) == 12


@pytest.mark.parametrize(
    ("ours", "recorded", "same"),
    [
        ("LossError GradientError ValueError Exception", "ValueError", True),
        ("LossError GradientError ValueError Exception", "TypeError", False),
        (None, "ValueError", False),
        ([["a", 1]], [["a", 1]], True),
        (("a",), ["a"], True),
        ([1], [1, 2], False),
        ({"a": 1}, {"b": 1}, False),
        (1, 2, False),
    ],
)
def test_agreement(ours: Any, recorded: Any, same: bool) -> None:
    assert agrees(ours, recorded) is same
