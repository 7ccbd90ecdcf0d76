"""Random programs, with branches, loops and overwritten variables: groups change no bit, and no order of effects."""

from __future__ import annotations

import random
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.executor.lower import lower
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numba.fused import same
from tests.autodiff.random_programs import Net
from tests.kernels.numba.interpreted import tuned


def values(plan: Any, net: Net) -> list[Any]:
    regs = plan.registers(net.feed, dict(net.start))
    plan.run(regs)
    return [regs[r] for r in plan.fetches]


@pytest.mark.parametrize("seed", range(16))
def test_a_random_program_computes_the_same(seed: int) -> None:
    draw = random.Random(seed)
    recipe = [(draw.randrange(60), draw.randrange(60), draw.randrange(60), draw.randrange(60)) for _ in range(40)]
    with fresh_programs():
        net = Net(recipe, blocks=seed % 2 == 0)
        pairs = paddle.static.append_backward(net.loss, net.sources)
        names = [net.loss.name, *(g.name for _, g in pairs)]
        plan = lower(net.program, net.feed, names, backend("numpy"))
        expected = values(plan, net)
        kernels = tuned(plan, plan.registers(net.feed, dict(net.start)))
        again = [values(plan, net) for _ in range(2)]  # the first run looks at both
    assert kernels
    assert not any(k.differs for k in kernels)
    assert all(k.verified for k in kernels)
    for here in again:
        assert all(map(same, expected, here)), names
