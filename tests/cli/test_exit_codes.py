"""Findings decide exit codes in the same way in every command, and the same findings."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run, Write

CLEAN = """\
import paddle
model = paddle.nn.Linear(3, 1)
loss = paddle.mean(model(paddle.ones([4, 3])) ** 2)
"""

FROZEN = """\
import paddle
body, head = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 1)
for p in body.parameters():
    p.trainable = False
loss = paddle.mean(head(body(paddle.ones([4, 3]))) ** 2)
"""

DETACHED = """\
import paddle
body, head = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 1)
loss = paddle.mean(head(body(paddle.ones([4, 3])).detach()) ** 2)
"""

DEAD = """\
import paddle
body, head = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 1)
body.bias.set_value(paddle.full([3], -100.0))
loss = paddle.mean((head(paddle.nn.functional.relu(body(paddle.ones([4, 3])))) - 1) ** 2)
"""

STATIC = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [4, 3])
h = paddle.static.nn.fc(x, 3, name="body")
{between}
loss = paddle.mean(paddle.square(paddle.static.nn.fc(h, 1, name="head") - 1))
"""

STATIC_CLEAN = STATIC.format(between="")
STATIC_DETACHED = STATIC.format(between="h = h.detach()")
STATIC_DEAD = STATIC.format(between="h = paddle.nn.functional.relu(h - 100)")

JUDGING = ("why", "backward", "stats")


@pytest.mark.parametrize("command", JUDGING)
@pytest.mark.parametrize("text", [CLEAN, FROZEN, STATIC_CLEAN], ids=["clean", "frozen", "static"])
def test_nothing_wrong_is_clean(gradtool: Run, model: Write, command: str, text: str) -> None:
    done = gradtool(command, model(text), "--exit-code", "--format", "json")
    assert (done.code, json.loads(done.out)["findings"]) == (0, 0)


@pytest.mark.parametrize("command", JUDGING)
@pytest.mark.parametrize("text", [DETACHED, DEAD, STATIC_DETACHED, STATIC_DEAD], ids=["cut", "dead", "s-cut", "s-dead"])
def test_one_cause_is_one_finding_in_every_command(gradtool: Run, model: Write, command: str, text: str) -> None:
    done = gradtool(command, model(text), "--exit-code", "--format", "json")
    assert done.code == 1
    findings = json.loads(gradtool("why", "model.py", "--format", "json").out)["findings"]
    assert json.loads(done.out)["findings"] == findings >= 1
    assert gradtool(command, "model.py").code == 0


@pytest.mark.parametrize("text", [DETACHED, STATIC_DETACHED], ids=["eager", "static"])
def test_the_table_counts_findings_and_leads_to_the_first(gradtool: Run, model: Write, text: str) -> None:
    out = gradtool("backward", model(text)).out
    assert " · 1 finding\nnext: gradtool why body" in out


@pytest.mark.parametrize("command", ["why", "backward"])
@pytest.mark.parametrize("text", [CLEAN, STATIC_CLEAN], ids=["eager", "static"])
def test_what_the_command_line_cuts_is_no_finding(gradtool: Run, model: Write, command: str, text: str) -> None:
    name = "model.bias" if text == CLEAN else "head.b_0"
    done = gradtool(command, model(text), "--no-grad", name, "--exit-code", "--format", "json")
    assert (done.code, json.loads(done.out)["findings"]) == (0, 0)


def test_a_no_grad_set_of_the_file_stays_a_finding(gradtool: Run, model: Write) -> None:
    text = STATIC_CLEAN + 'paddle.static.append_backward(loss, no_grad_set={"body.w_0"})\n'
    assert gradtool("why", model(text), "--exit-code").code == 1


@pytest.mark.parametrize("options", [(), ("--exit-code",)])
def test_gates_need_no_option(gradtool: Run, model: Write, options: tuple[str, ...]) -> None:
    bad = "import paddle\nw = paddle.to_tensor([0.0], stop_gradient=False)\nloss = paddle.sqrt(w).sum()\n"
    done = gradtool("nan", model(bad), "--format", "json", *options)
    assert (done.code, json.loads(done.out)["findings"]) == (1, 1)
    wrong = """\
import paddle
class Twice(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, g):
        return 3 * g
w = paddle.to_tensor([1.0], stop_gradient=False)
loss = Twice.apply(w).sum()
"""
    done = gradtool("gradcheck", model(wrong), "--format", "json", *options)
    assert (done.code, json.loads(done.out)["findings"]) == (1, 1)
    for command in ("nan", "gradcheck"):
        assert gradtool(command, model(CLEAN), *options).code == 0


def test_sizes_are_findings_where_why_says_so(gradtool: Run, model: Write) -> None:
    large = "import paddle\nw = paddle.to_tensor([1.0], stop_gradient=False)\nloss = (1e9 * w).sum()\n"
    codes = {gradtool(command, model(large), "--exit-code").code for command in ("stats", "why")}
    assert len(codes) == 1


def test_answers_count_findings_in_python(gradtool: Run, model: Write) -> None:
    import gradtool as library

    asked = library.load(model(DETACHED))
    assert (asked.why().findings, asked.backward().findings, asked.stats().findings, asked.nan().findings) == (
        1,
        1,
        1,
        0,
    )
    assert asked.saved().findings == 0
