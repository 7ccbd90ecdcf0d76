"""A gradient that is NaN, infinite or zero is never ``ok``: the same words everywhere, and what to ask next."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

Write = Callable[[str], str]
Run = Callable[..., Any]

DYNAMIC = """\
import paddle

a = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
b = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
c = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
d = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
loss = (a * a + paddle.sqrt(b) + paddle.where(c > 0, paddle.log(c), a) + paddle.nn.functional.relu(-d)).sum()
"""

STATIC = """\
import paddle

paddle.enable_static()


def weight(name, *values):
    start = paddle.nn.initializer.Assign(list(values))
    return paddle.create_parameter([2], "float32", name=name, default_initializer=start)


a, b, c, d = weight("a", 1.0, 2.0), weight("b", 0.0, 4.0), weight("c", 0.0, 4.0), weight("d", 1.0, 2.0)
loss = paddle.sum(a * a + paddle.sqrt(b) + paddle.where(c > 0, paddle.log(c), a) + paddle.nn.functional.relu(-d))
"""

STATES = {"a": "ok", "b": "infinite", "c": "NaN", "d": "zero"}
MODELS = pytest.mark.parametrize("text", [DYNAMIC, STATIC], ids=["dynamic", "static"])


@MODELS
def test_backward_says_what_values_are(text: str, gradtool: Run, model: Write) -> None:
    file = model(text)
    done = gradtool("backward", file, "--run", "--format", "json")
    rows = json.loads(done.out)["parameters"]
    why = {"d": "zero: dead relu 100 %"}
    assert {r.get("python_name") or r["name"]: r["status"] for r in rows} == {**STATES, **why}
    assert all(r["returned"] for r in rows)
    shown = gradtool("backward", file, "--run").out.splitlines()
    assert "get a gradient · 1 NaN · 1 infinite · 1 zero" in shown[-2]
    assert shown[-1].startswith(f"next: gradtool nan {file} · gradtool why d {file} · ")


@MODELS
def test_stats_uses_the_same_words(text: str, gradtool: Run, model: Write) -> None:
    file = model(text)
    rows = json.loads(gradtool("stats", file, "--format", "json").out)["rows"]
    assert {r["name"]: r["verdict"] for r in rows} == STATES
    shown = gradtool("stats", file).out.splitlines()
    assert shown[-2].endswith("4 of 4 parameters get a gradient · 3 rows to look at · 2 findings")
    assert shown[-1].startswith(f"next: gradtool nan {file} · gradtool why d {file} · ")


@MODELS
def test_why_points_to_nan(text: str, gradtool: Run, model: Write) -> None:
    file = model(text)
    shown = gradtool("why", file).out
    assert "of them zero · 2 of them not finite · 2 findings" in shown
    assert f"gradtool nan {file}" in shown


@MODELS
def test_the_debugger_opens_with_it(text: str, gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    shown = gradtool("debug", model(text)).out
    assert shown.startswith("4 of 4 gradients · 1 NaN ✗ · 1 infinite ✗ (catch nan and rc go back to where that began)")
    assert "1 zero (why d says why)" in shown.splitlines()[0]


def test_values_that_nobody_looked_at_are_no_all_clear(gradtool: Run, model: Write) -> None:
    file = model(STATIC)
    assert "4 of 4 parameters get a gradient (values not looked at: --run)" in gradtool("backward", file).out
    assert "4 of 4 inputs get a gradient (values not looked at: --run)" in gradtool("gradients", file).out
    shown = gradtool("gradients", file, "--run").out.splitlines()
    assert shown[-2].endswith("4 of 4 inputs get a gradient · 1 NaN · 1 infinite · 1 zero")
    assert shown[-1].startswith(f"next: gradtool nan {file} · gradtool why d {file}")


def test_a_loss_that_is_not_finite_leads_to_nan(gradtool: Run, model: Write) -> None:
    file = model(
        "import paddle\nw = paddle.to_tensor([-1.0], stop_gradient=False)\nloss = (paddle.log(w) * 0 + w).sum()\n"
    )
    assert f"next: gradtool nan {file}" in gradtool("backward", file).out


def test_rows_without_a_gradient_are_to_be_looked_at(gradtool: Run, model: Write) -> None:
    file = model(
        "import paddle\nfirst, second = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)\n"
        "loss = first(second(paddle.ones([1, 2])).detach()).sum()\n"
    )
    shown = gradtool("stats", file).out.splitlines()
    assert shown[-2] == "2 of 4 parameters get a gradient · 2 rows to look at · 1 finding"
    assert shown[-1].startswith(f"next: gradtool why second.weight {file} · ")
