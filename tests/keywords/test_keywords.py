"""Every combination of keywords that was drawn gives what Paddle gave: types, shapes, ``stop_gradient``, numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gradtool
from gradtool import paddle
from tests.sampling import sampled

from .comparing import DECISIONS, decided, difference
from .drawing import calls
from .outcome import outcome
from .record import read

RECORDED = read()
NAMES = sorted({call.partition("(")[0] for call in RECORDED})
ONE_IN = 3


@pytest.fixture(autouse=True)
def dynamic() -> Iterator[None]:
    gradtool.paddle.disable_static()
    yield
    gradtool.paddle.enable_static()


@pytest.mark.parametrize("name", NAMES)
def test_what_keywords_give(name: str) -> None:
    every = [call for call in RECORDED if call.partition("(")[0] == name]
    differing = []
    for call in sampled(every, str, ONE_IN):
        ours, theirs = outcome(paddle, call), RECORDED[call]
        word = difference(ours, theirs)
        if word and not decided(call, word):
            differing.append(f"{word}: {call}\n    ours   {ours}\n    theirs {theirs}")
    assert not differing, "\n".join(differing)


def test_what_is_drawn_is_recorded() -> None:
    drawn = {*calls()}
    missing = sorted(drawn - {*RECORDED})
    assert len(missing) < 5, f"python -m tests.keywords.record PYTHON records what is new: {missing[:20]}"


def test_each_decision_is_about_a_call() -> None:
    words = [(call, difference(outcome(paddle, call), theirs)) for call, theirs in RECORDED.items()]
    found = [(call, word) for call, word in words if word]
    for decision in DECISIONS:
        assert any(decided(c, w) and decision in _takers(c, w) for c, w in found), decision.reason


def _takers(call: str, word: str) -> list[object]:
    from re import fullmatch, match

    return [d for d in DECISIONS if match(d.calls, call) and fullmatch(d.word, word)]
