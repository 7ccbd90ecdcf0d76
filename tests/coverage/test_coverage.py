"""Every public name of Paddle is here, or it is written down that it is to come, or why it never will."""

from __future__ import annotations

import pytest

from gradtool import paddle
from gradtool.paddle import _absent

from . import names


@pytest.fixture(scope="module")
def spaces() -> list[names.Space]:
    """Every namespace, compared."""
    return names.spaces()


def test_what_is_lacking_is_what_is_written_down() -> None:
    assert names.not_yet() == names.lacking(), "python -m tests.coverage --renew, where names have come"


def test_no_name_is_both_here_and_said_never_to_come(spaces: list[names.Space]) -> None:
    for space in spaces:
        assert not space.have & space.reasons.keys(), space.path


def test_every_reason_is_about_a_name_of_paddle(spaces: list[names.Space]) -> None:
    public = {f"gradtool.{space.path}": space.names for space in spaces}
    for package, listed, _ in _absent.ABSENT:
        assert {*listed.split()} <= {*public[package]}, package


def test_paddles_names_are_recorded(spaces: list[names.Space]) -> None:
    counts = {space.path: len(space.names) for space in spaces}
    assert counts["paddle"] > 500 < counts["paddle.Tensor"]
    assert counts["paddle.linalg"] == 40


def test_a_name_that_never_comes_says_why() -> None:
    with pytest.raises(
        AttributeError, match=r"paddle\.XPUPinnedPlace is not implemented in gradtool: it is about devices"
    ):
        paddle.XPUPinnedPlace()
