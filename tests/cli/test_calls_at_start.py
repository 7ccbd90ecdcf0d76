"""How much a short command does before it answers: calls of gradtool's own functions, counted and not timed."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

PROGRAM = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [4, 8])
h = paddle.static.nn.fc(x, 3, name="my_fc")
loss = paddle.mean(paddle.nn.functional.relu(h))
"""
"""Four operators: mul, elementwise_add, relu, mean."""

COUNTED = """\
import collections
import sys

calls = collections.Counter()


def count(frame, event, argument):
    if event == "call":
        calls[frame.f_code.co_filename] += 1


sys.setprofile(count)
{ran}
sys.setprofile(None)
import gradtool

(package,) = gradtool.__path__
own = (n for file, n in calls.items() if file.startswith(package) and not file.endswith("records.py"))
print(sum(own), file=sys.stderr)
"""
"""Runs something and writes to standard error how many calls of gradtool's functions that took.

Imports are included, without what makes a data class of a class.
"""

COMMAND = """\
from gradtool.cli.main import main

try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
"""

SCRIPT = """\
from gradtool.paddle import _alias

with _alias.active():
    exec(open(sys.argv[1]).read())
    paddle.static.append_backward(loss)
"""
"""What the command does at least: the script, and the backward part."""


def calls(ran: str, *words: str) -> int:
    """Return how many calls of gradtool's functions it takes, to be compared with others of the same run."""
    program = COUNTED.format(ran=ran)
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    return int(done.stderr)


def test_an_answer_takes_few_calls_beside_the_script_itself(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text(PROGRAM, encoding="utf-8")
    least, command = calls(SCRIPT, str(model)), calls(COMMAND, "backward", str(model))
    assert least < command < 2.4 * least
    assert 0 < calls(COMMAND, "--help") < command / 10


def test_calls_grow_as_the_program_does(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    counts = []
    for more in (0, 20, 40):
        middle = f"for _ in range({more}):\n    h = paddle.tanh(h)\nloss ="
        model.write_text(PROGRAM.replace("loss =", middle), encoding="utf-8")
        counts.append([calls(COMMAND, "backward", str(model)), calls(SCRIPT, str(model))])
    (command, script), (more_of_command, more_of_script) = [
        [after - before for before, after in zip(*pair, strict=True)] for pair in pairwise(counts)
    ]
    assert more_of_command < 1.1 * command
    assert more_of_script < 1.1 * script
    assert command < 3 * script


LOADED = """\
import sys
from gradtool.cli.main import main

try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
heavy = ("numpy", "socket", "subprocess", "gradtool.cli.commands.debug", "gradtool.engine.loading.loader")
print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""
"""Runs a command and writes to standard error what of the heavy modules it has loaded."""


def test_models_that_have_not_changed_load_no_engine(tmp_path: Path) -> None:
    (tmp_path / "gradtool.toml").write_text(
        '[check]\nselect = ["GT1"]\n[[models]]\ntarget = "model.py"\n', encoding="utf-8"
    )
    (tmp_path / "model.py").write_text(PROGRAM, encoding="utf-8")
    told = []
    for model in ("model.py", "model.py", "."):
        words = [sys.executable, "-c", LOADED, "check", model]
        done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert done.stdout.startswith("No findings in one pass: 1 model, ")
        told.append(done.stderr)
    assert "numpy" in told[0]
    assert told[1:] == ["[]\n"] * 2
