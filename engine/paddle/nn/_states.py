"""States of recurrent networks, taken apart by layers and directions and put together."""

from __future__ import annotations

from typing import Any

from gradtool.paddle._manipulation import stack, unstack
from gradtool.paddle.utils._structure import flatten


class ArrayWrapper:
    """A list that begins with *x*."""

    def __init__(self, x: Any) -> None:
        self.array = [x]

    def append(self, x: Any) -> ArrayWrapper:
        """Add *x* to its end."""
        self.array.append(x)
        return self

    def __getitem__(self, item: Any) -> Any:
        return self.array[item]


def split_states(states: Any, bidirectional: bool = False, state_components: int = 1) -> list[Any]:
    """Return the state of each layer; of a network in two directions, a pair for each layer.

    Args:
        states: a tensor whose first dimension is layers times directions; several of them where a state has several
            components.
        state_components: how many; of an LSTM, 2.
    """
    if state_components == 1:
        single: list[Any] = list(unstack(states))
    else:
        assert len(states) == state_components
        single = list(zip(*[unstack(part) for part in states], strict=True))
    return list(zip(single[::2], single[1::2], strict=True)) if bidirectional else single


def concat_states(states: Any, bidirectional: bool = False, state_components: int = 1) -> Any:
    """Return what :func:`split_states` took apart."""
    parts = flatten(states)
    if state_components == 1:
        return stack(parts)
    return tuple(stack(parts[i::state_components]) for i in range(state_components))
