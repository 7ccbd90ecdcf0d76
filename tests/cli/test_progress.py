"""What takes long says how far it is, on a terminal alone, and leaves nothing behind."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradtool.cli.progress import Progress, pace
from gradtool.engine.core.progress import count
from gradtool.engine.core.state import progress
from tests.cli.conftest import Run, Write

TRAINING = """\
import paddle
w = paddle.ones([3])
w.stop_gradient = False
for step in range(7):
    (w * w).sum().backward()
"""

AS_COMMAND = """\
import sys
from gradtool.cli import progress
from gradtool.cli.main import main

class AtOnce:
    def __init__(self, after, show):
        self.start = show
    def cancel(self):
        pass

progress.threading.Timer = AtOnce
main(sys.argv[1:])
"""
"""A command that shows its progress from its first moment on, so that no test has to wait."""


def told(run: Callable[[], object]) -> list[tuple[str, int, int | None]]:
    """What is told while *run* runs."""
    told: list[tuple[str, int, int | None]] = []
    with progress.listen(lambda *what: told.append(what)):
        run()
    return told


def test_what_is_counted_is_told_before_each_and_in_the_end() -> None:
    assert told(lambda: list(count("steps", "ab"))) == [("steps", 0, 2), ("steps", 1, 2), ("steps", 2, 2)]
    assert list(count("steps", "ab")) == ["a", "b"]


def test_how_fast_it_goes_is_told_once_it_can_be_known() -> None:
    assert pace(4, 1.0, 100) == pace(100, 1.0, 0) == pace(100, 1.0, None) == ""
    assert pace(10, 4.0, 20_000) == "2.5/s, 2:13:20 left"


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("why",), ("backward passes seen", 7, None)),
        (("why", "--steps", "all"), ("backward passes seen", 7, None)),
        (("gradcheck",), ("gradients compared", 1, 1)),
        (("stats --time", "--repeats", "3"), ("repeats of the backward pass", 3, 3)),
        (("checkup",), ("asking why", 0, None)),
        (("why", "--backward", "each"), ("distinct backward passes", 1, 1)),
        (("report", "--md", "r.md"), ("asking backward", 0, None)),
        (("sweep", "nan", "--seeds", "0..2"), ("points", 3, 3)),
    ],
)
def test_what_commands_tell(gradtool: Run, model: Write, command: tuple[str, ...], what: tuple[Any, ...]) -> None:
    file = model(TRAINING)
    asked = command[:2] if command[0] == "sweep" else command[:1]
    assert what in told(lambda: gradtool(*asked, file, *command[len(asked) :]))


def test_programs_tell_their_runs(gradtool: Run, model: Write) -> None:
    text = """\
import numpy as np
import paddle
paddle.enable_static()
x = paddle.static.data("x", [4, 3])
loss = paddle.mean(paddle.static.nn.fc(x, 1))
paddle.optimizer.SGD(0.1).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
for step in range(3):
    exe.run(feed={"x": np.ones((4, 3), "float32")}, fetch_list=[loss])
"""
    assert ("backward passes seen", 3, None) in told(lambda: gradtool("why", model(text)))
    assert ("backward passes seen", 3, 5) in told(lambda: gradtool("why", "model.py", "--steps", "5"))


def test_what_others_write_stands_above_and_nothing_is_left() -> None:
    stream = io.StringIO()
    shown = Progress(stream)
    shown.beside.write("before\n")
    shown("backward passes seen", 3, 50)
    shown.show()
    print("loss 0.5", file=shown.beside)
    shown.stop()
    shown.beside.write("after\n")
    text = stream.getvalue()
    assert text.startswith("before\n")
    assert "backward passes seen" in text
    assert "3/50" in text
    assert "loss 0.5" in text
    assert text.endswith("after\n")
    assert "\x1b[2K" in text.split("3/50")[-1]  # the line is taken away again
    assert shown.beside.encoding == stream.encoding


def test_what_is_over_is_not_shown_any_more() -> None:
    stream = io.StringIO()
    shown = Progress(stream)
    shown.stop()
    shown.show()
    shown("repeats", 1, 2)
    assert stream.getvalue() == ""


def on_terminal(folder: Path, *words: str) -> tuple[str, str]:
    """What a command writes to stdout, a pipe, and to stderr, a terminal."""
    outer, inner = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", AS_COMMAND, *words], cwd=folder, stdout=subprocess.PIPE, stderr=inner, text=True
    ) as process:
        os.close(inner)
        written = b""
        while True:
            try:
                part = os.read(outer, 4096)
            except OSError:
                break
            if not part:
                break
            written += part
        assert process.stdout is not None
        result = process.stdout.read()
    os.close(outer)
    assert process.returncode == 0, written
    return result, written.decode()


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAINING + "print('trained')\n", encoding="utf-8")
    return tmp_path


def test_on_a_terminal(script: Path) -> None:
    result, shown = on_terminal(script, "why", "train.py")
    assert "backward passes seen" in shown
    assert "7/?" in shown
    assert "trained" in shown
    assert "backward passes seen" not in result
    assert result.startswith("0 of") or "no findings" in result


def test_quiet_on_a_terminal(script: Path) -> None:
    _, shown = on_terminal(script, "why", "train.py", "-q")
    assert "backward passes seen" not in shown


def test_piped_it_is_silent_and_rich_is_not_loaded(script: Path) -> None:
    code = """\
import sys
from gradtool.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    print("rich" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "why", "train.py"], cwd=script, capture_output=True, text=True, check=True
    )
    assert "passes seen" not in done.stderr
    assert done.stdout.endswith("False\n")
