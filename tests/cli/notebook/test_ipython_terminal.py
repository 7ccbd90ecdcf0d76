"""The magics in IPython on a terminal, and in one cell without any."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_LIMIT = 60.0
"""Seconds after which a terminal that says nothing fails the test."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "IPYTHONDIR": str(tmp_path / "ipython"), "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}


class Terminal:
    """IPython at the other end of a pseudo-terminal."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._end, other = pty.openpty()
        command = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit"]
        self._process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment)
        os.close(other)
        self._until("In [1]: ")
        self._cell = 1

    def type(self, line: str) -> str:
        """Type a line, and read what is shown for it."""
        os.write(self._end, f"{line}\n".encode())
        self._cell += 1
        prompt = f"In [{self._cell}]: "
        return self._until(prompt).removesuffix(prompt).partition("\n")[2]

    def close(self) -> int:
        os.write(self._end, b"exit\n")
        code = self._process.wait(_LIMIT)
        os.close(self._end)
        return code

    def _until(self, prompt: str) -> str:
        read, end = "", time.monotonic() + _LIMIT
        while not read.endswith(prompt):
            ready, _, _ = select.select([self._end], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"no {prompt!r} after {read!r}"
            read += os.read(self._end, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read)


@pytest.fixture
def terminal(environment: dict[str, str]) -> Iterator[Terminal]:
    opened = Terminal(environment)
    yield opened
    assert opened.close() == 0


def test_a_conversation(terminal: Terminal) -> None:
    assert terminal.type("%load_ext gradtool").strip() == ""
    terminal.type("from gradtool import paddle; w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)")
    terminal.type("loss = (w.detach() * 2).sum()")
    answer = terminal.type("%why loss")
    assert "w   grad = None   verdict: DETACHED" in answer
    assert "In[3]:1    loss = (w.detach() * 2).sum()" in answer
    assert "error: unknown loss, file or module 'lss'\n  hint  closest: loss" in terminal.type("%why lss")
    assert "Out[6]: 2" in terminal.type("1 + 1")


def test_a_session_of_the_debugger(terminal: Terminal) -> None:
    """The prompt stays IPython's: nothing is read from the terminal."""
    terminal.type("%load_ext gradtool")
    terminal.type("from gradtool import paddle; w = paddle.to_tensor([0.0, 4.0], stop_gradient=False)")
    terminal.type("loss = paddle.sqrt(w).sum()")
    assert "error: no session of the debugger is open\n  hint  %gdebug LOSS" in terminal.type("%gstep")
    shown = terminal.type("%gdebug loss")
    assert "Out[5]: \n1 of 1 gradients · 1 infinite ✗ (catch nan and rc" in shown
    assert "\n▶ 3/4 reduce_sum_grad.0   In[3]:1" in shown
    assert "▶ 4/4 sqrt_grad.0   In[3]:1" in terminal.type("%gstep")
    assert "Out[7]: [ inf 0.25]" in terminal.type('%g v["w@GRAD"]')
    assert terminal.type("%gp nothing").strip() == "✗ there is no tensor 'nothing'."
    assert "▶ 3/4" in terminal.type("%grs")
    assert terminal.type("%gquit").strip() == ""


def test_a_command_line_of_cells(environment: dict[str, str], tmp_path: Path) -> None:
    cell = "%%gradtool backward\nimport paddle\nw = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\nloss = w.sum()"
    (tmp_path / "cells.ipy").write_text(f"%load_ext gradtool\nget_ipython().run_cell({cell!r})\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--colors=nocolor", str(tmp_path / "cells.ipy")],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=True,
    )
    assert "1 of 1 leaf gets a gradient" in done.stdout
    assert done.stderr == ""


def test_one_line_without_a_session(environment: dict[str, str]) -> None:
    code = "%load_ext gradtool\nfrom gradtool import paddle\n"
    code += "w = paddle.to_tensor(2.0, stop_gradient=False)\ny = w * w\n%backward y"
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--colors=nocolor", "-c", code],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=True,
    )
    assert "w     generated_tensor_0  []     elementwise_mul_grad.0  4" in done.stdout
