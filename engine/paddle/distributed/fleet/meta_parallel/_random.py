"""Streams of random numbers under names, for dropout that differs or agrees among processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError


class RNGStatesTracker:
    """Streams of random numbers under names."""

    def __init__(self) -> None:
        self.states_: dict[str, Any] = {}
        self.seeds_: set[int] = set()

    def reset(self) -> None:
        """Forget them."""
        self.states_.clear()
        self.seeds_.clear()

    def add(self, name: str, seed: int) -> None:
        """A stream that begins with *seed*.

        Raises:
            UsageError: there is one of that name or with that seed (a ValueError).
        """
        if seed in self.seeds_:
            raise UsageError(f"seed {seed} already exists")
        if name in self.states_:
            raise UsageError(f"state {name} already exists")
        before = paddle.get_rng_state()
        paddle.seed(seed)
        self.seeds_.add(seed)
        self.states_[name] = paddle.get_rng_state()
        paddle.set_rng_state(before)

    def get_states_tracker(self) -> dict[str, Any]:
        """Return the state of each stream."""
        return dict(self.states_)

    def set_states_tracker(self, states: dict[str, Any]) -> None:
        """Have each stream go on from there."""
        self.states_ = dict(states)

    @contextmanager
    def rng_state(self, name: str = "model_parallel_rng") -> Iterator[None]:
        """Random numbers come from that stream inside.

        Raises:
            UsageError: there is none (a ValueError).
        """
        if name not in self.states_:
            raise UsageError(f"state {name} does not exist", hint=f"add it first: tracker.add({name!r}, seed)")
        before = paddle.get_rng_state()
        paddle.set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = paddle.get_rng_state()
            paddle.set_rng_state(before)


_TRACKER = RNGStatesTracker()


def get_rng_state_tracker() -> RNGStatesTracker:
    """The one of this process."""
    return _TRACKER


def model_parallel_random_seed(seed: int | None = None) -> None:
    """Begin the streams of the process anew: the usual one, ``global_seed`` and ``local_seed``.

    Args:
        seed: what they are made of; drawn when None.
    """
    start = int(paddle.randint(0, 100_000, [1])) if seed is None else seed
    _TRACKER.reset()
    _TRACKER.add("global_seed", start)
    _TRACKER.add("local_seed", start + 1024)
    paddle.seed(start)
