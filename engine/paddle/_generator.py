"""``paddle.get_rng_state``, ``paddle.Generator``, …: the process's stream of random numbers."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.streams import Position


class GeneratorState:
    """The stream of random numbers as it was at some time.

    Args:
        position: where it was.
    """

    def __init__(self, position: Position) -> None:
        self.position = position

    def current_seed(self) -> int:
        """The seed that it began with."""
        return self.position.seed


class Generator:
    """The process's stream of random numbers, of which there is one.

    Args:
        device: the CPU, or None.
    """

    def __init__(self, device: Any = None) -> None:
        self.device = "cpu"

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream anew; returns the generator."""
        state.random.reset(int(seed))
        return self

    def initial_seed(self) -> int:
        """The seed that the stream began with."""
        return state.random.seed

    def get_state(self) -> GeneratorState:
        """The stream as it is now."""
        return GeneratorState(state.random.position)

    def set_state(self, stored: GeneratorState) -> None:
        """Go on where the stream was when *stored* was taken."""
        if not isinstance(stored, GeneratorState):
            raise ArgumentTypeError(f"a state of get_state() is needed, but received {type(stored).__name__}.")
        state.random.position = stored.position


def manual_seed(seed: int) -> Generator:
    """Start the stream of random numbers anew; returns the generator."""
    return Generator().manual_seed(seed)


def get_rng_state(device: Any = None) -> list[GeneratorState]:
    """The stream of random numbers as it is now, in a list."""
    return [Generator().get_state()]


def set_rng_state(state_list: list[GeneratorState], device: Any = None) -> None:
    """Go on where the stream was when :func:`get_rng_state` gave *state_list*.

    Raises:
        UsageError: the list has another length than 1 (a ValueError).
    """
    if len(state_list) != 1:
        raise UsageError(f"Length of state list should be equal to the cpu device count, 1, but is {len(state_list)}.")
    Generator().set_state(state_list[0])


def get_cuda_rng_state() -> list[Any]:
    """An empty list: there are no graphics cards."""
    return []


def set_cuda_rng_state(state_list: list[Any]) -> None:
    """Does nothing with an empty list.

    Raises:
        UsageError: the list is not empty (a ValueError).
    """
    if state_list:
        raise UsageError("Length of gpu state list should be equal to the gpu device count, 0.")
