"""Whatever a script writes to standard output, in whichever way, goes to standard error: answers stand alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import processes

SCRIPT = """\
import os
import subprocess
import sys

import paddle

print("by print")
print("by the stream of the interpreter", file=sys.__stdout__, flush=True)
os.write(1, b"by its descriptor\\n")
subprocess.run([sys.executable, "-c", "print('by a process')"], check=True)
loss = (paddle.to_tensor([1.0], stop_gradient=False) * 2).sum()
loss.backward()
"""
WAYS = ("by print", "by the stream of the interpreter", "by its descriptor", "by a process")


@pytest.mark.parametrize("command", ["why", "stats"])
def test_an_answer_stands_alone_on_standard_output(tmp_path: Path, command: str) -> None:
    (tmp_path / "model.py").write_text(SCRIPT, "utf-8")
    words = [sys.executable, "-m", "gradtool", command, "model.py", "--format", "json"]
    done = processes.run(words, cwd=tmp_path, check=True)
    assert json.loads(done.stdout)["model"] == "model.py"
    assert [line for line in done.stderr.splitlines() if line in WAYS] == list(WAYS)


def test_standard_error_that_is_closed_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(SCRIPT.partition("os.write")[0] + SCRIPT.partition("check=True)\n")[2], "utf-8")
    line = f'"{sys.executable}" -m gradtool why model.py --format json 2>&-'
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert '"schema"' in done.stdout
