"""How much a short command does before it answers: calls of gradtool's own functions, counted and not timed."""

from __future__ import annotations

import subprocess
import sys
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
from gradtool.cli.main import main

try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
sys.setprofile(None)
import gradtool

(package,) = gradtool.__path__
print(sum(n for file, n in calls.items() if file.startswith(package)), file=sys.stderr)
"""
"""Runs a command and writes to standard error how many calls of gradtool's functions that took, imports included."""


def calls(*words: str) -> int:
    done = subprocess.run([sys.executable, "-c", COUNTED, *words], capture_output=True, text=True, check=True)
    return int(done.stderr)


def test_the_backward_part_of_four_operators_takes_few_calls(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text(PROGRAM, encoding="utf-8")
    assert 1000 < calls("backward", str(model)) < 4900


def test_help_takes_few_calls() -> None:
    assert 0 < calls("--help") < 300


LOADED = """\
import sys
from gradtool.cli.main import main

try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
heavy = ("numpy", "socket", "subprocess", "gradtool.cli.commands.debug", "gradtool.models.loader")
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
        assert done.stdout.startswith("No findings: 1 model, ")
        told.append(done.stderr)
    assert "numpy" in told[0]
    assert told[1:] == ["[]\n"] * 2
