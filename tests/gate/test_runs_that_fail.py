"""A run that fails on the way is over: nobody goes on watching what the process computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gradtool.engine.core import watch
from gradtool.engine.core.notes import SILENT
from gradtool.engine.gate import run
from gradtool.engine.request.request import Request


@contextmanager
def divides() -> Iterator[Callable[[Any], Any]]:
    """Yield a reader that fails when the file is over."""
    yield lambda left: 1 / 0


def test_a_reader_that_fails_leaves_nobody_watching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.py"
    file.write_text("import paddle\nloss = paddle.create_parameter([2], 'float32').sum()\nloss.backward()\n")
    monkeypatch.setattr(run, "watch_growth", divides)
    with pytest.raises(ZeroDivisionError):
        run.Run(Request(str(file)), None, SILENT)
    assert (watch.watcher(), watch.noting) == (None, 0)
