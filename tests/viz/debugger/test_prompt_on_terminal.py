"""The debugger typed into a real pseudo-terminal, and read from a pipe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import processes
from tests.viz.debugger.terminals import Terminal, on_terminal

COMMAND = ("-c", "import sys; from gradtool.cli.main import main; sys.exit(main())")
DRIVER = ("-m", "tests.viz.debugger.prompt_driver")
ENTER, TAB, UP, CTRL_C, CTRL_D = "\r", "\t", "\x1b[A", "\x03", "\x04"


@contextmanager
def session(tmp_path: Path, *options: str, **environment: str | None) -> Iterator[Terminal]:
    with on_terminal(
        [*DRIVER, "--history", str(tmp_path / "history"), *options], {"NO_COLOR": "1", **environment}
    ) as t:
        t.until("In [1]:")
        yield t


def typed(terminal: Terminal, line: str, number: int) -> str:
    """Type a cell; what comes before the next prompt."""
    terminal.type(line + ENTER)
    return terminal.until(f"In [{number + 1}]:")


MODEL = """import paddle
import paddle.nn.functional as F

paddle.seed(7)
fc1 = paddle.nn.Linear(4, 4)
data = paddle.ones([3, 4])
h = fc1(data)
x = F.relu(h) - F.relu(h)
z = paddle.sqrt(x)
loss = z.sum()
"""


def test_a_first_session_of_the_command(tmp_path: Path) -> None:
    model, page, log = tmp_path / "model.py", tmp_path / "nan-hunt.html", tmp_path / "hunt.jsonl"
    model.write_text(MODEL, encoding="utf-8")
    with on_terminal(
        [*COMMAND, "debug", str(model), "--catch", "nan"], {"NO_COLOR": "1", "XDG_STATE_HOME": str(tmp_path)}
    ) as t:
        t.until("In [1]:")
        first = typed(t, "c", 1)
        assert "Out[1]: ■ catch inf at ▶ 9/14 sqrt_grad.0   model.py:9" in first
        assert "▶  9 │ z = paddle.sqrt(x)          ↔ sqrt.0" in first
        assert "x@GRAD 3×4  inf 12  finite 0 · saved out z 3×4  ‖·‖ 0  zeros 12 of 12 · dout 3×4  ‖·‖ 3.464" in first
        assert "Out[2]: ▶ 7/14 reduce_sum.0" in typed(t, "back 2", 2)
        assert "Out[3]: in guard, forked from base at 7/14" in typed(t, "fork guard", 3)
        edited = typed(t, 'set x@GRAD = np.where(np.isfinite(v["x@GRAD"]), v["x@GRAD"], 0)', 4)
        assert "Out[4]: edited 12 elements · 5 ops now stale ~" in edited
        assert "end of the run · 2 of 2 gradients · 2 zero\n" in typed(t, "c", 5)
        assert "Out[6]: fc1.weight NaN → 0   fc1.bias NaN → 0" in typed(t, "compare base guard", 6)
        assert f"Out[7]: wrote {page}" in typed(t, f"export html {page}", 7)
        assert f"Out[8]: saved {log}" in typed(t, f"save {log}", 8)
        t.type(CTRL_D)
        assert t.ended() == 0
    assert "compare base guard" in page.read_text(encoding="utf-8")
    assert "+compare base guard" in (tmp_path / "gradtool" / "debugger_history").read_text(encoding="utf-8")
    with on_terminal([*COMMAND, "debug", "--replay", str(log), "--check"]) as t:
        assert "  In [4]: set x@GRAD = np.where" in t.until("Evaluate them? [y/N]:")
        t.type("n" + ENTER)
        assert t.ended() == 2
        assert "3 of 7 cells as saved; from In [4] on they are not run" in t.text
    with on_terminal([*COMMAND, "debug", "--replay", str(log), "--check"]) as t:
        t.until("Evaluate them? [y/N]:")
        t.type("y" + ENTER)
        assert t.ended() == 0
        assert "7 cells as saved" in t.text
    with on_terminal([*COMMAND, "debug", "--replay", str(log)], {"NO_COLOR": "1"}) as t:
        t.until("In [8]:")
        assert "Out[8]:" in typed(t, "branches", 8)
    log.write_text(log.read_text(encoding="utf-8").replace("edited 12", "edited 11"), encoding="utf-8")
    with on_terminal([*COMMAND, "debug", "--replay", str(log), "--check", "--trust"]) as t:
        assert t.ended() == 1
        assert "-edited 11 elements" in t.text


def test_ctrl_c_gives_up_a_line_and_interrupts_what_runs(tmp_path: Path) -> None:
    with session(tmp_path) as t:
        t.type("p nothing at all")
        t.type(CTRL_C)
        t.until("In [1]:")
        assert "(3, 4)" in typed(t, 'v["x"].shape', 1)
        typed(t, 'watch __import__("time").sleep(1) or 1', 2)
        t.type("c" + ENTER)
        t.quiet()
        t.type(CTRL_C)
        assert "interrupted" in t.until("In [4]:")
        typed(t, "delete", 4)
        assert "end of the run" in typed(t, "c", 5)
        t.type("while True: pass" + ENTER + ENTER)
        t.quiet()
        t.type(CTRL_C)
        assert "interrupted" in t.until("In [7]:")
        t.type("quit" + ENTER)
        assert t.ended() == 0


def test_tab_completes(tmp_path: Path) -> None:
    with session(tmp_path) as t:
        t.type("expo" + TAB)
        t.until("export")
        t.type(CTRL_C)
        t.until("In [1]:")
        t.type("p inp" + TAB + ENTER)
        assert "inp 3×4" in t.until("In [2]:")
        t.type("goto sqrt_grad.\t\r")
        assert "sqrt_grad.0" in t.until("In [3]:")
        t.type("z" + TAB + TAB)
        t.until("zip")


def test_what_was_typed_is_remembered(tmp_path: Path) -> None:
    with session(tmp_path) as t:
        typed(t, "first = 41", 1)
        typed(t, "p x", 2)
        t.type(UP + UP + ENTER)
        t.until("In [4]:")
        t.type("quit" + ENTER)
        assert t.ended() == 0
    with session(tmp_path) as t:
        t.type(UP + UP + UP)
        t.until("p x")
        t.type(CTRL_C)
        t.until("In [1]:")
        t.type(CTRL_D)
        assert t.ended() == 0
    assert "+p x" in (tmp_path / "history").read_text(encoding="utf-8")


def test_several_lines_make_a_cell(tmp_path: Path) -> None:
    with session(tmp_path) as t:
        t.type("def twice(a):" + ENTER)
        t.until("...:")
        t.type("return 2 * a" + ENTER + ENTER)
        t.until("In [2]:")
        assert "Out[2]: 42" in typed(t, "twice(21)", 2)
        assert "Out[3]: [1, 2]" in typed(t, "[1,\r2]", 3)


@pytest.mark.parametrize(
    ("environment", "colors"),
    [({"NO_COLOR": None}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": None, "TERM": "dumb"}, False)],
)
def test_colors_where_they_are_wanted(tmp_path: Path, environment: dict[str, str | None], colors: bool) -> None:
    with session(tmp_path, **environment) as t:
        typed(t, "list", 1)
        typed(t, "legend", 2)
        assert ("\x1b[32m✓" in t.raw) is colors
        assert ("\x1b[1;36m▶" in t.raw) is colors
        assert "next" in t.text


def test_ascii(tmp_path: Path) -> None:
    with session(tmp_path, "--ascii") as t:
        text = typed(t, "list", 1)
        assert text.isascii()
        assert "<-> sqrt.0" in text


# -- pipes ------------------------------------------------------------------------------------------------------------


def piped(lines: str, *options: str, encoding: str = "utf-8") -> str:
    if encoding == "utf-8":
        done = processes.run([sys.executable, *DRIVER, *options], given=lines, check=True)
    else:
        words = [sys.executable, "-X", "utf8=0", *DRIVER, *options]
        done = subprocess.run(words, input=lines, capture_output=True, encoding=encoding, check=True)
    assert done.stderr == ""
    return done.stdout


def test_a_pipe_reads_as_a_session_looks() -> None:
    script = "catch nan\n\nc\nfor i in range(2):\n    n = i\n\nn\nnothing\np h\nquit\np x\n"
    text = piped(script)
    lines = text.split("\n")
    assert lines[0].startswith("▶ 9/16")
    assert "In [1]: catch nan" in lines
    assert "Out[1]: ● catch 1: nan" in lines
    assert any(line.startswith("Out[2]: ■ catch inf at ▶ 11/16") for line in lines)
    assert "In [3]: for i in range(2):\n   ...:     n = i\nIn [4]: n\nOut[4]: 1\n" in text
    assert "In [5]: nothing\n✗ name 'nothing' is not defined" in text
    assert text.endswith("In [7]: quit\n")
    assert "\x1b" not in text
    assert piped(script) == text, "the same for the same input"


def test_a_pipe_may_end_anywhere() -> None:
    assert "In [1]: p x" in piped("p x")
    assert "In [1]: if True:\n   ...:     7" in piped("if True:\n    7")
    assert piped("").startswith("▶ 9/16")


def test_control_characters_are_shown_not_obeyed() -> None:
    assert "\x1b" not in piped("print(1); '\\x1b[2J'\n'a\\x1b'.__str__()\nraise ValueError('\\x1b[31m')\n")
