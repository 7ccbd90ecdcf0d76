"""Ctrl-C ends a command of its own process soon, whatever runs, with the processes that it has begun; nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gradtool.engine.files import temporary_files, writing

STUCK = """
import ctypes, threading
lock = ctypes.create_string_buffer(256)
c = ctypes.CDLL(None)
threading.Timer(0.3, print, ("here",), {"flush": True}).start()
for _ in range(2):
    c.pthread_mutex_lock(lock)  # the second time it waits for ever, and Python hears no signal
"""
CHILD = """
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
                                                "print('deaf', flush=True); signal.pause()"], stdout=subprocess.PIPE)
child.stdout.readline()
open("log.txt", "w").write("log")
print("here", child.pid, flush=True)
while True:
    try:
        child.wait()
    except KeyboardInterrupt:
        pass
"""
OWN = """
import signal, time
signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
pressed = []
print("here", flush=True)
while not pressed:
    time.sleep(0.01)
begin = time.monotonic()
while time.monotonic() < begin + 1.7:
    pass
print("came to its end")
"""
WEIGHT = "(paddle.create_parameter([2], 'float32') * 2).sum().backward()\n"
FORKS = """
import os, signal, threading, time
before = threading.active_count(), len(threading.enumerate())
child = os.fork()
if not child:
    os._exit(3)
print(os.waitpid(child, 0)[1] >> 8, before)
pid = os.fork()
if not pid:
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        time.sleep(1.7)  # not ended by a thread of its parent's, nor is that
        os._exit(4)
print(os.waitpid(pid, 0)[1] >> 8)
"""


@contextmanager
def started(folder: Path, script: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    (folder / "train.py").write_text(f"import paddle\n{script}", encoding="utf-8")
    begun = subprocess.Popen(
        [sys.executable, "-m", "gradtool", *words],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    (folder / "tmp").mkdir()
    try:
        yield begun
    finally:
        begun.kill()
        begun.communicate()


def first_line(begun: subprocess.Popen[str]) -> list[str]:
    assert begun.stderr is not None
    for line in begun.stderr:
        if line.startswith("here"):
            return line.split()
    raise AssertionError("the script never came there")


@pytest.mark.parametrize("words", [("why", "train.py"), ("train.py",), ("check", "train.py", "--format", "json")])
def test_what_hears_no_signal_is_ended(tmp_path: Path, words: tuple[str, ...]) -> None:
    with started(tmp_path, STUCK, *words) as begun:
        first_line(begun)
        begun.send_signal(signal.SIGINT)
        out, said = begun.communicate(timeout=60)
    assert (begun.returncode, out) == (130, "")
    assert said == (
        "error: interrupted\n  hint  it had not ended 1.5 s later; --limit SECONDS ends a file and answers\n"
    )


def test_processes_end_with_it_and_no_files_are_left(tmp_path: Path) -> None:
    with started(tmp_path, CHILD, "why", "train.py") as begun:
        child = int(first_line(begun)[1])
        begun.send_signal(signal.SIGINT)
        begun.communicate(timeout=60)
    assert begun.returncode == 130
    stat = Path(f"/proc/{child}/stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"
    assert sorted(p.name for p in tmp_path.rglob("*") if p.suffix != ".pyc") == ["tmp", "train.py"]


def test_a_script_that_hears_it_goes_on(tmp_path: Path) -> None:
    with started(tmp_path, OWN + WEIGHT, "backward", "train.py") as begun:
        first_line(begun)
        begun.send_signal(signal.SIGINT)
        _, said = begun.communicate(timeout=60)
    assert "came to its end" in said
    assert "interrupted" not in said


def test_a_script_sees_nothing_of_it(tmp_path: Path) -> None:
    with started(tmp_path, FORKS, "why", "train.py") as begun:
        _, said = begun.communicate(timeout=60)
    assert said.splitlines()[:2] == ["3 (1, 1)", "4"]


def test_what_is_being_written_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary_files, "moving", threading.Lock())
    seen: list[list[str]] = []

    def pieces() -> Iterator[bytes]:
        yield b"half"
        seen.append(os.listdir(tmp_path))
        temporary_files.remove()
        seen.append(os.listdir(tmp_path))
        raise RuntimeError

    with temporary_files.folder() as folder, pytest.raises(RuntimeError):
        writing.write_files({str(tmp_path / "out.svg"): pieces()})
    assert not Path(folder).exists()
    assert [len(names) for names in seen] == [1, 0]
    assert not temporary_files.files
