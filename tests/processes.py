"""Processes that begin where Python has loaded gradtool.

A fresh interpreter takes most of a second to load what a command needs, and the command itself a tenth. So one process
of each test run loads gradtool, and forks for each call. What is forked is a process like any other: it has its own
streams, current folder, environment, signals, threads and exit code. :func:`run` stands for ``subprocess.run``, and
:class:`Process` for ``subprocess.Popen``.

What happens before the first line differs, and that modules are not taken apart after the last one. A test of how
Python starts and ends (what is imported, ``PYTHONHASHSEED``, options of the interpreter) takes a fresh one, from
``subprocess``.
"""

from __future__ import annotations

import atexit
import builtins
import codecs
import contextlib
import fcntl
import functools
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import IO, Final, NoReturn, Self

_SERVED: Final = ("PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
"""Variables of the interpreter that a forked process follows."""

_MODEL: Final = "import paddle\nw = paddle.to_tensor([1.0], stop_gradient=False)\n(w * w).sum().backward()\n"
"""What the commands are run on, so that they load what they need."""


class Process:
    """A running process.

    Args:
        words: a command line that begins with ``sys.executable``, then ``-m MODULE``, ``-c CODE`` or a file.
        cwd: its current folder.
        env: all of its variables; as they are here, if None.
        stdin, stdout, stderr: descriptors or files.
        is_controlled: make standard input, a terminal, the one whose Ctrl-C is a signal to it.

    Attributes:
        pid: its number.

    Raises:
        ValueError: the command line needs a fresh interpreter.
    """

    def __init__(
        self,
        words: Sequence[str | os.PathLike[str]],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[bytes],
        stdout: int | IO[bytes],
        stderr: int | IO[bytes],
        is_controlled: bool = False,
    ) -> None:
        line = [os.fspath(word) for word in words]
        variables = dict(os.environ if env is None else env)
        _check(line, variables)
        reading, writing = os.pipe()
        self._reports = open(reading, "rb", buffering=0)  # noqa: SIM115  (closed when the process has ended)
        request = json.dumps([line[1:], os.fspath(cwd or os.getcwd()), variables, is_controlled]).encode()
        streams = [stream if isinstance(stream, int) else stream.fileno() for stream in (stdin, stdout, stderr)]
        try:
            server = _server()
            socket.send_fds(server, [len(request).to_bytes(8, "big")], [*streams, writing])
            server.sendall(request)
        finally:
            os.close(writing)
        self.pid = int.from_bytes(self._reports.read(8), "big")
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once the process has ended; a negative one is the number of a signal.

        Raises:
            subprocess.TimeoutExpired: it took longer.
        """
        if self.returncode is None:
            if not select.select([self._reports], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired([str(self.pid)], timeout or 0)
            self.returncode = int.from_bytes(self._reports.read(8), "big", signed=True)
            self._reports.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit code; None while the process runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)


def run(
    words: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    given: str = "",
    check: bool = False,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run a command line to its end; its output is read as UTF-8.

    Args:
        words: as :class:`Process` has them.
        given: what it reads from standard input.
        check: raise ``subprocess.CalledProcessError`` where the exit code is not 0.
        timeout: seconds after which it is ended.
    """
    with tempfile.TemporaryFile() as stdin, _Pipe() as out, _Pipe() as err:
        stdin.write(given.encode())
        stdin.seek(0)
        process = Process(words, cwd=cwd, env=env, stdin=stdin, stdout=out.writing, stderr=err.writing)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
    if check and code:
        raise subprocess.CalledProcessError(code, [*map(str, words)], out.text, err.text)
    return subprocess.CompletedProcess([*map(str, words)], code, out.text, err.text)


class _Pipe:
    """A pipe that is read until all of its writers have closed it."""

    def __enter__(self) -> Self:
        self._reading, self.writing = os.pipe()
        self._data = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.writing)
        self._reader.join()

    def _read(self) -> None:
        with open(self._reading, "rb") as stream:
            self._data = stream.read()

    @property
    def text(self) -> str:
        """All that came."""
        return self._data.decode("utf-8", "surrogateescape")


def _check(line: Sequence[str], variables: Mapping[str, str]) -> None:
    if line[0] != sys.executable or (line[1].startswith("-") and line[1] not in ("-m", "-c")):
        raise ValueError(f"needs a fresh interpreter: {line[:3]}")
    own = {name for name in {*variables, *os.environ} if name.startswith("PYTHON") and name not in _SERVED}
    if changed := sorted(name for name in own if variables.get(name) != os.environ.get(name)):
        raise ValueError(f"needs a fresh interpreter: {', '.join(changed)}")


@functools.cache
def _server() -> socket.socket:
    """Return the socket of the process that forks, which ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        words = [sys.executable, "-m", "tests.processes", str(theirs.fileno())]
        server = subprocess.Popen(
            words, cwd=Path(__file__).parents[1], pass_fds=[theirs.fileno()], start_new_session=True
        )

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


# -- in the process that forks ----------------------------------------------------------------------------------------


def _load() -> None:
    """Import what commands import."""
    reading, writing = os.pipe()
    if not os.fork():
        _list_modules(writing)
    os.close(writing)
    with open(reading) as names:
        for name in names.read().split():
            importlib.import_module(name)
    os.wait()


def _list_modules(writing: int) -> None:
    """Write the names of the modules of gradtool that commands import, and end the process."""
    from gradtool.cli.main import main

    try:
        with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
            os.chdir(folder)
            Path("model.py").write_text(_MODEL, encoding="utf-8")
            sys.stdout = sys.stderr = nowhere
            for command in (["report", "--html", "out.html"], ["check"], ["debug", "--batch"]):
                try:
                    main([command[0], "model.py", *command[1:]])
                except SystemExit:
                    continue
        os.write(writing, " ".join(name for name in sys.modules if _is_loaded_first(name)).encode())
    finally:
        os._exit(0)


def _is_loaded_first(name: str) -> bool:
    backend = {"numba", "jax", "onednn"}
    return name.startswith("gradtool.") and backend.isdisjoint(name.split("."))


def _serve(asked: socket.socket) -> list[str]:
    """Fork for each request; return the command line in each process that was forked, and never elsewhere."""
    woken, waking = socket.socketpair()
    for end in (woken, waking):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    running: dict[int, int] = {}
    while True:
        ready = select.select([asked, woken], [], [])[0]
        if woken in ready:
            woken.recv(4096)
            _report_ends(running)
        if asked not in ready:
            continue
        size, streams, _, _ = socket.recv_fds(asked, 8, 4)
        if not size:
            os._exit(0)
        request = b""
        while len(request) < int.from_bytes(size, "big"):
            request += asked.recv(1 << 20)
        words, folder, variables, is_controlled = json.loads(request)
        if not (pid := os.fork()):
            signal.set_wakeup_fd(-1)
            for own in (asked, woken, waking):
                own.close()
            for number in running.values():
                os.close(number)
            _begin(streams, folder, variables)
            if is_controlled:
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            return list(words)
        running[pid] = streams.pop()
        os.write(running[pid], pid.to_bytes(8, "big"))
        for number in streams:
            os.close(number)


def _report_ends(running: dict[int, int]) -> None:
    """Write the exit codes of processes that have ended to those who wait for them."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        report = running.pop(pid)
        with contextlib.suppress(BrokenPipeError):  # nobody waits any more
            os.write(report, os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))
        os.close(report)


def _begin(streams: Sequence[int], folder: str, variables: Mapping[str, str]) -> None:
    """Have streams, current folder, variables and signals as a process has them that was started so."""
    for number, stream in enumerate(streams[:3]):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.dont_write_bytecode = bool(variables.get("PYTHONDONTWRITEBYTECODE"))
    encoding, _, errors = variables.get("PYTHONIOENCODING", "").partition(":")
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        usual = getattr(sys, f"__{name}__")  # as the interpreter has made it
        raw = io.FileIO(number, mode + "b", closefd=False)
        raw.name = f"<{name}>"
        buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        stream = io.TextIOWrapper(
            buffered,
            encoding=codecs.lookup(encoding).name if encoding else usual.encoding,
            errors=usual.errors if name == "stderr" or not encoding else errors or "strict",
            line_buffering=name == "stderr" or raw.isatty(),
            write_through=bool(variables.get("PYTHONUNBUFFERED")),
        )
        stream.mode = mode
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _become(words: Sequence[str]) -> None:
    """Run a module, code or a file as the interpreter does."""
    path = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    sys.path[:0] = path
    if words[0] == "-m":
        sys.argv = list(words[1:])
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        sys.path.insert(0, "")
        main = sys.modules["__main__"] = ModuleType("__main__")
        main.__builtins__ = builtins  # type: ignore[attr-defined]
        exec(compile(words[1], "<string>", "exec"), vars(main))
    else:
        sys.argv = list(words)
        sys.path.insert(0, os.path.dirname(os.path.realpath(words[0])))
        runpy.run_path(words[0], run_name="__main__")


def _main() -> None:
    asked = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    root = str(Path(__file__).parents[1])
    _load()
    sys.path[:] = [place for place in sys.path if place not in ("", root)]
    os.chdir("/")
    gc.collect()
    gc.freeze()  # what is here stays: a collection in a forked process would copy all of it
    words = _serve(asked)
    try:
        _become(words)
    except SystemExit as left:
        _end(left.code)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        _end(1)
    _end(0)


def _end(code: object) -> NoReturn:
    """End the process as the interpreter does, with the code that a ``SystemExit`` has."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
    number = 0 if code is None else code if isinstance(code, int) else 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except OSError:
            number = 120
    os._exit(number & 0xFF)


if __name__ == "__main__":
    _main()
