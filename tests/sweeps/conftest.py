"""Models and data that sweeps go through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool.engine.sweeps.axes import Axes
from gradtool.engine.sweeps.journal import line
from gradtool.engine.sweeps.spec import Spec
from gradtool.engine.sweeps.sweep import Means, Sweep, Swept

EAGER = """\
import paddle


def build(x, label, scale=1.0):
    net = paddle.nn.Linear(4, 1)
    return (paddle.log(x.sum(axis=-1, keepdim=True)) * scale - net(x) + label).square().mean()
"""
STATIC = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [None, 4])
label = paddle.static.data("label", [None, 1])
loss = (paddle.log(x.sum(axis=-1, keepdim=True)) - paddle.static.nn.fc(x, 1) + label).square().mean()
"""

Asked = Callable[..., Swept]


def lines(swept: Swept) -> list[str]:
    """The rows as a file has them, sorted."""
    return sorted(map(line, swept.rows))


def statuses(swept: Swept) -> list[str]:
    return [row["status"] for row in swept.rows]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: two models and data whose row 77 of 96 has a logarithm of 0."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eager.py").write_text(EAGER, encoding="utf-8")
    (tmp_path / "static.py").write_text(STATIC, encoding="utf-8")
    planted(tmp_path / "data.npz", 96, 77)
    return tmp_path


def planted(file: Path, rows: int, bad: int) -> None:
    """Data with one row that a logarithm does not stand."""
    random = np.random.default_rng(0)
    x = random.random((rows, 4), "float32") + np.float32(0.1)
    x[bad] = 0
    np.savez(file, x=x, label=random.random((rows, 1), "float32"))


@pytest.fixture
def asked(folder: Path) -> Asked:
    """Asks a question at points."""

    def ask(question: str = "nan", results: str | None = None, resume: bool = False, **more: Any) -> Swept:
        means = {name: more.pop(name) for name in ("jobs", "scheduler", "timeout", "memory") if name in more}
        spec = {name: more.pop(name) for name in ("options", "loading") if name in more}
        axes = Axes(**{"models": ("eager.py",), **more})
        sweep = Sweep(
            spec=Spec(question=question, **spec), axes=axes, means=Means(**means), results=results, resume=resume
        )
        return sweep.ask()

    return ask
