"""A command runs no file a second time that starts processes, listens or writes; others it may."""

import sys

import pytest

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.loading.loader import run_model
from gradtool.engine.request.request import Request
from gradtool.engine.script import effects
from tests import processes

STARTS = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])\n"
LISTENS = "import socket\nwith socket.socket() as s:\n    s.bind(('127.0.0.1', 0))\n"
WRITES = "with open('log.txt', 'w') as file:\n    file.write('one')\n"
FORKS = "import os\nchild = os.fork()\nif not child:\n    os._exit(0)\nos.waitpid(child, 0)\n"
MODEL = "import paddle\nx = paddle.ones([2])\nx.stop_gradient = False\nloss = x.sum()\nloss.backward()\n"


def run(path, times=2, **options):
    for _ in range(times):
        with run_model(Request.create(str(path), **options)):
            pass


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(text):
        path = tmp_path / "train.py"
        path.write_text(text + MODEL, "utf-8")
        return path

    return written


@pytest.mark.parametrize(
    ("text", "options", "effect"),
    [
        (STARTS, {}, "starts processes"),
        (FORKS, {}, "starts processes"),
        (LISTENS, {}, "listens at a port"),
        (WRITES, {"write": True}, "writes log.txt"),
    ],
)
def test_a_second_run_is_refused_by_name(write, text, options, effect):
    path = write(text)
    with effects.command_scope():
        run(path, 1, **options)
        with pytest.raises(CommandError, match=rf"train\.py {effect}, so it is not run a second time"):
            run(path, 1, **options)


@pytest.mark.parametrize("text", ["", WRITES, "import platform\nplatform.processor()\n"])
def test_a_file_without_effects_runs_again(write, text):
    with effects.command_scope():
        run(write(text))


def test_who_asks_for_every_run_gets_it(write):
    run(write(STARTS))


def test_another_run_is_announced_once_for_each_reason(write):
    said = []
    path = write("")
    with effects.command_scope(said.append):
        run(path, 3)
        with effects.run_because("other seeds"):
            run(path, 2)
    first = "train.py runs again: one of its answers needs a run of its own"
    assert said == [first, "train.py runs again: other seeds"]


def test_another_command_runs_it_again(write):
    path = write(STARTS)
    for _ in range(2):
        with effects.command_scope():
            run(path, 1)


class Heard:
    verbose = 0

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (STARTS, {}, True),
        (FORKS, {}, True),
        (LISTENS + STARTS, {}, True),
        (LISTENS, {}, False),
        (STARTS, {"write": True}, False),
    ],
)
def test_processes_that_write_past_the_overlay_are_noted(write, text, options, said):
    heard = Heard()
    with effects.command_scope(), run_model(Request.create(str(write(text)), **options), notes=heard):
        pass
    note = "train.py starts processes: what they write reaches your files, unlike what the run writes"
    assert heard.notes == [note] * said


SPAWNS = """\
import multiprocessing


def train(rank):
    print(rank)


if __name__ == "__main__":
    import paddle

    process = multiprocessing.get_context("spawn").Process(target=train, args=(0,))
    process.start()
    process.join()
"""


def test_a_file_whose_processes_train_is_told_that_they_are_not_seen(tmp_path):
    """In a process of its own: where something was spawned before, that another process is leaves no trace."""
    (tmp_path / "train.py").write_text(SPAWNS, "utf-8")
    command = [sys.executable, "-m", "gradtool", "train.py"]
    done = processes.run(command, cwd=tmp_path)
    assert "train.py defines no loss" in done.stderr
    assert "it starts processes, and what they compute is not seen" in done.stderr
