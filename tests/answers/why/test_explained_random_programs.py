"""What ``why`` says of random programs with branches and loops is what their backward part does.

A gradient that is there is the one that the program computes, although ``why`` gets it from the values of a run of the
forward part, block by block; one that is not there has a verdict; and what is told as zero is zero.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradtool.engine.answers.why.program_case import BackwardArguments, ProgramCase
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.ir.variable import Variable
from tests.autodiff.random_programs import Net, Step, examples, steps, try_many
from tests.autodiff.test_random_blocks import backward, planned

STEPS = 60


@examples(250)
@given(steps(STEPS), st.lists(st.integers(0, 99), max_size=2))
def test_answers_agree_with_the_backward_part(recipe: list[Step], cuts: list[int]) -> None:
    agree(recipe, cuts)


def agree(recipe: Sequence[Step], cuts: Sequence[int]) -> None:
    """Build one program, ask about everything that it starts from, then differentiate it."""
    with fresh_programs():
        net = Net(recipe, blocks=True)
        taken = {v.name for v in (*net.sources, net.loss)}
        candidates = [v for v in net.temporaries if v.name not in taken]
        stopped = {candidates[c % len(candidates)].name for c in cuts}

        def run(fetch: Sequence[Variable]) -> Sequence[Any]:
            return planned(net, list(fetch))

        case = ProgramCase(net.loss, BackwardArguments(None, stopped), run=run, chosen=net.sources)
        told = {v: case.answer(case.subject(v)) for v in net.sources}
        slopes = case.slopes()
        assert slopes is not None
        fetched = backward(net, stopped, [])
        gradients = dict(zip(fetched, planned(net, [*fetched.values()]), strict=True))
        for v in net.sources:
            answer = told[v]
            mine = slopes.sums.get(case._reasons.value(v))
            theirs = gradients.get(v.name)
            if v.name not in gradients:
                assert answer.verdict is not Verdict.OK, (v.name, answer.verdict)
            elif mine is None:
                assert not np.any(theirs), (v.name, answer.verdict)
            else:
                np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12, err_msg=v.name)
                if answer.verdict in (Verdict.OK, Verdict.LARGE, Verdict.SMALL, Verdict.EXPLODED):
                    continue
                assert answer.verdict.is_zero or answer.verdict is Verdict.PRUNED or not np.any(mine)


def check(recipe: list[Step], draw: random.Random) -> None:
    """One program of :func:`~tests.autodiff.random_programs.try_many`."""
    agree(recipe, [draw.randrange(100) for _ in range(draw.randrange(3))])


if __name__ == "__main__":
    try_many(check, STEPS)
