"""``gradtool graph --where``: operators by name, type, tensor and line, of both modes."""

from __future__ import annotations

import json
from typing import Any

from tests.cli.conftest import Run, Write

TAPE = """\
import paddle
from paddle import nn

net = nn.Linear(3, 2)
x = paddle.randn([4, 3])

def forward():
    h = paddle.tanh(net(x))
    return h.detach().sum() + h.mean()

loss = forward()
"""


def operators(done: Any) -> list[dict[str, Any]]:
    assert done.code == 0, done.err
    spots: list[dict[str, Any]] = json.loads(done.out)["operators"]
    return spots


def test_an_operator_and_its_pair(gradtool: Run, model: Write) -> None:
    done = gradtool("graph", "--where", "mul_grad.0", model(""))
    lines = done.out.splitlines()
    assert lines[0] == "mul_grad.0   backward   ↔ mul.0"
    assert "  ▶  9 │ y_predict = paddle.static.nn.fc(x=x_emb, size=1, activation=None, name='my_fc')" in lines
    assert [line.split() for line in lines if line.startswith("  makes")] == [
        ["makes", "X@GRAD", "embedding_0.tmp_0@GRAD", "float32[-1,", "13,", "256]"],
        ["makes", "Y@GRAD", "my_fc.w_0@GRAD", "float32[3328,", "1]"],
    ]


def test_tensors_and_lines(gradtool: Run, model: Write) -> None:
    model("")
    by_tensor = operators(gradtool("graph", "--where", "my_fc.w_0@GRAD", "model.py", "--format", "json"))
    assert [o["name"] for o in by_tensor] == ["mul_grad.0"]
    by_parameter = operators(gradtool("graph", "--where", "my_fc.w_0", "model.py", "--format", "json"))
    assert [o["name"] for o in by_parameter] == ["mul.0"]
    by_python_name = operators(gradtool("graph", "--where", "x_emb", "model.py", "--format", "json"))
    assert [o["name"] for o in by_python_name] == ["lookup_table_v2.0"]
    by_line = operators(gradtool("graph", "--where", "line:model.py:9", "model.py", "--format", "json"))
    assert [o["name"] for o in by_line] == [
        "mul.0", "elementwise_add.0", "elementwise_add_grad.0", "mul_grad.0"
    ]  # fmt: skip


def test_the_stack_of_a_call(gradtool: Run, model: Write) -> None:
    (spot,) = operators(gradtool("graph", "--where", "tanh", model(TAPE), "--format", "json"))
    assert [(f["function"], f["line"]) for f in spot["stack"]] == [("<module>", 11), ("forward", 8)]
    assert spot["pair"] == "tanh_grad.0"
    assert gradtool("graph", "--where", "tanh", "model.py").out.count("called by") == 1


def test_calls_that_the_tape_does_not_hold(gradtool: Run, model: Write) -> None:
    spots = operators(gradtool("graph", "--where", "line:model.py:9", model(TAPE), "--format", "json"))
    parts = {o["name"]: o["part"] for o in spots}
    assert parts["detach.0"] == "not recorded"
    assert parts["reduce_mean.0"] == "forward"


def test_many_operators_are_a_table(gradtool: Run, model: Write) -> None:
    text = "import paddle\nh = paddle.to_tensor([0.5], stop_gradient=False)\n" + "h = paddle.tanh(h)\n" * 9
    done = gradtool("graph", "--where", "tanh", model(text + "loss = h.sum()\n"))
    lines = done.out.splitlines()
    assert lines[0] == "9 operators"
    assert len(lines) == 12


def test_unknown_places(gradtool: Run, model: Write) -> None:
    model("")
    for what, near in (("mull.0", "mul.0"), ("line:model.py:99", "model.py:9")):
        done = gradtool("graph", "--where", what, "model.py")
        assert (done.code, done.out) == (2, "")
        assert near in done.err


def test_a_loss_that_left_no_record(gradtool: Run, model: Write) -> None:
    text = "import paddle\nnet = paddle.nn.Linear(4, 1)\nwith paddle.no_grad():\n"
    text += "    loss = net(paddle.ones([2, 4])).mean()\n"
    spots = operators(gradtool("graph", "--where", "line:model.py:4", model(text), "--format", "json"))
    assert [(o["name"], o["part"]) for o in spots] == [
        ("fill_constant.0", "not recorded"),
        ("matmul_v2.0", "not recorded"),
        ("elementwise_add.0", "not recorded"),
        ("reduce_mean.0", "not recorded"),
    ]
