"""``gradtool.debug`` and ``gradtool.breakpoint``."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, LossError, UsageError
from tests.viz.debugger.conftest import Open, said

Typed = Callable[[str], None]


pytestmark = pytest.mark.usefixtures("dynamic")


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    """``typed(text)`` is what the prompt reads."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_loss_tensor() -> None:
    fc = paddle.nn.Linear(3, 2)
    spare = paddle.nn.Linear(3, 2)
    x = paddle.to_tensor(np.ones((2, 3), "float32"))
    h = paddle.nn.functional.relu(fc(x))
    loss = (h * h).mean()
    book = gradtool.debug(loss, prompt=False)
    assert [e.type for e in book.session.timeline.entries[:3]] == ["matmul_v2", "elementwise_add", "relu"]
    results = book.session.results(book.session.branch)
    assert fc.weight.grad is None
    assert results["spare.weight"] is None
    assert spare.weight.grad is None
    loss.backward()  # the graph is still there
    np.testing.assert_array_equal(results["fc.weight"], fc.weight.grad.numpy())
    assert said(book, "p x").startswith("x 2×3")
    assert said(book, "p h").startswith("h 2×2")


def test_forward_values_that_the_tape_does_not_hold_are_computed_again() -> None:
    w = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)

    def model() -> paddle.Tensor:
        return paddle.tanh(paddle.matmul(w, w) + w).sum()  # nobody keeps the product, nor the sum

    book = gradtool.debug(model(), prompt=False)
    product = book.execute('v["matmul_v2.0"]')[1].value
    np.testing.assert_allclose(product, w.numpy() @ w.numpy())
    assert book.session.branch.recomputed > 0
    said(book, "goto %1")
    assert said(book, "set w = 0").startswith("edited 4 elements")
    said(book, "finish")
    np.testing.assert_array_equal(book.session.results(book.session.branch)["w"], np.ones((2, 2)))


def test_what_nobody_holds_stays_unknown() -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    loss = ((w + paddle.to_tensor([3.0, 4.0])) * 1.0).sum()
    book = gradtool.debug(loss, prompt=False)
    assert said(book, "finish").startswith("■ end of the run")
    assert said(book, "goto %1")
    assert said(book, "finish").startswith("■ end of the run · 1 of 1 gradients")


def test_a_function_is_recorded_as_a_whole() -> None:
    w = paddle.to_tensor([1.0, 4.0], stop_gradient=False)
    book = gradtool.debug(lambda: paddle.sqrt(w + 0.0).sum(), catch="nan", prompt=False)
    assert book.session.timeline.begin == 3
    np.testing.assert_allclose(book.session.results(book.session.branch)["w"], [0.5, 0.25])
    assert w.grad is None


def test_a_function_that_runs_backward_itself() -> None:
    w = paddle.to_tensor([1.0, 4.0], stop_gradient=False)
    book = gradtool.debug(lambda: (w * w).sum().backward(), prompt=False)
    np.testing.assert_array_equal(book.session.results(book.session.branch)["w"], w.grad.numpy())


def test_a_static_loss_leaves_its_program_as_it_was() -> None:
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()) as _:
            x = paddle.static.data("x", [2, 3])
            x.stop_gradient = False
            loss = paddle.mean(paddle.sqrt(x))
        before = str(main)
        book = gradtool.debug(
            loss, {"x": np.zeros([2, 3], "float32")}, parameter_list=[x], catch=("inf",), prompt=False
        )
        assert str(main) == before
        assert "catch inf at ▶" in said(book, "c")
        assert list(book.session.timeline.results) == ["x"]
    finally:
        paddle.disable_static()


def test_the_prompt_reads_stdin(typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    w = paddle.to_tensor([1.0, 4.0], stop_gradient=False)
    typed("p w@GRAD\nquit\nnever\n")
    book = gradtool.debug((w * w).sum())
    assert "w@GRAD 2" in capsys.readouterr().out
    assert [c.source for c in book.cells] == ["p w@GRAD", "quit"]


def test_what_cannot_be_debugged() -> None:
    with pytest.raises(ArgumentTypeError, match="received int"):
        gradtool.debug(3, prompt=False)
    with pytest.raises(ArgumentTypeError, match="it returned NoneType"):
        gradtool.debug(lambda: None, prompt=False)
    with pytest.raises(LossError, match="stop_gradient is True"):
        gradtool.debug(paddle.ones([1]), prompt=False)
    w = paddle.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(UsageError, match="cannot catch 'wind'"):
        gradtool.debug((w * w).sum(), catch="wind", prompt=False)


def test_why_from_python() -> None:
    with gradtool.watching():
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        u = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        loss = (w * u.detach()).sum()
        book = gradtool.debug(loss, prompt=False)
        assert "verdict: DETACHED" in said(book, "why u")
    assert said(book, "why z").startswith("✗ there is no tensor 'z'")


# -- breakpoints ------------------------------------------------------------------------------------------------------


def test_a_breakpoint_in_a_hook(typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    a = w * w
    calls = []

    def hook(g: paddle.Tensor) -> paddle.Tensor:
        calls.append(g)
        factor = 3.0
        gradtool.breakpoint()
        return g * factor

    a.register_hook(hook)
    loss = paddle.exp(a).sum()
    typed("p factor\np a@GRAD\nset a@GRAD = 0\nstep\np w@GRAD\ncontinue\n")
    loss.backward()
    out = capsys.readouterr().out
    assert "hook.0" in out
    assert "3.0" in out
    np.testing.assert_allclose(w.grad.numpy(), 3 * 2 * w.numpy() * np.exp(w.numpy() ** 2), rtol=1e-6)
    assert len(calls) >= 1


def test_a_breakpoint_in_a_hook_stops_once(typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    a = w * w

    def hook(g: paddle.Tensor) -> None:
        gradtool.breakpoint()

    a.register_hook(hook)
    typed("finish\np w@GRAD\nc\n")  # finish calls the hook again
    a.sum().backward()
    assert "[2. 4.]" in capsys.readouterr().out


def test_a_breakpoint_in_a_pylayer(typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    class Twice(paddle.autograd.PyLayer):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: object, x: paddle.Tensor) -> paddle.Tensor:
            return x * 2.0

        @staticmethod
        def backward(ctx: object, dy: paddle.Tensor) -> paddle.Tensor:
            gradtool.breakpoint()
            return dy * 2.0

    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    loss = (Twice.apply(w * 1.0) * 5.0).sum()
    typed("p cur.name\np dout\np w@GRAD\nc\n")
    loss.backward()
    out = capsys.readouterr().out
    assert "'PyLayer_Twice_grad.0'" in out
    assert "dout 2  ‖·‖ 7.071\n  [5. 5.]" in out
    assert "[10. 10.]" in out  # what the pass is going to do
    np.testing.assert_array_equal(w.grad.numpy(), [10, 10])


def test_a_breakpoint_before_backward(typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    h = paddle.tanh(w)
    typed("p h\nlist\nq\n")
    gradtool.breakpoint()
    out = capsys.readouterr().out
    assert "no backward pass yet" in out
    assert "tanh.0 → h" in out
    h.sum().backward()
    assert w.grad is not None


RECORDED = """\
import paddle, gradtool
w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a = w * w
def hook(g):
    k = 7
    gradtool.breakpoint()
a.register_hook(hook)
loss = paddle.exp(a).sum()
loss.backward()
"""


def test_breakpoints_under_the_command(opened: Open, typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    typed("p k\nlist 9\nback 2\np a@GRAD\nc\n")
    book = opened(RECORDED)
    out = capsys.readouterr().out
    assert "✓ %5  exp_grad.0 → a@GRAD" in out  # what the pass has done is there
    assert "▶ %6  hook.0 → a@GRAD" in out
    assert said(book, "finish") == "■ end of the run · 1 of 1 gradients"  # the hook does not stop it again


def test_a_notebook_has_no_prompt(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", shell)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=print))  # type: ignore[arg-type]
    typed("step\n")
    w = paddle.to_tensor([2.0], stop_gradient=False)
    assert gradtool.debug((w * w).sum()).cells == []
