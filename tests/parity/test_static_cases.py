"""Every recorded static case: what gradtool builds and computes against what Paddle built and computed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

import gradtool
from gradtool import _alias
from gradtool.engine.errors import UnknownNameWarning

from . import replay

DECIDED = {
    "s008_seed_doc_all_six_calls": "a repeated call reuses gradients, so the names are the documented ones",
    "s069_gradients_empty_result": "a single input that does not matter gives [None], not []",
    "s074_append_twice": "a repeated call reuses gradients and adds no operator",
    "s204_increment_inplace": "the value that increment overwrites is kept, not restored by a second increment",
}
"""Cases in which gradtool differs on purpose; tests below assert what it gives instead."""

NOT_YET = {
    **dict.fromkeys(("s170_cond", "s171_cond_params", "s172_cond_two_outputs"), "conditional_block"),
    "s173_switch_case": "conditional_block",
    **dict.fromkeys(("s175_while_accumulate", "s176_while_zero_iterations"), "while"),
    **dict.fromkeys(("s177_while_overwrites_softmax", "s178_while_stopgrad_loopvar"), "while"),
    "s201_py_func": "py_func",
}
"""Cases that cannot run yet, with the operator or layer that is missing; one that runs must leave the list."""


@pytest.fixture(autouse=True)
def paddle_is_gradtool() -> Iterator[None]:
    with _alias.active():
        yield
    gradtool.disable_static()


def replayed(name: str) -> replay.Replay:
    with warnings.catch_warnings():
        # Paddle ignores unknown names silently and some models rely on it; that we warn is tested elsewhere.
        warnings.simplefilter("ignore", UnknownNameWarning)
        return replay.Replay(name)


@pytest.mark.parametrize("name", [n for n in replay.names("s") if n not in DECIDED and n not in NOT_YET])
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


@pytest.mark.parametrize("name", sorted(NOT_YET))
def test_case_cannot_run_yet(name: str) -> None:
    with pytest.raises((gradtool.engine.errors.GradtoolError, AttributeError)):
        replayed(name)


def test_enough_cases_pass() -> None:
    assert len(replay.names("s")) - len(NOT_YET) - len(DECIDED) >= 90


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


def test_increment_keeps_the_value_that_backward_needs() -> None:
    case = replayed("s204_increment_inplace")
    assert replay.result_names(case.result) == case.record["result"]
    case.reset()
    values = case.run(["w@GRAD", case.outputs["loss"].name])
    for value, name in zip(values, ["w@GRAD", case.outputs["loss"].name], strict=True):
        assert replay.close(value, replay.array(case.record["values"][name])) is None
