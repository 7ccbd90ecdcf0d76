"""Calling the command in this process, and model files to call it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gradtool.cli import commands
from gradtool.cli.main import main

Write = Callable[[str], str]

WITHOUT_A_MODEL = {
    **{name: [] for name in commands.every() if name.startswith(("explain", "self"))},
    "explain": ["GT103"],
    "self completion": ["bash"],
    "self man": ["why"],
}
"""Commands that are asked about no file, and what they are asked about."""

VALUES = {"graph --dump": "out", "graph --where": "reduce_mean.0"}
"""What forms take that have a value."""


def typed(command: str, *rest: str) -> list[str]:
    """A command or a form of one, by its name in ``commands.every()``, as it is typed.

    A value may follow the name of a form: ``graph --dump=out``.
    """
    if command == commands.OF_A_MODEL:
        return [*rest]
    value = [VALUES[command]] if command in VALUES else []
    return [*command.split(), *value, *rest] if command.partition("=")[0] in commands.every() else [command, *rest]


def named(command: str, file: str) -> list[str]:
    """A command and the words that name the file that it is asked about; two of them where it compares."""
    if command == "sweep":
        return [command, "nan", file, "--seeds", "0,1"]
    return [command, file, file] if command == "diff" else typed(command, file)


DOCUMENT = """\
import paddle
import paddle.nn.functional as F

paddle.enable_static()

x = paddle.static.data(name='x', shape=[None, 13], dtype='int64')
y = paddle.static.data(name='y', shape=[None, 1], dtype='float32')
x_emb = paddle.static.nn.embedding(x, size=[100, 256])
y_predict = paddle.static.nn.fc(x=x_emb, size=1, activation=None, name='my_fc')
loss = F.square_error_cost(input=y_predict, label=y)
avg_loss = paddle.mean(loss)
"""
"""The forward part of the documents' example."""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def cells(self) -> list[list[str]]:
        """The cells of a result in TSV."""
        return [line.split("\t") for line in self.out.splitlines()]

    @property
    def data(self) -> Any:
        """A result in JSON."""
        return json.loads(self.out)


Run = Callable[..., Outcome]


ONE_AFTER_THE_OTHER = """\
import json, sys
from gradtool.cli.main import main
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as end:
        assert not end.code, (words, end.code)
"""


def in_a_process(folder: Path, lines: Sequence[Sequence[str]], hash_seed: str) -> tuple[bytes, bytes]:
    """Return what commands print that run in a fresh process, one after the other, and what they say on stderr.

    Raises:
        subprocess.CalledProcessError: one of them failed.
    """
    call = [sys.executable, "-c", ONE_AFTER_THE_OTHER, json.dumps(lines)]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, check=True)
    return done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder; no colours."""
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def gradtool(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """``gradtool("backward", "model.py")`` is what that command prints, and its exit code.

    A form may be one word: ``gradtool("stats --memory", "model.py")``.
    """

    def run(*arguments: str) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(typed(*arguments) if arguments else arguments)
        printed = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Outcome(left.value.code, printed.out, printed.err)

    return run


@pytest.fixture
def model(folder: Path) -> Write:
    """``model(text)`` writes ``model.py`` and returns its name; ``model("")`` is the documents' example."""

    def write(text: str = "") -> str:
        (folder / "model.py").write_text(text or DOCUMENT, encoding="utf-8")
        return "model.py"

    return write
