"""Recurrent networks as scans over time, so that they compile in a time that does not grow with their sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp

from ...ops import registry
from ..backend import Kernel, override
from .pullback import gradient_of, register_gradients

States = tuple[Any, ...]


def _lstm(gates: Any, states: States, from_state: Any) -> States:
    write, keep, candidate, read = jnp.split(gates + from_state, 4, axis=1)
    cell = jax.nn.sigmoid(keep) * states[1] + jax.nn.sigmoid(write) * jnp.tanh(candidate)
    return jax.nn.sigmoid(read) * jnp.tanh(cell), cell


def _gru(gates: Any, states: States, from_state: Any) -> States:
    (hidden,) = states
    x_reset, x_update, x_candidate = jnp.split(gates, 3, axis=1)
    h_reset, h_update, h_candidate = jnp.split(from_state, 3, axis=1)
    reset, update = jax.nn.sigmoid(x_reset + h_reset), jax.nn.sigmoid(x_update + h_update)
    candidate = jnp.tanh(x_candidate + reset * h_candidate)
    return ((hidden - candidate) * update + candidate,)


CELLS: dict[str, Callable[[Any, States, Any], States]] = {
    "LSTM": _lstm,
    "GRU": _gru,
    "RNN_TANH": lambda gates, states, from_state: (jnp.tanh(gates + from_state),),
    "RNN_RELU": lambda gates, states, from_state: (jax.nn.relu(gates + from_state),),
}
"""By mode: the states after a step, from the input's part of the gates, the states before, and these's part."""


def _run_cell(mode: str, x: Any, start: States, weights: Sequence[Any], inside: Any, backwards: bool) -> Any:
    """The last states, and the outputs of all steps, of one cell."""
    w_input, w_state, b_input, b_state = weights

    def step(states: States, each: tuple[Any, ...]) -> tuple[States, Any]:
        gates, *within = each
        after = CELLS[mode](gates, states, states[0] @ w_state.T + b_state)
        if not within:
            return after, after[0]
        kept = tuple(jnp.where(within[0], new, old) for new, old in zip(after, states, strict=True))
        return kept, jnp.where(within[0], after[0], 0)

    gates = x @ w_input.T + b_input
    return lax.scan(step, start, (gates,) if inside is None else (gates, inside), reverse=backwards)


def _network(
    x: Any, before: Sequence[Any], weights: Sequence[Any], lengths: Any, masks: Any, attrs: Mapping[str, Any]
) -> tuple[Any, list[Any]]:
    """The outputs and the final states of all layers.

    Args:
        masks: which outputs of each layer but the last the next one is given; None for all of them.
    """
    ways = 2 if attrs["is_bidirec"] else 1
    keep = 1 - attrs["dropout_prob"]
    inside = None if lengths is None else (jnp.arange(x.shape[0])[:, None] < lengths)[..., None]
    biases, finals = 2 * attrs["num_layers"] * ways, []
    for layer in range(attrs["num_layers"]):
        if layer and masks is not None:
            x = x * masks[layer - 1].astype(x.dtype) * (1 / keep if keep > 0 else 1.0)
        sides = []
        for way in range(ways):
            i = layer * ways + way
            own = *weights[2 * i : 2 * i + 2], *weights[biases + 2 * i : biases + 2 * i + 2]
            final, outputs = _run_cell(attrs["mode"], x, tuple(s[i] for s in before), own, inside, way == 1)
            sides.append(outputs)
            finals.append(final)
        x = jnp.concatenate(sides, axis=2) if ways == 2 else sides[0]
    return x, [jnp.stack(part) for part in zip(*finals, strict=True)]


def _drops(attrs: Mapping[str, Any]) -> bool:
    return attrs["dropout_prob"] > 0 and not attrs["is_test"] and attrs["num_layers"] > 1


def _forward(attrs: Mapping[str, Any], masks: Any = None) -> Callable[..., Sequence[Any]]:
    def forward(x: Any, before: Any, weights: Any, lengths: Any = None) -> Sequence[Any]:
        ways = 2 if attrs["is_bidirec"] else 1
        nothing = jnp.zeros((0, *x.shape[:2], before[0].shape[2] * ways), "uint8")
        out, states = _network(x, before, weights, lengths, masks, attrs)
        return out, states, nothing if masks is None else masks, jnp.zeros((0,), "uint8")

    return forward


@override("rnn", "jax")
def rnn(attrs: Mapping[str, Any], specs: Any) -> Kernel | None:
    """The outputs and the states; where outputs are dropped, the definition draws which."""
    return None if _drops(attrs) else _forward(attrs)


def _gradients(attrs: Mapping[str, Any], wanted: Any) -> Kernel:
    """The kernel of the gradient operator; all gradients where *wanted* does not say which."""
    op = registry.get_by_type("rnn")

    def kernel(*read: Any) -> Any:
        masks = read[_dropout_place()] if _drops(attrs) else None
        every = wanted or [[True] * len(v) if isinstance(v, (list, tuple)) else [True] for v in read[:3]]
        return gradient_of(op, _forward(attrs, masks), every)(*read)

    return kernel


def _dropout_place() -> int:
    """Return where the gradient operator reads which outputs were dropped."""
    op = registry.get_by_type("rnn")
    assert op.rule is not None
    place = op.output_index["DropoutState"]
    return next(i for i, r in enumerate(op.rule.reads) if (r.kind, r.place) == ("out", place))


register_gradients("rnn", _gradients)
