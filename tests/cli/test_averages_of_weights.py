"""Weights that are averaged while others train are no weights without a gradient, however they are written."""

from __future__ import annotations

import pytest

from .conftest import Run, Write

SCRIPT = """\
import copy

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
average = copy.deepcopy(net)
x, y = paddle.randn([16, 4]), paddle.randn([16, 1])
optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
for epoch in range(3):
    optimizer.clear_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    for a, p in zip(average.parameters(), net.parameters()):
        WRITE
with paddle.no_grad():
    print(((average(x) - y) ** 2).mean().item())
"""
WRITES = {
    "set_value": "a.set_value(0.9 * a + 0.1 * p)",
    "assign": "paddle.assign(0.9 * a.detach() + 0.1 * p.detach(), a)",
    "in place, detached": "a.detach().scale_(0.9).add_(0.1 * p.detach())",
    "by elements, detached": "a.detach()[:] = 0.9 * a.detach() + 0.1 * p.detach()",
}


@pytest.mark.parametrize("way", WRITES)
def test_they_are_no_finding(gradtool: Run, model: Write, way: str) -> None:
    done = gradtool("check", model(SCRIPT.replace("WRITE", WRITES[way])))
    assert (done.code, done.err.count("GT")) == (0, 0), done.out


def test_a_network_that_nobody_writes_is_one(gradtool: Run, model: Write) -> None:
    done = gradtool("check", model(SCRIPT.replace("WRITE", "pass")), "--format", "json")
    assert [finding["code"] for finding in done.data["results"]] == ["GT102"]
