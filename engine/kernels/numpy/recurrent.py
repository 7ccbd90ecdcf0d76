"""Recurrent networks over arrays: cells that take all steps of a sequence, in buffers that have a place for each step.

``ops/library/recurrent_cells.py`` says the same with operators, a dozen of which make new arrays in every step. Here
biases are added and slopes computed for all steps at once, so results differ from the definition's in the last digits.
Sequences of different lengths, and types beside float32 and float64, are left to the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ops.library.recurrent import Net
from ..backend import primitive

Array = np.ndarray[Any, Any]
Trail = tuple[Array, ...]
"""The hidden states before all steps, those after them, and what else the cell's way back needs."""

TYPES = ("float32", "float64")

STEPS = 8
"""Steps from which on it pays to lay out a weight as products read it fastest."""


def register() -> None:
    """Offer the networks."""
    primitive(Net, "numpy")(_net)


def _net(k: Any, before: Any, weights: Any, lengths: Any, x: Any, dropout_state: Any, **attrs: Any) -> Any:
    arrays = (x, *before, *weights)
    alike = all(type(a) is np.ndarray and a.dtype == x.dtype for a in arrays) and x.dtype.name in TYPES
    kind = _ArrayNet if alike and lengths is None else Net
    return kind(k, before, weights, lengths, x, dropout_state, **attrs)


class _ArrayNet(Net):
    """A network of such cells."""

    def __init__(self, *arguments: Any, mode: str, **attrs: Any) -> None:
        super().__init__(*arguments, mode=mode, **attrs)  # type: ignore[no-untyped-call]
        self._whole = CELLS[mode]

    def along(self, i: int, x: Array, backwards: bool, keep: bool) -> tuple[Array, Sequence[Array], Trail]:
        return self._whole.along(x, self.starts[i], self.own(i), _Order(x, backwards, keep))  # type: ignore[no-any-return]

    def against(self, i: int, trail: Trail, backwards: bool, by_outputs: Array, by_states: Sequence[Array]) -> Any:
        order = _Order(by_outputs, not backwards, True)
        return trail[0], *self._whole.against(trail, self.own(i)[1], by_outputs, by_states, order)


class _Order:
    """The order in which steps are taken, and room for what they give.

    Args:
        x: ``[steps, batch, …]``.
        keep: whether what steps compute is needed afterwards.
    """

    def __init__(self, x: Array, backwards: bool, keep: bool) -> None:
        self.steps, self.batch, _ = x.shape
        self.dtype = x.dtype
        self._backwards, self._keep = backwards, keep

    def steps_of(self, *buffers: Array) -> Iterator[tuple[Array, ...]]:
        """The places of the steps, of which there may be one for all."""
        way = -1 if self._backwards else 1
        return zip(*[b[::way] if len(b) == self.steps else [b[0]] * self.steps for b in buffers], strict=True)

    def states(self, start: Array) -> tuple[Array, Array]:
        """Room for a state before all steps, with *start* there, and after them: views of one buffer."""
        buffer = np.empty((self.steps + 1, *start.shape), self.dtype)
        buffer[-1 if self._backwards else 0] = start
        return (buffer[1:], buffer[:-1]) if self._backwards else (buffer[:-1], buffer[1:])

    def last(self, after: Array) -> Array:
        """The state after the last step."""
        state: Array = after[0 if self._backwards else -1]
        return state

    def room(self, width: int, *gates: int) -> Array:
        """Room for numbers of every step, of as many *gates* each by itself."""
        return np.empty((self.steps if self._keep else 1, *gates, self.batch, width), self.dtype)

    def transpose(self, w: Array) -> Array:
        """The transpose of a weight that every step multiplies with."""
        return np.ascontiguousarray(w.T) if self.steps >= STEPS else w.T


def _input_part(x: Array, w: Array, b: Array) -> Array:
    """Minus the input's part of the gates in all steps, by one product: the sigmoid wants it negative."""
    steps, batch, width = x.shape
    gates: Array = np.matmul(x.reshape(steps * batch, width), w.T)
    np.subtract(-b, gates, gates)
    return gates.reshape(steps, batch, len(w))


def _sigmoid_of_negative(x: Array) -> None:
    """The sigmoid of -*x*, in its place."""
    np.exp(x, x)
    np.add(x, 1, x)
    np.divide(1, x, x)  # faster than np.reciprocal


def _slope(y: Array) -> Array:
    """Return the slope of the sigmoid where it is *y*."""
    slope = np.subtract(1, y)
    slope *= y
    return slope


def _tanh_slope(y: Array) -> Array:
    slope = np.multiply(y, y)
    return np.subtract(1, slope, slope)


# -- LSTM --------------------------------------------------------------------------------------------------------------


LSTM_GATES = [0, 1, 3, 2]
"""The gates as they lie here: those with a sigmoid one after the other, and the candidate behind them."""


def _lstm(x: Array, start: Sequence[Array], own: Sequence[Array], order: _Order) -> Any:
    """Each gate of a step is an array by itself, as NumPy works through those in one go: ``[step, gate, batch, …]``."""
    w_input, w_state, b_input, b_state = own
    n = w_state.shape[1]
    w_in, w = (m.reshape(4, n, m.shape[1])[LSTM_GATES].swapaxes(1, 2) for m in (w_input, w_state))
    # Minus the input's part, since the sigmoid wants it negative.
    gates = np.matmul(x.reshape(order.steps * order.batch, x.shape[2]), w_in)
    np.subtract(-(b_input + b_state).reshape(4, 1, n)[LSTM_GATES], gates, gates)
    given = gates.reshape(4, order.steps, order.batch, n).swapaxes(0, 1)
    if order.steps >= STEPS:
        w = np.ascontiguousarray(w)
    (hidden, outputs), (cells, cells_after) = map(order.states, start)
    opened, seen = order.room(n, 4), order.room(n)
    for part, h, out, c, new, z, s in order.steps_of(given, hidden, outputs, cells, cells_after, opened, seen):
        write, keep, read, candidate = z
        np.matmul(h, w, z)
        np.subtract(part, z, z)
        _sigmoid_of_negative(z[:3])
        np.tanh(np.negative(candidate, candidate), candidate)
        np.multiply(keep, c, new)
        new += np.multiply(write, candidate, s)
        np.multiply(read, np.tanh(new, s), out)
    last = [order.last(outputs), order.last(cells_after)]
    return outputs, last, (hidden, outputs, cells, opened, seen)


def _lstm_back(trail: Trail, w: Array, by_outputs: Array, by_states: Sequence[Array], order: _Order) -> Any:
    _, _, cells, opened, seen = trail
    write, keep, read, candidates = opened.swapaxes(0, 1)
    # What the gradients of both states are multiplied with, for all steps: gates in the order in which the weights lie.
    slopes = np.empty_like(opened)
    for place, gate, factor in ((0, write, candidates), (1, keep, cells), (3, read, seen)):
        part = np.subtract(1, gate, slopes[:, place])
        part *= gate
        part *= factor
    np.multiply(_tanh_slope(candidates), write, slopes[:, 2])
    through = _tanh_slope(seen)
    through *= read
    # From the last step to the first.
    by_hidden, by_cell = (g.copy() for g in by_states)
    by_gates = np.empty((order.steps, order.batch, len(w)), order.dtype)
    parts = by_gates.reshape(order.steps, order.batch, 4, w.shape[1]).swapaxes(1, 2)
    for by_output, each, slope, part, tanh_slope, k in order.steps_of(
        by_outputs, by_gates, slopes, parts, through, keep
    ):
        by_hidden += by_output
        by_cell += np.multiply(by_hidden, tanh_slope, tanh_slope)
        np.multiply(slope[:3], by_cell, part[:3])
        np.multiply(slope[3], by_hidden, part[3])
        np.matmul(each, w, by_hidden)
        by_cell *= k
    return by_gates, by_gates, [by_hidden, by_cell]


# -- GRU ---------------------------------------------------------------------------------------------------------------


def _gru(x: Array, start: Sequence[Array], own: Sequence[Array], order: _Order) -> Any:
    w_input, w_state, b_input, b_state = own
    n = w_state.shape[1]
    outside, within = b_input.copy(), b_state[2 * n :]
    outside[: 2 * n] += b_state[: 2 * n]
    gates, w = _input_part(x, w_input, outside), order.transpose(w_state)
    ((hidden, outputs),) = map(order.states, start)
    opened, inner, candidates = order.room(2 * n), order.room(n), order.room(n)
    z = np.empty((order.batch, 3 * n), order.dtype)
    for given, h, out, open_, part, candidate in order.steps_of(gates, hidden, outputs, opened, inner, candidates):
        np.matmul(h, w, z)
        np.subtract(given[:, : 2 * n], z[:, : 2 * n], open_)
        _sigmoid_of_negative(open_)
        np.add(z[:, 2 * n :], within, part)
        np.multiply(open_[:, :n], part, candidate)
        candidate -= given[:, 2 * n :]
        np.tanh(candidate, candidate)
        np.subtract(h, candidate, out)
        out *= open_[:, n:]
        out += candidate
    return outputs, [order.last(outputs)], (hidden, outputs, opened, inner, candidates)


def _gru_back(trail: Trail, w: Array, by_outputs: Array, by_states: Sequence[Array], order: _Order) -> Any:
    hidden, _, opened, inner, candidates = trail
    n = w.shape[1]
    reset, update = opened[..., :n], opened[..., n:]
    # What the gradient of the hidden state is multiplied with, for all steps.
    by_state = np.empty((*inner.shape[:2], 3 * n), inner.dtype)
    by_state[..., : 2 * n] = _slope(opened)
    by_candidate = np.subtract(1, update)
    by_candidate *= _tanh_slope(candidates)
    by_state[..., :n] *= inner
    by_state[..., :n] *= by_candidate
    by_state[..., n : 2 * n] *= hidden - candidates
    np.multiply(by_candidate, reset, by_state[..., 2 * n :])
    # From the last step to the first.
    (by_hidden,) = (g.copy() for g in by_states)
    for by_output, each, u, slope in order.steps_of(by_outputs, by_state, update, by_candidate):
        by_hidden += by_output
        each.reshape(-1, 3, n)[...] *= by_hidden[:, None]
        slope *= by_hidden
        by_hidden *= u
        by_hidden += each @ w
    by_input = by_state.copy()
    by_input[..., 2 * n :] = by_candidate
    return by_input, by_state, [by_hidden]


# -- the simple cells --------------------------------------------------------------------------------------------------


def _simple(activation: Callable[[Array, Array], Array]) -> Callable[..., Any]:
    def run(x: Array, start: Sequence[Array], own: Sequence[Array], order: _Order) -> Any:
        w_input, w_state, b_input, b_state = own
        gates, w = _input_part(x, w_input, b_input + b_state), order.transpose(w_state)
        ((hidden, outputs),) = map(order.states, start)
        for given, h, out in order.steps_of(gates, hidden, outputs):
            np.matmul(h, w, out)
            out -= given
            activation(out, out)
        return outputs, [order.last(outputs)], (hidden, outputs)

    return run


def _simple_back(slope: Callable[[Array], Array]) -> Callable[..., Any]:
    def run_back(trail: Trail, w: Array, by_outputs: Array, by_states: Sequence[Array], order: _Order) -> Any:
        by_sum = slope(trail[1])
        (by_hidden,) = (g.copy() for g in by_states)
        for by_output, each in order.steps_of(by_outputs, by_sum):
            by_hidden += by_output
            each *= by_hidden
            np.matmul(each, w, by_hidden)
        return by_sum, by_sum, [by_hidden]

    return run_back


class Whole(NamedTuple):
    """Functions of a kind of cell over all steps, and their way back.

    Attributes:
        along: gives the outputs, the last states and the trail.
        against: gives the gradients of both parts of the gates, and of the first states.
    """

    along: Callable[..., Any]
    against: Callable[..., Any]


CELLS = {
    "LSTM": Whole(_lstm, _lstm_back),
    "GRU": Whole(_gru, _gru_back),
    "RNN_TANH": Whole(_simple(np.tanh), _simple_back(_tanh_slope)),
    "RNN_RELU": Whole(
        _simple(lambda x, out: np.maximum(x, 0, out=out)), _simple_back(lambda y: np.greater(y, 0).astype(y.dtype))
    ),
}
