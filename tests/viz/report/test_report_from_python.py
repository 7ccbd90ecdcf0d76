"""``gradtool.report``: on functions, losses and files, and that it changes nothing."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.core import state


def step(w: Any, v: Any) -> Any:
    return paddle.tanh(w * v.detach()).sum()


@pytest.fixture
def leaves() -> tuple[Any, Any]:
    paddle.disable_static()
    return paddle.create_parameter([3], "float32", name="w"), paddle.create_parameter([3], "float32", name="v")


def test_a_function(leaves: tuple[Any, Any], tmp_path: Path) -> None:
    w, v = leaves
    report = gradtool.report(lambda: step(w, v), html=tmp_path / "r.html", md=str(tmp_path / "r.md"), title="mine")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["r.html", "r.md"]
    assert (report.title, dict(report.facts)["gradients"]) == ("mine", "1 finding")
    assert "verdict: DETACHED" in str(report["verdict"])
    stack = str(report["source"])
    assert "return paddle.tanh(w * v.detach()).sum()" in stack
    assert "site-packages" not in stack
    assert "in test_a_function" in stack
    assert w.grad is None
    assert v.grad is None
    assert "JSON" not in str(report)


def test_a_function_that_runs_backward_itself(leaves: tuple[Any, Any]) -> None:
    w, v = leaves

    def train() -> Any:
        loss = step(w, v)
        loss.backward()
        return loss

    report = gradtool.report(train)
    assert json.loads(report.json)["answers"]["nan"]["steps"] == 1
    assert w.grad is not None


def test_a_loss_inside_watching(leaves: tuple[Any, Any]) -> None:
    with gradtool.watching():
        report = gradtool.report(step(*leaves))
    assert "verdict: DETACHED" in str(report["verdict"])
    assert "unchecked  the forward pass, which was over before the search" in str(report["nan"])
    with pytest.raises(ValueError, match="nothing was noted"):
        gradtool.report(step(*leaves))


def network() -> Any:
    x = paddle.static.data("x", [None, 4])
    h = paddle.nn.functional.dropout(paddle.static.nn.fc(x, 3, name="body"), 0.5)
    h = paddle.static.nn.batch_norm(h)
    return paddle.mean(paddle.static.nn.fc(h, 1, name="head"))


def test_the_loss_of_a_static_program_which_stays_as_it_is() -> None:
    loss = network()
    program = paddle.static.default_main_program()
    paddle.static.Executor().run(paddle.static.default_startup_program())
    scope = paddle.static.global_scope()
    before, text = {n: np.array(a) for n, a in scope.values.items()}, str(program)
    drawn = state.random.position
    feed = {"x": np.ones((5, 4), "float32")}
    report = gradtool.report(loss, feed=feed, no_grad=["head.b_0"])
    data = json.loads(report.json)
    assert [a["verdict"] for a in data["answers"]["why"]["answers"] if a["name"] == "head.b_0"] == ["no_grad_set"]
    assert data["loss"]["value"] is not None
    assert str(program) == text
    assert set(scope.values) == set(before)
    assert all(np.array_equal(scope.values[n], a) for n, a in before.items())
    assert state.random.position == drawn
    paddle.static.append_backward(loss)
    again = json.loads(gradtool.report(loss, feed=feed, no_grad=["head.b_0"]).json)
    assert again["answers"]["backward"]["pairs"] == data["answers"]["backward"]["pairs"]


def test_the_graph_of_a_static_program_alone() -> None:
    report = gradtool.report(network(), run=False)
    assert "The program was not run." in str(report["sizes"])


def test_a_file_and_what_it_raises(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import paddle\ndef build(n):\n    return paddle.ones([n]) / 0 + {}[n]\n")
    with pytest.raises(KeyError):
        gradtool.report(tmp_path / "model.py", arg=["n=2"])
    with pytest.raises(ValueError, match=r"build\(n\): missing a required argument"):
        gradtool.report(str(tmp_path / "model.py"))


@pytest.mark.parametrize(
    ("model", "options", "error", "said"),
    [
        (3, {}, TypeError, "expected a loss Tensor"),
        (lambda: 3, {}, TypeError, "expected a loss Tensor"),
        ("nothing.py", {}, ValueError, "no such file: nothing.py"),
        (lambda: None, {"html": "r", "md": "./r"}, ValueError, "name the same file"),
        (lambda: None, {"seed": 3}, ValueError, "'seed' says how a model file is loaded"),
        ("samples/detached_expert.py", {"feed": {}}, ValueError, "fed from an .npz file"),
        ("samples/detached_expert.py", {"html": "nowhere/r.html"}, OSError, "nowhere"),
        ("samples/detached_expert.py", {"html": "r", "md": "r"}, ValueError, "name the same file"),
    ],
)
def test_nonsense(model: Any, options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        gradtool.report(model, **options)
    assert not Path("r").exists()


def test_a_feed_for_a_tensor_and_no_dict(leaves: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="'feed' is for static programs"):
        gradtool.report(lambda: step(*leaves), feed={})
    paddle.enable_static()
    with pytest.raises(TypeError, match="must be a dict of arrays"):
        gradtool.report(network(), feed=[1])


def test_a_loss_that_was_bad_before_it_was_asked_about(leaves: tuple[Any, Any]) -> None:
    w, _ = leaves
    with gradtool.watching():
        report = gradtool.report(paddle.log(w * 0.0 - 1.0).sum())
    assert "it was born forward" in str(report["nan"])
    assert report["sizes"].blocks


def test_it_shows_itself(leaves: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    gradtool.report(lambda: step(*leaves)).show()
    page = Path(unquote(urlparse(opened[0]).path))
    assert page.name == "report.html"
    assert "verdict: DETACHED" in page.read_text(encoding="utf-8")


def test_the_facts_agree_with_the_verdict_where_nothing_is_finite() -> None:
    paddle.disable_static()
    w = paddle.to_tensor([0.0], stop_gradient=False)
    report = gradtool.report(lambda: (w * float("nan")).sum(), title="nothing")
    facts = dict(report.facts)
    assert (facts["gradients"], facts["NaN and infinity"]) == ("1 finding", "1 finding")
    assert facts["loss"].endswith(" = nan")
