"""Recorded models on JAX: each operator gives what it gives on NumPy, and so do commands."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradtool
from gradtool.engine.kernels import choice
from tests.jax.zoo import compared

BORN = "import paddle\nw = paddle.to_tensor([0.0, 200.0], stop_gradient=False)\n"


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("name", ["word2vec", "din", "wgan_gp", "lora"])
def test_operators_of_a_model_give_what_they_give_on_numpy(name: str) -> None:
    outcome = compared(name)
    assert outcome.computed > outcome.operators // 2
    assert not outcome.differences


@pytest.mark.parametrize("loss", ["paddle.sqrt(w * 3).sum()", "paddle.log(paddle.exp(w)).sum()"])
def test_births_are_those_of_numpy(tmp_path: Path, loss: str) -> None:
    (tmp_path / "model.py").write_text(f"{BORN}loss = {loss}\n", encoding="utf-8")
    stories = []
    for backend in ("numpy", "jax"):
        with choice.using(backend):
            stories.append(gradtool.load(tmp_path / "model.py").nan().story)
    here, there = ([(b.kind, b.part, b.type, b.count, b.cause) for b in s.births] for s in stories)
    assert here == there
    assert here
