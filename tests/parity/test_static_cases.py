"""Every recorded static case: what gradtool builds and computes against what Paddle built and computed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import gradtool
from gradtool.engine.core.errors import UnknownNameWarning
from gradtool.paddle import _alias

from . import replay

DECIDED = {
    "s008_seed_doc_all_six_calls": "a repeated call reuses gradients, so the names are the documented ones",
    "s069_gradients_empty_result": "a single input that does not matter gives [None], not []",
    "s074_append_twice": "a repeated call reuses gradients and adds no operator",
    "s178_while_stopgrad_loopvar": "a loop variable needs a gradient if the body computes it from a parameter",
    "s204_increment_inplace": "the value that increment overwrites is kept, not restored by a second increment",
}
"""Cases in which gradtool differs on purpose; tests below assert what it gives instead."""


@pytest.fixture(autouse=True)
def paddle_is_gradtool() -> Iterator[None]:
    with _alias.active():
        yield
    gradtool.paddle.disable_static()


def replayed(name: str) -> replay.Replay:
    with warnings.catch_warnings():
        # Paddle ignores unknown names silently and some models rely on it; that we warn is tested elsewhere.
        warnings.simplefilter("ignore", UnknownNameWarning)
        return replay.Replay(name)


@pytest.mark.parametrize("name", [n for n in replay.names("s") if n not in DECIDED])
def test_case(name: str) -> None:
    case = replayed(name)
    if case.record.get("known_wrong"):
        # The recorded gradients are Paddle's mistake; the loss and the finite differences are what counts.
        assert case.wrong_slopes() == []
        loss = case.outputs["loss"].name
        case.reset()
        assert replay.close(case.run([loss])[0], replay.array(case.record["values"][loss])) is None
        return
    assert case.differences() == []
    assert case.wrong_slopes() == []


def test_enough_cases_pass() -> None:
    assert len(replay.names("s")) - len(DECIDED) >= 90


def test_six_documented_calls_give_the_documented_lists() -> None:
    case = replayed("s008_seed_doc_all_six_calls")
    emb, w, b = ([n, f"{n}@GRAD"] for n in ("embedding_0.w_0", "my_fc.w_0", "my_fc.b_0"))
    calls = [c["pairs"] for c in replay.result_names(case.result)["calls"]]
    assert calls == [[emb, w, b], [emb, w], [emb, w], [w, b], [emb, w], []]


def test_a_repeated_call_adds_nothing() -> None:
    case = replayed("s074_append_twice")
    first, second = replay.result_names(case.result)["calls"]
    assert first == second == {"pairs": [["a.w_0", "a.w_0@GRAD"], ["a.b_0", "a.b_0@GRAD"]]}
    recorded = [o["type"] for o in replay.recorded_ops(case.record, "backward")]
    assert [o["type"] for o in case.backward_ops] == recorded[:7]
    case.reset()
    value = case.run(["a.w_0@GRAD"])[0]
    assert replay.close(value, replay.array(case.record["values"]["a.w_0@GRAD"])) is None


def test_an_input_that_does_not_matter_gives_none() -> None:
    assert replayed("s069_gradients_empty_result").result == [None]


def test_a_loop_variable_that_starts_as_a_constant_passes_gradients() -> None:
    case = replayed("s178_while_stopgrad_loopvar")
    assert replay.result_names(case.result) == {"pairs": [["w", "w@GRAD"]]}
    assert case.forward_ops == replay.recorded_ops(case.record, "forward")
    assert case.wrong_slopes() == []
    case.reset()
    assert np.abs(case.run(["w@GRAD"])[0]).max() > 1e-3


def test_a_loop_without_iterations_gives_zeros() -> None:
    case = replayed("s176_while_zero_iterations")
    case.reset()
    assert case.record["values_none"] == ["w@GRAD"]
    assert not case.run(["w@GRAD"])[0].any()


def test_increment_keeps_the_value_that_backward_needs() -> None:
    case = replayed("s204_increment_inplace")
    assert replay.result_names(case.result) == case.record["result"]
    case.reset()
    values = case.run(["w@GRAD", case.outputs["loss"].name])
    for value, name in zip(values, ["w@GRAD", case.outputs["loss"].name], strict=True):
        assert replay.close(value, replay.array(case.record["values"][name])) is None
