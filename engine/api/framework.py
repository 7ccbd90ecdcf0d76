"""Seeds, places and flags."""

from __future__ import annotations

from gradtool.engine import state


class CPUPlace:
    """The CPU."""

    def __repr__(self) -> str:
        return "Place(cpu)"


def seed(value: int) -> None:
    """Start the stream of random numbers anew."""
    state.random.reset(int(value))


def in_dynamic_mode() -> bool:
    return not state.in_static_mode()


def get_default_dtype() -> str:
    return state.default_dtype().name
