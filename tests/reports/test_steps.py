"""Steps and ends of scripts: nothing that ran is refused, what was cut is not judged, births are where they are."""

from __future__ import annotations

import re

import pytest

from . import model

RIGHT = ["torch_hundred_steps", "torch_rsub_refused", "torch_unbatched", "torch_mask_after_last_pass", "torch_topk"]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_script_has_no_findings(gradtool, name):
    bare, checked = gradtool(str(model(name))), gradtool("check", str(model(name)))
    assert (bare.code, checked.code) == (0, 0), bare.err + checked.out
    assert not re.search("^[0-9]  (error|warning GT(?!209))", bare.out, re.MULTILINE), (
        bare.out
    )  # log(1 - p) is a hazard
    assert "error" not in checked.out
    assert "failed there" not in checked.out


def test_it_is_said_how_much_of_a_cut_script_was_seen(gradtool):
    done = gradtool(str(model("torch_hundred_steps")))
    assert "looked at      backward pass 50 of at least 50: loss" in done.out
    assert "the file was stopped at" in done.out
    assert "the gradients of" not in done.out  # the passes before are those of the same line


@pytest.mark.parametrize("command", [(), ("nan",), ("check",)])
def test_a_loss_that_is_nan_without_a_backward_is_born_somewhere(gradtool, command):
    done = gradtool(*command, str(model("torch_nan_without_backward")))
    assert "torch_nan_without_backward.py:5" in done.out
    assert "log(0) in 1 of 2 elements" in done.out


@pytest.mark.parametrize("command", [(), ("nan",), ("check",)])
def test_memory_that_nobody_has_written_is_no_birth(gradtool, command):
    done = gradtool(*command, str(model("torch_uninitialised_memory")))
    assert "empty" not in done.out
    assert "the mean of no elements (0/0)" in done.out


# -- the same in Paddle -----------------------------------------------------------------------------------------------

WITHOUT_BACKWARD = """\
import paddle

z = paddle.to_tensor([0.0, 200.0], stop_gradient=False)
h = paddle.nn.functional.softmax(z, 0)
loss = (paddle.to_tensor([0.0, 1.0]) * -paddle.log(1 - h)).sum()
g = paddle.grad(h.min(), z, retain_graph=True)[0]
"""

MASK = """\
import paddle

w = paddle.create_parameter([3], "float32")
loss = (w * 2).sum()
loss.backward()
with paddle.no_grad():
    mask = paddle.log(paddle.tril(paddle.ones([3, 3])))
    p = paddle.nn.functional.softmax(w * w.unsqueeze(1) + mask, -1)
"""

MASK_IN_TRAINING = """\
import paddle

w = paddle.create_parameter([3], "float32")
for _ in range(3):
    mask = paddle.log(paddle.tril(paddle.ones([3, 3])))
    p = paddle.nn.functional.softmax(w * w.unsqueeze(1) + mask, -1)
    loss = (p * p).sum()
    loss.backward()
    w.clear_gradient()
"""

BAD_EVALUATION = """\
import paddle

net = paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(3):
    loss = net(paddle.ones([2, 3])).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
{last}
"""

ENDS = {
    "a loss that stays": ("loss = paddle.log(net(paddle.ones([2, 3])).mean() * 0)", True),
    "a number under no_grad": (
        "with paddle.no_grad():\n    v = paddle.log(net(paddle.ones([2, 3])).mean() * 0)",
        False,
    ),
    "a parameter": ("with paddle.no_grad():\n    net.bias.set_value(paddle.log(net.bias * 0))", True),
}


def test_a_loss_of_paddle_that_is_not_finite_without_a_backward(gradtool, folder):
    (folder / "model.py").write_text(WITHOUT_BACKWARD, "utf-8")
    for command in ((), ("nan",), ("check",)):
        done = gradtool(*command, "model.py")
        assert "log(0) in 1 of 2 elements" in done.out
        assert "model.py:5" in done.out


@pytest.mark.parametrize("text", [MASK, MASK_IN_TRAINING], ids=["after the last pass", "in training"])
def test_infinities_of_a_mask_are_meant(gradtool, folder, text):
    (folder / "model.py").write_text(text, "utf-8")
    assert gradtool("nan", "model.py").code == 0
    assert "GT20" not in gradtool("check", "model.py").out


@pytest.mark.parametrize("end", ENDS)
def test_what_is_left_not_finite_is_found_and_nothing_else(gradtool, folder, end):
    last, is_found = ENDS[end]
    (folder / "model.py").write_text(BAD_EVALUATION.format(last=last), "utf-8")
    done = gradtool("nan", "model.py")
    assert done.code == int(is_found), done.out
    assert ("BIRTH" in done.out) == is_found


CUT = """\
import os, signal, time
import paddle

step = 0
while True:
    z = paddle.rand([3])
    z.stop_gradient = False
    h = paddle.nn.functional.softmax(z, 0)
    if step == 2:
        h = paddle.log(h * 0)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    step += 1
    loss = -paddle.log(h).sum()
"""


@pytest.mark.parametrize("command", [(), ("why",), ("nan",), ("check",)])
def test_half_a_step_is_not_judged(gradtool, folder, command):
    (folder / "model.py").write_text(CUT, "utf-8")
    done = gradtool(*command, "model.py")
    assert done.code == 0, done.out + done.err
    assert "NO PATH" not in done.out
    assert "GT102" not in done.out
    assert "BIRTH" not in done.out


ACCUMULATES = """\
import paddle

net = paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for i in range(90):
    loss = net(paddle.ones([2, 3])).square().mean()
    loss.backward()
    if i % 4 == 3:
        opt.step()
        opt.clear_grad()
"""


def test_a_file_is_stopped_between_two_steps(gradtool, folder):
    (folder / "model.py").write_text(ACCUMULATES, "utf-8")
    done = gradtool("model.py", "--steps", "50")
    assert "of 52" in done.out  # 50 passes, and those that end the step
    assert "no findings" in done.out
    assert "of at least 9:" in gradtool("model.py", "--steps", "6").out


@pytest.mark.parametrize("command", [(), ("check",)])
def test_a_sum_of_losses_keeps_the_graphs_of_all_steps(gradtool, command):
    done = gradtool(*command, str(model("torch_graph_grows")))
    assert "total is computed from its own value of the step before, and so keeps the graphs of 6 steps" in done.out
    assert "torch_graph_grows.py:9" in done.out
    assert "a step adds 5 nodes of the graph, 0 bytes that they retain for backward" in done.out
    assert "total += loss.item()" in done.out


# -- updates by hand --------------------------------------------------------------------------------------------------

BY_HAND = """\
import paddle

first, second = paddle.nn.Linear(4, 1), paddle.nn.Linear(4, 1)
x = paddle.rand([8, 4])
for step in range(4):
    net = first if step < 2 else second
    loss = (net(x) ** 2).mean()
    loss.backward()
    for p in net.parameters():
        {update}
        p.clear_gradient()
"""
UPDATES = [
    "p.set_value(p - 0.1 * p.grad)",
    "p.set_value(p.numpy() - 0.1 * p.grad.numpy())",
    "p.data = p - 0.1 * p.grad",
    "exec('with paddle.no_grad(): p.subtract_(0.1 * p.grad)')",
    "exec('with paddle.no_grad(): paddle.assign(p - 0.1 * p.grad, p)')",
]


@pytest.mark.parametrize("update", UPDATES)
def test_an_update_by_hand_ends_a_step(gradtool, tmp_path, update):
    script = tmp_path / "script.py"
    script.write_text(BY_HAND.format(update=update), encoding="utf-8")
    done = gradtool("backward", str(script))
    assert "backward calls of one step" not in done.out
    assert "2 of 4 parameters get a gradient" in done.out


def test_an_update_by_hand_ends_a_step_in_pytorch(gradtool):
    done = gradtool("backward", str(model("torch_updates_by_hand")))
    assert "backward calls of one step" not in done.out
    assert "2 of 4 parameters get a gradient" in done.out


ACCUMULATED = """\
import paddle

net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    (net(paddle.rand([8, 4])) ** 2).mean().backward()
    with paddle.no_grad():
        net.weight.clip_(-1.0, 1.0)
    loss = net(paddle.rand([8, 4])).abs().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""


def test_what_is_written_between_updates_of_an_optimizer_ends_no_step(gradtool, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(ACCUMULATED, encoding="utf-8")
    assert "2 backward calls of one step" in gradtool("backward", str(script)).out


# -- optimizers that look around --------------------------------------------------------------------------------------

SEARCHED = """\
import paddle

paddle.seed(0)
x, y = paddle.randn([32, 3]), paddle.randn([32, 1])
net = paddle.nn.Linear(3, 1)
opt = paddle.optimizer.LBFGS(1.0, max_iter=50, line_search_fn="strong_wolfe", parameters=net.parameters())


def closure():
    opt.clear_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    return loss


for _ in range(10):
    loss = opt.step(closure)
"""


@pytest.mark.parametrize("framework", ["paddle", "torch"])
def test_an_optimizer_that_is_done_has_no_findings(gradtool, tmp_path, framework):
    script = model("torch_converged_lbfgs")
    if framework == "paddle":
        script = tmp_path / "script.py"
        script.write_text(SEARCHED, encoding="utf-8")
    bare, checked = gradtool(str(script)), gradtool("check", str(script))
    assert "no findings" in bare.out.splitlines()[0]
    assert (bare.code, checked.code) == (0, 0), bare.out + checked.out
