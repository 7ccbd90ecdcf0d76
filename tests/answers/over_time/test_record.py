"""Answers about the last step, with the steps that they hold for."""

import itertools

import numpy as np
import pytest

from gradtool.engine.answers.over_time.array_size import Extent
from gradtool.engine.answers.over_time.history import History, HistoryPoint, Track, TrainingStep, Update
from gradtool.engine.answers.over_time.record import Record
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.verdicts import Verdict

GIVEN = Extent.measure(np.ones(2, "float32"))
NOTHING = Extent.measure(np.zeros(2, "float32"))


def training(**states):
    """A training of tensors whose gradients are, step by step, there (+), zero (0) or missing (-)."""
    tracks = {name: Track(name, (2,), listed=True) for name in states}
    steps = []
    for number, column in enumerate(zip(*states.values(), strict=True), 1):
        points = {
            track: HistoryPoint(GIVEN if state == "+" else NOTHING, number)
            for track, state in zip(tracks.values(), column, strict=True)
            if state != "-"
        }
        steps.append(TrainingStep(number, updates=[Update("SGD", ())], points=points))
    return Record(History(steps, list(tracks.values())))


def answer(verdict, *names):
    return Answer(names[0], names[0], (2,), "float32", True, verdict, verdict.value, True, also=names[1:])


CASES = [
    (Verdict.UNUSED, "-----", True, ""),
    (Verdict.UNUSED, "+++--", True, "no gradient from step 4 of 5 on: steps 1 to 3 gave one"),
    (Verdict.UNUSED, "+----", True, "no gradient from step 2 of 5 on: step 1 gave one"),
    (Verdict.UNUSED, "++++-", False, "no gradient in step 5 alone: the others have one"),
    (Verdict.UNUSED, "+-+-+-", False, "no gradient in 3 of 6 steps: the others have one"),
    (Verdict.TIMES_ZERO, "00000", True, ""),
    (Verdict.TIMES_ZERO, "++++0", True, "a zero gradient from step 5 of 5 on: steps 1 to 4 gave one"),
    (Verdict.TIMES_ZERO, "0+++0", False, "a zero gradient in 2 of 5 steps: the others have one"),
    (Verdict.TIMES_ZERO, "0++00", True, "a zero gradient from step 4 of 5 on: steps 1 to 3 gave one"),
]


@pytest.mark.parametrize(("verdict", "states", "finding", "sentence"), CASES)
def test_an_answer_says_from_which_step_on(verdict, states, finding, sentence):
    (judged,) = training(w=states).judge([answer(verdict, "w")])
    assert judged.finding is finding
    assert judged.said == ((sentence,) if sentence else ())


def test_tensors_of_one_answer_part_where_their_steps_differ():
    record = training(a="++--", b="+-+-", c="++--")
    judged = record.judge([answer(Verdict.UNUSED, "a", "b", "c")])
    assert [(x.name, x.also, x.finding) for x in judged] == [("a", ("c",), True), ("b", (), False)]


@pytest.mark.parametrize("states", ["".join(states) for states in itertools.product("+0-", repeat=3)])
def test_what_a_step_gave_is_nothing_to_find(states):
    (judged,) = training(w=states).judge([answer(Verdict.OK, "w")])
    assert judged == answer(Verdict.OK, "w")


def test_one_step_is_judged_as_it_is():
    (judged,) = training(w="-").judge([answer(Verdict.UNUSED, "w")])
    assert judged == answer(Verdict.UNUSED, "w")
