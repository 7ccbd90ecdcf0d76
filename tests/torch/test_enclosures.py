"""Calls and modes in which PyTorch records nothing: they are named, and what is advised makes the finding go."""

from __future__ import annotations

import pytest

from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

from .answers import RUNS

_OF_A_FUNCTION = (
    "pass it to Doubled.apply as a tensor of its own, or call requires_grad_() on data "
    "if Doubled.backward computes its gradient"
)
CASES = {
    "b_checkpoint_without_inputs": (
        "checkpoint at line 12 passes no gradient to body.weight: none of its tensor inputs needs one",
        "pass use_reentrant=False to it, or call requires_grad_() on an input",
        "r_checkpoint_of_data",
    ),
    "b_function_of_data": (
        "Doubled at line 21 passes no gradient to body.weight: none of its tensor inputs needs one",
        _OF_A_FUNCTION,
        "r_function_given_all",
    ),
    "b_inference_mode_body": (
        "what inference_mode() at line 8 covers has no way back to body.weight, and neither has a clone of it",
        "compute it outside inference_mode(): a clone() made afterwards does not bring the gradient back",
        "r_inference_outside",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_call_is_named_and_its_advice_helps(name):
    sentence, advice, after = CASES[name]
    (found,) = [a for a in Why().ask(Request(str(RUNS / f"{name}.torchrun"))) if a.finding]
    assert sentence in found.said
    assert found.advice == advice
    assert not any(a.finding for a in Why().ask(Request(str(RUNS / f"{after}.torchrun"))))
