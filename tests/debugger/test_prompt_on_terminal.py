"""The debugger typed into a real pseudo-terminal, and read from a pipe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .terminals import Terminal, on_terminal

DRIVER = ("-m", "tests.debugger.prompt_driver")
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


def test_a_first_session(tmp_path: Path) -> None:
    page = tmp_path / "nan-hunt.html"
    with session(tmp_path, "--catch") as t:
        first = typed(t, "c", 1)
        assert "Out[1]: ■ catch inf at ▶ 11/16 sqrt_grad.0   frontend_runs.py:" in first
        assert "z = paddle.sqrt(x)" in first
        assert "↔ sqrt.0" in first
        assert "x@GRAD 3×4  inf 12  finite 0 · saved out z 3×4  ‖·‖ 0  zeros 12 of 12 · dout 3×4" in first
        assert "Out[2]: ▶ 9/16" in typed(t, "back 2", 2)
        assert "Out[3]: in guard, forked from base at 9/16" in typed(t, "fork guard", 3)
        edited = typed(t, 'set x@GRAD = np.where(np.isfinite(v["x@GRAD"]), v["x@GRAD"], 0)', 4)
        assert "Out[4]: edited 12 elements · 5 ops now stale ~" in edited
        assert "end of the run" in typed(t, "c", 5)
        assert "linear_0.b_0 NaN → 0   linear_0.w_0 NaN → 0" in typed(t, "compare base guard", 6)
        assert "Out[7]: wrote " in typed(t, f"export html {page}", 7)
        t.type(CTRL_D)
        assert t.ended() == 0
    assert "compare base guard" in page.read_text(encoding="utf-8")


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
    done = subprocess.run(
        [sys.executable, "-X", f"utf8={int(encoding == 'utf-8')}", *DRIVER, *options],
        input=lines,
        capture_output=True,
        encoding=encoding,
        check=True,
    )
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
