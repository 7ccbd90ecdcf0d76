"""Random programs, with branches, loops and overwritten variables: JAX computes what NumPy does, gradients too."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.executor.lower import lower
from gradtool.engine.ir.default import fresh_programs
from gradtool.engine.kernels.choice import backend
from tests.autodiff.random_programs import Net


def computed(net: Net, names: list[str], name: str) -> list[Any]:
    """What the program gives there."""
    plan = lower(net.program, net.feed, names, backend(name))
    values = dict(net.start)
    backend(name).loaded(values, plan.loads)
    regs = plan.registers(net.feed, values)
    plan.run(regs)
    return [np.asarray(regs[r]) for r in plan.fetches]


def agree(seed: int, length: int) -> None:
    """Build the program of that seed, and compare its loss and all gradients."""
    draw = random.Random(seed)
    recipe = [(draw.randrange(60), draw.randrange(60), draw.randrange(60), draw.randrange(60)) for _ in range(length)]
    with fresh_programs():
        net = Net(recipe, blocks=True)
        pairs = paddle.static.append_backward(net.loss, net.sources)
        names = [net.loss.name, *(g.name for _, g in pairs)]
        there, here = computed(net, names, "jax"), computed(net, names, "numpy")
    for name, a, b in zip(names, there, here, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("seed", range(8))
def test_a_random_program_computes_the_same(seed: int) -> None:
    agree(seed, 25)
