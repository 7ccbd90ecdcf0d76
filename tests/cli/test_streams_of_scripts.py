"""A script sees the streams that the interpreter would give it, in a terminal or a file, under every command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import processes

LOOK = """\
import json
import os
import sys

def look():
    seen = {"type": [isinstance(s, __import__("io").TextIOWrapper) for s in (sys.stdout, sys.stderr)]}
    for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
        stream = getattr(sys, name)
        seen[name] = [stream.isatty(), stream.encoding, stream.errors, stream.fileno(), stream.name, stream.mode]
        seen[name] += [stream.buffer.fileno(), stream.buffer.isatty(), stream.writable(), stream.closed]
    seen["os"] = [os.isatty(1), os.isatty(2), os.fstat(1).st_mode, os.fstat(2).st_mode]
    try:
        seen["size"] = list(os.get_terminal_size())
    except OSError as error:
        seen["size"] = error.errno
    return seen

"""
SCRIPT = (
    LOOK
    + """\
if __name__ == "__main__" and "--plain" in sys.argv:
    print(json.dumps(look()), file=open("seen", "w"))
    sys.exit()
import paddle

with open("seen", "w") as file:
    print(json.dumps(look()), file=file)
w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
(w * w).sum().backward()
"""
)
TERMINALS = [(True, True), (True, False), (False, True), (False, False)]


def run_with(
    words: Sequence[str], folder: Path, terminals: tuple[bool, bool], **variables: str
) -> tuple[int, str, str]:
    """Run a command whose standard output and error are terminals or files; return its code and what came to each."""
    pty = pytest.importorskip("pty")
    ends, texts, streams = [], ["", ""], []
    for number, is_terminal in enumerate(terminals):
        if is_terminal:
            reading, writing = pty.openpty()
            ends.append((number, reading))
        else:
            writing = os.open(folder / f"stream{number}", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        streams.append(writing)
    start: Any = processes.Process if "gradtool" in words else subprocess.Popen
    with open(os.devnull, "rb") as nothing:
        process = start(
            words, cwd=folder, env=os.environ | variables, stdin=nothing, stdout=streams[0], stderr=streams[1]
        )
    for stream in streams:
        os.close(stream)
    for number, reading in ends:
        texts[number] = _read_all(reading)
    for number, is_terminal in enumerate(terminals):
        if not is_terminal:
            process.wait()
            texts[number] = (folder / f"stream{number}").read_text("utf-8", "replace")
    code: int = process.wait()
    return code, texts[0], texts[1]


def _read_all(reading: int) -> str:
    data = b""
    with open(reading, "rb", buffering=0) as stream:
        while True:
            try:
                piece = stream.read(4096)
            except OSError:  # the other end is closed
                piece = b""
            if not piece:
                return data.decode("utf-8", "replace")
            data += piece


def seen_by(words: Sequence[str], folder: Path, terminals: tuple[bool, bool], **variables: str) -> object:
    code, out, err = run_with(words, folder, terminals, **variables)
    assert code == 0, out + err
    return json.loads((folder / "seen").read_text("utf-8"))


COMMANDS = ("", "check", "why", "nan", "stats", "stats --memory", "flow", "gradcheck", "debug --batch")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("terminals", TERMINALS)
@pytest.mark.sampled(4, "command")
def test_streams_are_as_without_gradtool(tmp_path: Path, command: str, terminals: tuple[bool, bool]) -> None:
    (tmp_path / "model.py").write_text(SCRIPT, "utf-8")
    plain = seen_by([sys.executable, "model.py", "--plain"], tmp_path, terminals)
    first, *more = command.split() or [""]
    words = [sys.executable, "-m", "gradtool", *([first] if first else []), "model.py", *more, "--write"]
    assert seen_by(words, tmp_path, terminals) == plain


@pytest.mark.parametrize("encoding", ["latin-1", "ascii:replace"])
def test_the_encoding_is_the_interpreters(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "model.py").write_text(SCRIPT, "utf-8")
    plain = seen_by([sys.executable, "model.py", "--plain"], tmp_path, (False, False), PYTHONIOENCODING=encoding)
    words = [sys.executable, "-m", "gradtool", "why", "model.py", "--write"]
    assert seen_by(words, tmp_path, (False, False), PYTHONIOENCODING=encoding) == plain


SIDE_BY_SIDE = ("check", "check --jobs 2", "sweep nan --seeds 0..1", "sweep nan --seeds 0..1 --timeout 60")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", SIDE_BY_SIDE)
def test_processes_of_gradtools_see_them_too(tmp_path: Path, command: str) -> None:
    """Files that are checked side by side, and points of a sweep, run in processes whose streams lead elsewhere."""
    folder = tmp_path / "files"
    folder.mkdir()
    raised = 'raise ValueError(f"{sys.stdout.isatty()} {sys.stderr.isatty()} {os.isatty(1)} {sys.stdout.fileno()}")'
    for name in ("one.py", "two.py"):
        (folder / name).write_text(f"import os\nimport sys\nimport paddle\n{raised}\n", "utf-8")
    words = [sys.executable, "-m", "gradtool", *command.split(), "files/one.py", "files/two.py"]
    _, out, err = run_with(words, tmp_path, (True, False))
    assert "True False True 1" in out + err


WAYS_OUT = """\
import atexit
import contextlib
import ctypes
import io
import logging
import os
import subprocess
import sys
import threading
import time

import paddle

logging.basicConfig(stream=sys.stdout, format="%(message)s", level="INFO")
print("by print")
sys.stdout.write("by write, ")
sys.stdout.flush()
sys.stdout.buffer.write(b"by buffer\\n")
sys.stdout.flush()
print("by the stream of the interpreter", file=sys.__stdout__)
os.write(1, b"by descriptor\\n")
ctypes.CDLL(None).printf(b"by C, not flushed\\n")
subprocess.run([sys.executable, "-c", "print('by a process')"], check=True)
with open("/dev/stdout", "a") as stream:
    stream.write("by the file of the system\\n")
with open(1, "w", closefd=False) as stream:
    stream.write("by a file of its own\\n")
atexit.register(print, "by atexit")


class Net(paddle.nn.Layer):
    def forward(self, x):
        logging.info("by a logger")
        print("by a layer")
        return (x * x).sum()


def late():
    while True:
        print("by a thread")
        sys.stdout.flush()
        time.sleep(0.02)


threading.Thread(target=late, daemon=True).start()
threading.Thread(target=lambda: (time.sleep(1.5), print("by a thread that is last"))).start()
sys.stdout.reconfigure(encoding="ascii", errors="backslashreplace")
print("by another encoding: \\xe9")
net = Net()
net(paddle.to_tensor([1.0, 2.0], stop_gradient=False)).backward()
sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding="utf-8", line_buffering=True)
print("by a stream of its own: \\xe9")
sys.stderr.close()
"""


@pytest.mark.parametrize("command", ["check", "why", "stats", "gradcheck"])
def test_nothing_of_a_scripts_is_among_the_answers(tmp_path: Path, command: str) -> None:
    (tmp_path / "model.py").write_text(WAYS_OUT, "utf-8")
    words = [sys.executable, "-m", "gradtool", command, "model.py", "--format", "json"]
    done = processes.run(words, cwd=tmp_path)
    json.loads(done.stdout)
    ways = {line.strip() for line in done.stderr.splitlines()}
    assert ways >= {
        "by print",
        "by write, by buffer",
        "by the stream of the interpreter",
        "by descriptor",
        "by C, not flushed",
        "by a process",
        "by the file of the system",
        "by a file of its own",
        "by atexit",
        "by a logger",
        "by a layer",
        "by a thread",
        "by a thread that is last",
        r"by another encoding: \xe9",
        "by a stream of its own: é",
    }


REDIRECTED = """\
import os
import sys

import paddle

kept = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
print("sent nowhere")
sys.stdout.flush()
os.write(1, b"sent nowhere, too\\n")
os.dup2(kept, 1)
print("shown")
(paddle.to_tensor([1.0], stop_gradient=False) * 2).sum().backward()
os.close(1)
"""


def test_a_script_may_lead_its_descriptor_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(REDIRECTED, "utf-8")
    words = [sys.executable, "-m", "gradtool", "why", "model.py", "--format", "json"]
    done = processes.run(words, cwd=tmp_path, check=True)
    assert json.loads(done.stdout)["model"] == "model.py"
    assert "shown" in done.stderr
    assert "nowhere" not in done.stdout + done.stderr
