"""Streams of random numbers under numbers: ``paddle.incubate.get_rng_state``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import NotFound, expect_type

_registered: list[Any] = []
"""States under their numbers; the first is that of the process when somebody asked first."""
_now = 0


class NoStream(NotFound, ValueError):
    """The number of a state that nobody registered (Paddle raises ValueError)."""


def _first() -> None:
    if not _registered:
        _registered.append(paddle.get_rng_state())


def get_rng_state(device: Any = None, use_index: bool = False) -> list[Any]:
    """Return the state of the stream of random numbers, as a list of one; with *use_index* the number of the state."""
    _first()
    return [_now] if use_index else list(paddle.get_rng_state())


def set_rng_state(state_list: Sequence[Any], device: Any = None, use_index: bool = False) -> None:
    """Have the stream go on from a state of :func:`get_rng_state`, or from one with that number.

    Raises:
        NoStream: a number that :func:`register_rng_state_as_index` did not give (a ValueError).
    """
    global _now
    expect_type(state_list, (list, tuple), "state_list", "paddle.incubate.set_rng_state")
    if not use_index:
        paddle.set_rng_state(list(state_list))
        return
    _first()
    number = state_list[0]
    if not isinstance(number, int) or not 0 <= number < len(_registered):
        raise NoStream(f"paddle.incubate.set_rng_state: no state is registered under {number!r}.")
    _registered[_now] = paddle.get_rng_state()  # it goes on from here when it is taken up again
    _now = number
    paddle.set_rng_state(_registered[number])


def register_rng_state_as_index(state_list: Sequence[Any] | None = None, device: Any = None) -> list[int]:
    """A number for a state, that of the stream now when None, in a list of one."""
    _first()
    _registered.append(paddle.get_rng_state() if state_list is None else list(state_list))
    return [len(_registered) - 1]
