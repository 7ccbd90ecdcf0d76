"""Cells of recurrent networks, in one step and over the steps of a sequence, forwards and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

# -- one step: from the input's part of the gates and the states before to the states after, and back ------------------


class RecurrentCell(NamedTuple):
    """A kind of cell.

    Attributes:
        gates: how many times the size of the state a step computes.
        step: takes the input's part of the gates, the states before, the weight and the bias of the state; gives the
            states after and what ``back`` needs of its intermediate results.
        back: takes these, the states before, those after and their gradients; gives the gradients of the gates for
            the input's part and for the state's, and for each state before the gradient that does not go through the
            gates (None where there is none).
    """

    gates: int
    step: Callable[..., Any]
    back: Callable[..., Any]


def _lstm(k, from_input, states, w, b):
    hidden, cell = states
    gates = from_input + k.matmul(hidden, w, trans_y=True) + b
    write, keep, candidate, read = k.split(gates, axis=1, num=4)
    write, keep, candidate, read = k.sigmoid(write), k.sigmoid(keep), k.tanh(candidate), k.sigmoid(read)
    cell = keep * cell + write * candidate
    seen = k.tanh(cell)
    return [read * seen, cell], (write, keep, candidate, read, seen)


def _lstm_back(k, states, after, gates, gradients):
    write, keep, candidate, read, seen = gates
    by_hidden, by_cell = gradients
    by_cell = by_cell + by_hidden * read * (1 - seen * seen)
    parts = [
        by_cell * candidate * write * (1 - write),
        by_cell * states[1] * keep * (1 - keep),
        by_cell * write * (1 - candidate * candidate),
        by_hidden * seen * read * (1 - read),
    ]
    by_gates = k.concat(parts, axis=1)
    return by_gates, by_gates, (None, by_cell * keep)


def _gru(k, from_input, states, w, b):
    (hidden,) = states
    x_reset, x_update, x_candidate = k.split(from_input, axis=1, num=3)
    h_reset, h_update, h_candidate = k.split(k.matmul(hidden, w, trans_y=True) + b, axis=1, num=3)
    reset, update = k.sigmoid(x_reset + h_reset), k.sigmoid(x_update + h_update)
    candidate = k.tanh(x_candidate + reset * h_candidate)
    return [(hidden - candidate) * update + candidate], (reset, update, candidate, h_candidate)


def _gru_back(k, states, after, gates, gradients):
    (hidden,), (by_hidden,) = states, gradients
    reset, update, candidate, h_candidate = gates
    by_candidate = by_hidden * (1 - update) * (1 - candidate * candidate)
    by_reset = by_candidate * h_candidate * reset * (1 - reset)
    by_update = by_hidden * (hidden - candidate) * update * (1 - update)
    by_input = k.concat([by_reset, by_update, by_candidate], axis=1)
    by_state = k.concat([by_reset, by_update, by_candidate * reset], axis=1)
    return by_input, by_state, (by_hidden * update,)


def _tanh(k, from_input, states, w, b):
    return [k.tanh(from_input + k.matmul(states[0], w, trans_y=True) + b)], ()


def _tanh_back(k, states, after, gates, gradients):
    by_sum = gradients[0] * (1 - after[0] * after[0])
    return by_sum, by_sum, (None,)


def _relu(k, from_input, states, w, b):
    return [k.relu(from_input + k.matmul(states[0], w, trans_y=True) + b)], ()


def _relu_back(k, states, after, gates, gradients):
    by_sum = gradients[0] * (after[0] > 0)
    return by_sum, by_sum, (None,)


CELLS = {
    "LSTM": RecurrentCell(4, _lstm, _lstm_back),
    "GRU": RecurrentCell(3, _gru, _gru_back),
    "RNN_TANH": RecurrentCell(1, _tanh, _tanh_back),
    "RNN_RELU": RecurrentCell(1, _relu, _relu_back),
}


# -- a sequence in one direction ---------------------------------------------------------------------------------------


def along(k, cell, x, states, weights, inside, backwards):
    """The outputs of all steps, the last states, and by step what was before it and what ``back`` needs."""
    w_input, w_state, b_input, b_state = weights
    parts = k.unstack(k.matmul(x, w_input, trans_y=True) + b_input)
    outputs: list[Any] = [None] * len(parts)
    trail: list[Any] = [None] * len(parts)
    for t in reversed(range(len(parts))) if backwards else range(len(parts)):
        after, gates = cell.step(k, parts[t], states, w_state, b_state)
        trail[t] = states, after, gates
        outputs[t] = after[0]
        if inside is not None:
            outputs[t] = k.where(inside[t], after[0], k.zeros_like(after[0]))
            after = [k.where(inside[t], new, old) for new, old in zip(after, states, strict=True)]
        states = after
    return outputs, states, trail


def against(k, cell, trail, w_state, inside, backwards, by_outputs, by_states):
    """Gradients from those of the outputs and the last states: for both parts of the gates, and the first states."""
    by_input, by_state = [None] * len(trail), [None] * len(trail)
    for t in range(len(trail)) if backwards else reversed(range(len(trail))):
        states, after, gates = trail[t]
        passed = [None] * len(states)
        by_after, by_output = by_states, by_outputs[t]
        if inside is not None:
            zero = k.zeros_like(by_output)
            passed = [k.where(inside[t], zero, g) for g in by_states]
            by_after = [k.where(inside[t], g, zero) for g in by_states]
            by_output = k.where(inside[t], by_output, zero)
        by_after = [by_after[0] + by_output, *by_after[1:]]
        by_input[t], by_state[t], direct = cell.back(k, states, after, gates, by_after)
        through = k.matmul(by_state[t], w_state), *(None for _ in states[1:])
        by_states = [total(terms) for terms in zip(through, direct, passed, strict=True)]
    same = by_input[0] is by_state[0]
    stacked = k.stack(by_input)
    return stacked, stacked if same else k.stack(by_state), by_states


def total(terms):
    first, *rest = (t for t in terms if t is not None)
    for term in rest:
        first = first + term
    return first
