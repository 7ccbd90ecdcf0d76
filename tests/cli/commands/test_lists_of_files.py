"""What a file gave its own backward call, a parameter list and a no-grad set, holds in every command."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run, Write

PROGRAM = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [4, 3])
h = paddle.tanh(paddle.static.nn.fc(x, 3, name="a"))
h = paddle.tanh(paddle.static.nn.fc(h, 3, name="b"))
loss = paddle.mean(paddle.static.nn.fc(h, 1, name="c") ** 2)
every = paddle.static.default_main_program().all_parameters()
some = [p for p in every if not p.name.startswith("b")]
paddle.optimizer.SGD(0.1).minimize(loss, parameters=some, no_grad_set={every[1]})
"""

CUT, UNLISTED = "cut: no_grad_set, model.py:9", "not in parameter_list, model.py:9"


@pytest.mark.parametrize("options", [[], ["--run"]], ids=["looked at", "run"])
def test_backward_has_the_lists(gradtool: Run, model: Write, options: list[str]) -> None:
    done = gradtool("backward", model(PROGRAM), *options, "--format", "json")
    rows = {row["name"]: row for row in done.data["parameters"]}
    assert {name: row["status"] for name, row in rows.items() if row["status"] != "ok"} == {
        "a.b_0": CUT,
        "b.w_0": UNLISTED,
        "b.b_0": UNLISTED,
    }
    assert [row["name"] for row in rows.values() if row["returned"]] == ["a.w_0", "c.w_0", "c.b_0"]
    assert done.data["pairs"] == [[n, f"{n}@GRAD"] for n in ("a.w_0", "c.w_0", "c.b_0")]
    given = done.data["given"]
    assert (given["source"]["line"], given["no_grad"], len(given["params"])) == (9, ["a.b_0"], 4)
    assert "5 of 6 parameters get a gradient" in gradtool("backward", "model.py", *options).out


def test_commands_agree_about_them(gradtool: Run, model: Write) -> None:
    file = model(PROGRAM)
    for command in ("why", "backward", "stats", "checkup"):
        done = gradtool(command, file, "--exit-code", "--format", "json")
        assert (done.code, done.data["findings"]) == (1, 2), command
        assert "5 of 6 parameters get a gradient" in gradtool(command, file).out, command
    picture = gradtool("graph", file, "--format", "text").out
    assert "a.b_0@GRAD" not in picture
    assert "∅ a.b_0: no_grad_set, model.py:9" in picture


def test_the_command_line_stands_in_their_place(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(PROGRAM), "--no-grad", "c.b_0")
    assert "--no-grad: in place of the lists at model.py:9" in done.err
    assert "5 of 6 parameters get a gradient" in done.out
    assert "as model.py:9 asks" not in done.out


def test_the_call_that_is_asked_about_has_its_own(gradtool: Run, model: Write) -> None:
    more = 'paddle.static.append_backward(loss, parameter_list=["c.w_0"])\n'
    file = model(PROGRAM + more)
    first = gradtool("backward", file, "--backward", "1", "--format", "json").data
    last = gradtool("backward", file, "--format", "json").data
    assert [first["given"]["source"]["line"], last["given"]["source"]["line"]] == [9, 10]
    assert [name for name, _ in last["pairs"]] == ["c.w_0"]


def test_a_set_is_told_in_the_order_of_names(gradtool: Run, model: Write) -> None:
    """Sets of variables lie in memory in an order that differs from run to run."""
    file = model(PROGRAM.replace("no_grad_set={every[1]}", "no_grad_set={v for v in reversed(every) if v.name < 'c'}"))
    given = gradtool("backward", file, "--format", "json").data["given"]
    assert given["no_grad"] == sorted(given["no_grad"]) == ["a.b_0", "a.w_0", "b.b_0", "b.w_0"]
