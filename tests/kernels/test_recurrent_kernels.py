"""Recurrent networks in buffers of all steps: outputs, states and gradients are the definition's."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gradtool.engine.kernels.backend import Backend
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numpy.recurrent import CELLS, STEPS, _ArrayNet, _net
from gradtool.engine.ops.library.recurrent_cells import CELLS as DEFINED
from gradtool.engine.ops.registry import get_by_type

BATCH, INPUTS, WIDTH = 3, 5, 4
RNN = get_by_type("rnn")

Case = tuple[dict[str, Any], Any, list[Any], list[Any]]


def case(mode: str, layers: int, ways: int, steps: int, dtype: str = "float64", batch: int = BATCH) -> Case:
    """Attributes of a network, an input, states and weights."""
    rng = np.random.default_rng(3)
    gates, cells = DEFINED[mode].gates * WIDTH, layers * ways
    weights = []
    for cell in range(cells):
        weights += [rng.standard_normal((gates, INPUTS if cell < ways else WIDTH * ways))]
        weights += [rng.standard_normal((gates, WIDTH))]
    weights += [rng.standard_normal(gates) for _ in range(2 * cells)]
    states = [rng.standard_normal((cells, batch, WIDTH)) for _ in range(2 if mode == "LSTM" else 1)]
    x = rng.standard_normal((steps, batch, INPUTS))
    attrs = {**RNN.defaults, "mode": mode, "num_layers": layers, "is_bidirec": ways == 2, "is_test": True}
    return attrs, x.astype(dtype), [s.astype(dtype) for s in states], [w.astype(dtype) for w in weights]


def computed(on: Backend, case: Case, lengths: Any = None) -> list[Any]:
    """Outputs, states, and the gradients for everything."""
    attrs, x, states, weights = case
    out, after, dropped, reserve = RNN.kernel(
        on, x, states, weights, lengths, **{n: attrs[n] for n in RNN.kernel_attrs}
    )
    rng = np.random.default_rng(4)
    by_out, *by_states = (rng.standard_normal(a.shape).astype(x.dtype) for a in (out, *after))
    back = RNN.grad_op
    wanted = [[True], [True] * len(states), [True] * len(weights)]
    by_x, by_before, by_weights = back.kernel(
        on,
        *(x, states, weights, lengths, out, dropped, reserve, by_out, by_states),
        wanted=wanted,
        **{n: attrs[n] for n in back.kernel_attrs},
    )
    return [out, *after, by_x, *by_before, *by_weights]


def compare(case: Case, tolerance: float, lengths: Any = None) -> None:
    here = computed(backend("numpy"), case, lengths)
    defined = computed(Backend("definitions alone", np, ()), case, lengths)
    for a, b in zip(here, defined, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * np.abs(b).max(initial=1e-30))


@pytest.mark.parametrize("mode", sorted(DEFINED))
def test_a_network_gives_what_its_definition_says(mode: str) -> None:
    for layers, ways, steps in itertools.product((1, 2), (1, 2), (1, 3, STEPS)):
        compare(case(mode, layers, ways, steps), 1e-14)
    compare(case(mode, 2, 2, STEPS, "float32"), 4e-6)
    compare(case(mode, 1, 2, 3, batch=0), 0)


def test_every_cell_of_the_definition_is_here() -> None:
    assert CELLS.keys() == DEFINED.keys()


def test_other_types_and_sequences_of_different_lengths_are_left_to_the_definition() -> None:
    made = case("GRU", 1, 1, 3)
    compare(made, 0, np.array([3, 1, 2]))
    attrs = {"dropout_prob": 0.0, "is_bidirec": False, "num_layers": 1, "mode": "GRU"}

    def kind(dtype: str, lengths: Any = None) -> Any:
        x, states, weights = (
            m.astype(dtype) if isinstance(m, np.ndarray) else [a.astype(dtype) for a in m] for m in made[1:]
        )
        return type(_net(backend("numpy").ops, states, weights, lengths, x, None, **attrs))

    assert kind("float32") is kind("float64") is _ArrayNet
    assert kind("float16") is not _ArrayNet
    assert kind("float32", np.array([3, 1, 2])) is not _ArrayNet


def test_nothing_that_is_given_is_written_to() -> None:
    for mode in DEFINED:
        made = case(mode, 1, 1, STEPS)
        for array in (made[1], *made[2], *made[3]):
            array.flags.writeable = False
        computed(backend("numpy"), made)
