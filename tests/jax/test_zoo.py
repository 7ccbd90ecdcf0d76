"""Recorded models on JAX: each operator gives what it gives on NumPy, and so do commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool.engine.kernels import choice
from gradtool.engine.runs import backend_run
from tests.jax.zoo import compared
from tests.sampling import sampled

BORN = "import paddle\nw = paddle.to_tensor([0.0, 200.0], stop_gradient=False)\n"


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many operators each program had that a backend was given for a recorded run."""
    own, sizes = backend_run.compute_entries, list[int]()

    def compute(entries: Any, *rest: Any) -> Any:
        sizes.append(len(entries))
        return own(entries, *rest)

    monkeypatch.setattr(backend_run, "compute_entries", compute)
    return sizes


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("name", sampled(["word2vec", "din", "wgan_gp", "lora"], str, one_in=2))
def test_operators_of_a_model_give_what_they_give_on_numpy(name: str) -> None:
    outcome = compared(name)
    assert outcome.computed > outcome.operators // 2
    assert not outcome.differences


@pytest.mark.parametrize("loss", ["paddle.sqrt(w * 3).sum()", "paddle.log(paddle.exp(w)).sum()"])
def test_births_are_those_of_numpy(tmp_path: Path, programs: list[int], loss: str) -> None:
    (tmp_path / "model.py").write_text(f"{BORN}loss = {loss}\n", encoding="utf-8")
    stories = []
    for backend in ("numpy", "jax"):
        with choice.use_backend(backend):
            stories.append(gradtool.load(tmp_path / "model.py").nan().story)
    here, there = ([(b.kind, b.part, b.type, b.count, b.cause) for b in s.births] for s in stories)
    assert here == there
    assert here
    assert sum(programs) > 2


@pytest.mark.parametrize("question", ["backward", "stats"])
def test_gradients_are_those_of_numpy(tmp_path: Path, programs: list[int], question: str) -> None:
    text = "import paddle\nw = paddle.to_tensor([0.5, 2.0], stop_gradient=False)\n"
    text += "h = paddle.tanh(w) * w + w\nh.register_hook(lambda g: g * 3)\nloss = (h * h).sum()\n"
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    told = []
    for backend in ("numpy", "jax"):
        with choice.use_backend(backend):
            answer = getattr(gradtool.load(tmp_path / "model.py"), question)()
        told.append([r.values.norm for r in answer.rows] if question == "backward" else answer.story.parameters)
    assert told[0]
    assert sum(programs) > 4
    if question == "backward":
        assert told[1] == pytest.approx(told[0], rel=1e-6)
        return
    here, there = ([(p.name, p.verdict, p.gradient.norm) for p in lines] for lines in told)
    assert [h[:2] for h in here] == [t[:2] for t in there]
    assert [t[2] for t in there] == pytest.approx([h[2] for h in here], rel=1e-6)


ZEROS = """\
import paddle

def weight():
    return paddle.to_tensor([0.5, 2.0], stop_gradient=False)

dead, cancelled, vanished, hooked, alive = weight(), weight(), weight(), weight(), weight()
loss = paddle.tanh(alive * alive).sum()
loss += paddle.nn.functional.relu(dead * 2 - 1000.0).square().sum()
loss += paddle.nn.functional.softmax(cancelled * 3).sum()
h = paddle.tanh(hooked)
h.register_hook(lambda g: g * 0)
loss += (h * 3).sum()
h = vanished
for _ in range(40):
    h = h * 0.05
loss += h.sum()
loss.backward()
"""


def test_zeros_are_explained_as_on_numpy(tmp_path: Path, programs: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.py").write_text(ZEROS, encoding="utf-8")
    own, again = backend_run.compute_one, list[str]()
    monkeypatch.setattr(backend_run, "compute_one", lambda entry, *rest: again.append(entry.type) or own(entry, *rest))
    told = []
    for backend in ("numpy", "jax"):
        with choice.use_backend(backend):
            answers = gradtool.load(tmp_path / "model.py").why("dead", "cancelled", "vanished", "hooked", "alive")
        # XLA makes 0 of numbers below full precision, so they vanish some operators earlier.
        told.append([(a.name, a.verdict, a.label, a.source, a.said, a.path * (a.name != "vanished")) for a in answers])
    assert told[0] == told[1]
    assert [line[1].is_zero for line in told[0]] == [True, True, True, True, False]
    assert sum(programs) > 40
    assert "softmax" in again  # asked with other signs, it gives more


def test_last_digits_are_no_influence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """\
import paddle
x, y = (paddle.rand([3, 4]) for _ in range(2))
x.stop_gradient = y.stop_gradient = False
h = paddle.tanh(paddle.concat([x * 1.0, y * 1.0], 1)) * paddle.to_tensor([0.0] * 4 + [1.0] * 4)
loss = paddle.sin(h.sum())
"""
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    own = backend_run.compute_entries

    def compute(entries: Any, parts: Any, values: Any, *rest: Any) -> Any:
        compiled = own(entries, parts, values, *rest)
        for number in {n for e in entries for n in e.made if n in values}:  # as if other digits had come of it
            values.replace(number, values.get(number) * np.float32(1.00001))
        return compiled

    monkeypatch.setattr(backend_run, "compute_entries", compute)
    with choice.use_backend("jax"):
        pairs = gradtool.load(tmp_path / "model.py").flow(from_=("x", "y"), to=("loss",)).pairs
    assert [(a.text, influence.answer) for a, _, influence in pairs] == [("x", "no"), ("y", "yes")]
