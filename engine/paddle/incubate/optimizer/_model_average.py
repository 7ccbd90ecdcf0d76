"""Averages of parameters over the last steps of a training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ModeError, UsageError
from gradtool.engine.eager.tensor import Tensor

LONGEST = 16384
"""How many values are summed up in one sum: more would lose digits."""


class _Sums:
    """The sums of one parameter's values."""

    def __init__(self, like: np.ndarray[Any, Any]) -> None:
        self.sums = [np.zeros_like(like) for _ in range(3)]
        self.updates = self.accumulates = self.old_accumulates = 0

    def add(self, value: np.ndarray[Any, Any], rate: float, least: int, most: int) -> None:
        """Count a value; where the window is full, it becomes the one before, and a new one begins."""
        self.updates += 1
        self.accumulates += 1
        self.sums[0] = self.sums[0] + value
        if self.updates % LONGEST == 0:
            self.sums[1] = self.sums[1] + self.sums[0]
            self.sums[0] = np.zeros_like(value)
        if self.accumulates >= least and self.accumulates >= min(most, int(self.updates * rate)):
            self.sums[2] = self.sums[0] + self.sums[1]
            self.sums[0], self.sums[1] = np.zeros_like(value), np.zeros_like(value)
            self.old_accumulates, self.accumulates = self.accumulates, 0

    def mean(self) -> np.ndarray[Any, Any]:
        """The average over the window now and the one before."""
        total: np.ndarray[Any, Any] = sum(self.sums[1:], self.sums[0])
        return total / max(self.accumulates + self.old_accumulates, 1)


class ModelAverage:
    """The average of each parameter's values over the last steps, to be evaluated in its place.

    The window of steps grows with their number, *average_window_rate* of it, from *min_average_window* to
    *max_average_window*; when it is full a new one begins, and the average is over both. Dynamic mode only.

    Args:
        parameters: whose averages.

    Raises:
        ModeError: static mode is on (an AssertionError); ``paddle.static.ExponentialMovingAverage`` is for that.
        UsageError: no parameters (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    >>> average = paddle.incubate.ModelAverage(0.5, parameters=[x], min_average_window=2, max_average_window=4)
    >>> for value in (1.0, 3.0):
    ...     x.set_value([value])
    ...     average.step()
    >>> with average.apply():
    ...     x.tolist()
    [2.0]
    >>> x.tolist()
    [3.0]
    """

    def __init__(
        self,
        average_window_rate: float,
        parameters: Iterable[Any] | None = None,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        name: str | None = None,
    ) -> None:
        if state.in_static_mode():
            raise ModeError(
                "paddle.incubate.ModelAverage works in dynamic mode only in gradtool.",
                hint="use paddle.static.ExponentialMovingAverage",
            )
        if parameters is None:
            raise UsageError("paddle.incubate.ModelAverage needs parameters: write parameters=model.parameters().")
        self.average_window, self.min_average_window = average_window_rate, min_average_window
        self.max_average_window = max_average_window
        self._parameters: list[Tensor] = list(parameters)
        self._sums: dict[Tensor, _Sums] = {}
        self._before: dict[Tensor, np.ndarray[Any, Any]] = {}

    def step(self) -> None:
        """Count the values that the parameters have now; called after the step of an optimizer."""
        for p in self._parameters:
            if p.stop_gradient:
                continue
            value = p.numpy()
            sums = self._sums.setdefault(p, _Sums(value))
            sums.add(value, self.average_window, self.min_average_window, self.max_average_window)

    def minimize(self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None) -> None:
        """As :meth:`step`."""
        self.step()

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clear the gradients of the parameters."""
        for p in self._parameters:
            p.clear_gradient(set_to_zero)

    @contextmanager
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """The parameters are their averages inside, and afterwards as before if *need_restore*."""
        self._before = {p: p.numpy().copy() for p in self._sums}
        for p, sums in self._sums.items():
            p.set_value(sums.mean().astype(p.numpy().dtype))
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    def restore(self, executor: Any = None) -> None:
        """Give the parameters the values that they had before :meth:`apply`."""
        for p, value in self._before.items():
            p.set_value(value)
        self._before = {}

    def state_dict(self) -> dict[str, Any]:
        """The sums and counts of every parameter, under the names that Paddle gives them."""
        entries: dict[str, Any] = {}
        for p, s in self._sums.items():
            counts = {
                "num_accumulates": s.accumulates,
                "num_updates": s.updates,
                "old_num_accumulates": s.old_accumulates,
            }
            entries |= {f"{p.name}_{key}_0": np.array([n], np.int64) for key, n in counts.items()}
            entries |= {f"{p.name}_sum_{i + 1}_0": value for i, value in enumerate(s.sums)}
        return entries

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state."""
        for p in self._parameters:
            if f"{p.name}_num_updates_0" not in state_dict:
                continue
            sums = self._sums[p] = _Sums(p.numpy())
            sums.sums = [np.asarray(state_dict[f"{p.name}_sum_{i}_0"]) for i in (1, 2, 3)]
            sums.updates = int(np.asarray(state_dict[f"{p.name}_num_updates_0"]).reshape(-1)[0])
            sums.accumulates = int(np.asarray(state_dict[f"{p.name}_num_accumulates_0"]).reshape(-1)[0])
            sums.old_accumulates = int(np.asarray(state_dict[f"{p.name}_old_num_accumulates_0"]).reshape(-1)[0])
