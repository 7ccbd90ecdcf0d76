"""Scripts of the debugger, and the text that files of cells are compared by."""

from __future__ import annotations

import pytest

from gradtool.viz.debugger import batch
from gradtool.viz.debugger.saved.comparison import same_text
from tests.viz.debugger.frontend_runs import book_over, hunt, recorded


def run(script: str) -> tuple[int, list[str]]:
    out: list[str] = []
    code = batch.run(book_over(recorded(hunt)), script, "hunt.gdt", out.append)
    return code, out


def test_a_script_runs_line_by_line() -> None:
    code, out = run('# look\n\np x   # the difference\nn = "a # b"\nexpect n == "a # b"\n')
    assert code == batch.CLEAN
    assert [line for line in out if line.startswith("In ")] == [
        "In [1]: p x",
        'In [2]: n = "a # b"',
        'In [3]: expect n == "a # b"',
    ]
    assert out[1].startswith("Out[1]: x 3×4")
    assert out[-1] == 'Out[3]: as expected: n == "a # b"'


def test_a_tensor_name_with_a_hash_is_no_comment() -> None:
    code, out = run("p h@GRAD#1\n")
    assert code == batch.CLEAN
    assert out[1].startswith("Out[1]: h@GRAD#1 3×4")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("catch nan\nc\np x", batch.FAILED),
        ("catch nan\nfinish", batch.CLEAN),
        ('expect v["x"].max() > 0\np x', batch.FAILED),
        ('expect v["x"].max() == 0', batch.CLEAN),
        ("expect-error p nothing", batch.CLEAN),
        ("expect-error p x", batch.FAILED),
        ("break op:sqrt_grad\nc", batch.CLEAN),
        ("rerun 1", None),
        ("", batch.CLEAN),
    ],
)
def test_exit_codes(script: str, code: int | None) -> None:
    if code is None:
        with pytest.raises(batch.ScriptError):
            run(script)
        return
    got, out = run(script)
    assert got == code
    if "p x" in script.split("\n"):
        assert out[-1].startswith(f"Out[{len(script.splitlines())}]: x 3×4"), "lines after a finding still run"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("explode now", "neither a verb nor Python"),
        ("p x +", "there is no tensor"),
        ("nothing", "'nothing' is not defined"),
        ("1/0", "ZeroDivisionError"),
        ("step many", "expected a number"),
        ("goto nowhere", "there is no operator"),
    ],
)
def test_a_wrong_line_is_named(line: str, said: str) -> None:
    with pytest.raises(batch.ScriptError, match=r"hunt\.gdt:3: ") as caught:
        run(f"p x\n\n{line}\np x\n")
    assert line in str(caught.value)
    assert said in str(caught.value)


def test_quit_ends_a_script() -> None:
    code, out = run("quit\nexpect False\n")
    assert (code, out) == (batch.CLEAN, ["In [1]: quit"])


@pytest.mark.parametrize(
    ("was", "now", "exact", "same"),
    [
        ("‖·‖ 0.871", "‖·‖ 0.871", True, True),
        ("‖·‖ 0.871", "‖·‖ 0.872", True, False),
        ("‖·‖ 0.871", "‖·‖ 0.872", False, True),
        ("‖·‖ 0.871", "‖·‖ 0.873", False, False),
        ("1e-07", "2e-07", False, True),
        ("[1.5  2. ]", "[1.49999 2. ]", False, True),
        ("zeros 3 of 12", "zeros 4 of 12", False, False),
        ("nan 3", "inf 3", False, False),
        ("<function f at 0x7f00aa>", "<function f at 0x7f11bb>", True, True),
        ("100.0", "100.001", False, True),
        ("-0.5", "0.5", False, False),
    ],
)
def test_texts_are_compared_by_the_rule(was: str, now: str, exact: bool, same: bool) -> None:
    assert same_text(was, now, exact) is same
    assert same_text(now, was, exact) is same
