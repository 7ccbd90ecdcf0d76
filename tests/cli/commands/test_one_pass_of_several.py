"""``--backward N`` is about that pass in commands that listen to a file while it runs, too."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run, Write

TRAINING = """\
import paddle
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for i in range(4):
    x = paddle.ones([2 + i, 4])
    if i == 2:
        x = x - 2.0
    loss = (paddle.log(x).sum(axis=1, keepdim=True) * net(x)).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""

RECOMPUTED = """\
import paddle
from paddle.distributed.fleet.utils import recompute
a, b = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 1)
for i in range(3):
    x = paddle.ones([2, 3]) * (0.0 if i == 1 else 1.0)
    loss = b(recompute(a, paddle.log(x) if i == 1 else x)).mean()
    loss.backward()
"""


@pytest.mark.parametrize(("number", "births"), [("1", []), ("2", []), ("3", ["forward"]), ("4", ["data"])])
def test_nan_searches_the_pass_that_is_asked_about(gradtool: Run, model: Write, number: str, births: list[str]) -> None:
    done = gradtool("nan", model(TRAINING), "--backward", number, "--format", "json")
    assert [birth["part"] for birth in done.data["births"]] == births
    assert (done.code, done.data["pass"], done.data["steps"]) == (bool(births), int(number), 1)
    assert "searched the requested one" in done.err


def test_a_line_is_its_last_pass(gradtool: Run, model: Write) -> None:
    file = model(TRAINING)
    done = gradtool("nan", file, "--backward", "line:model.py:9")
    assert "came in" in done.out.splitlines()[0]
    assert "searched   backward pass 4 and what it is computed from; what was there before was born earlier" in done.out
    assert f"next: gradtool nan {file} · " in done.out
    assert gradtool("nan", file, "--format", "json").data["pass"] is None


def test_passes_inside_of_recomputation_do_not_count(gradtool: Run, model: Write) -> None:
    file = model(RECOMPUTED)
    codes = [gradtool("nan", file, "--backward", n).code for n in ("1", "2", "3")]
    assert codes == [0, 1, 0]


def test_saved_is_about_that_pass(gradtool: Run, model: Write) -> None:
    file = model(TRAINING)
    rows = [gradtool("stats", "--memory", file, "--backward", n, "--format", "json").data for n in ("1", "4")]
    assert [row["pass"] for row in rows] == [1, 4]
    assert [row["buffers"][0]["shape"][0] for row in rows] == [2, 5]
    last = gradtool("stats", "--memory", file, "--format", "json").data
    assert (last["pass"], last["total"]) == (None, rows[1]["total"])
    assert "backward pass 1 · " in gradtool("stats", "--memory", file, "--backward", "1").out


def test_a_pass_that_there_is_not_is_refused(gradtool: Run, model: Write) -> None:
    file = model(TRAINING)
    for command in ("nan", "stats --memory", "stats"):
        done = gradtool(command, file, "--backward", "9")
        assert done.code == 2
        assert "--backward 9: there is no such backward pass" in done.err
