"""Run scripts in forks of one process that has imported everything: ``python -m tests.transparent.server KIND``.

It reads jobs as lines of JSON and answers each with its exit code, CPU seconds and memory. What of gradtool's
a run has imported is imported here for the runs after it. ``TRANSPARENT_IMPORTS`` names modules to import before.
"""

from __future__ import annotations

import atexit
import builtins
import importlib
import json
import os
import runpy
import signal
import sys
import time
import types
from collections.abc import Collection
from typing import Any


def run_in_fork(job: dict[str, Any]) -> tuple[int | None, float, int]:
    """Run a job in a fork.

    Returns:
        Its exit code, None where it took too long; its CPU seconds; the most memory that it held, in KiB.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    child = os.fork()
    if not child:
        os.close(reading)
        _become(job, writing)
    os.close(writing)
    try:
        return _end_of(child, job["seconds"])
    finally:
        _import_all(reading)


def _end_of(child: int, seconds: float) -> tuple[int | None, float, int]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    _, _, used = os.wait4(child, 0)
    return None, used.ru_utime + used.ru_stime, used.ru_maxrss


_WITHOUT_EFFECT = ("gradtool.engine.", "gradtool.cli.", "gradtool.viz.")
"""Packages whose import changes nothing; one of ``paddle.fluid`` switches to static mode."""

_MOST_NAMES = 60_000
"""Bytes of names that a pipe takes although nobody reads yet."""


def _tell_modules(writing: int, before: Collection[str]) -> None:
    """Write what of gradtool's this run has imported."""
    names = [n for n in sys.modules if n.startswith(_WITHOUT_EFFECT) and n not in before and _is_a_file(n)]
    os.write(writing, "\n".join(names).encode()[:_MOST_NAMES].rpartition(b"\n")[0])


def _is_a_file(name: str) -> bool:
    spec = getattr(sys.modules[name], "__spec__", None)
    return spec is not None and spec.name == name and spec.has_location


def _import_all(reading: int) -> None:
    """Import what a run has imported, if it came to tell."""
    try:
        names = os.read(reading, _MOST_NAMES).decode().split()
    except BlockingIOError:
        names = []
    finally:
        os.close(reading)
    for name in names:
        importlib.import_module(name)


def _become(job: dict[str, Any], writing: int) -> None:
    """Be the process of a job, and end as it does.

    Args:
        writing: a pipe, for the names of modules.
    """
    os.setsid()
    before = frozenset(sys.modules)
    for number, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.environ.update(job["variables"])
    os.chdir(job["folder"])
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.argv = ["gradtool", *job["words"]]
    sys.path[:] = [p for p in sys.path if p not in ("", os.getcwd())]
    code: Any = 0
    try:
        if not job["plain"]:
            _ask(job["words"])
        elif job["variables"]["TRANSPARENT_KIND"] == "torch":
            _run_alone(job["words"][-1], job["compiles"])
        else:
            _run_plainly(job["words"])
    except SystemExit as error:
        code = error.code
    except BaseException:
        sys.last_type, sys.last_value, sys.last_traceback = sys.exc_info()
        sys.excepthook(*sys.exc_info())
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
    code = int(code or 0) if not isinstance(code, str) else 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    _tell_modules(writing, before)
    os._exit(code)


def _ask(words: list[str]) -> None:
    from gradtool.cli.main import cli

    cli.main(words)


def _run_alone(name: str, compiles: bool) -> None:
    """Run a script as Python does, with nothing of gradtool's; PyTorch *compiles* what it is to, or nothing."""
    assert not any(module.partition(".")[0] == "gradtool" for module in sys.modules)
    sys.path.insert(0, os.getcwd())
    sys.argv = [name]
    main = types.ModuleType("__main__")
    main.__file__ = os.path.abspath(name)
    vars(main)["__builtins__"] = builtins
    sys.modules["__main__"] = main
    if not compiles:
        importlib.import_module("torch").compiler.set_stance("force_eager")
    with open(name, "rb") as file:
        code = compile(file.read(), main.__file__, "exec", dont_inherit=True)
    exec(code, vars(main))


def _run_plainly(words: list[str]) -> None:
    """Run a script on the engine with nothing watched; of a file with a function to be called, that as well."""
    from gradtool.engine.loading.loader import MODULE, run_model
    from gradtool.engine.request.limits import passes_watched
    from gradtool.engine.request.request import Request
    from gradtool.paddle import _alias

    if words[0] == "--with-entry":
        with run_model(Request.create(words[1], steps=passes_watched("all"))):
            return
    sys.path.insert(0, os.getcwd())
    sys.argv = [words[0]]
    with open(words[0], encoding="utf-8") as file:
        is_guarded = "__main__" in file.read()
    with _alias.active():
        runpy.run_path(os.path.abspath(words[0]), run_name="__main__" if is_guarded else MODULE)


def _prepare(kind: str) -> None:
    modules = ["numpy", *(["torch"] if "torch" in kind else [])]
    if kind != "plain-torch":
        modules += ["gradtool.cli.main", "gradtool.engine.loading.loader", "gradtool.paddle._dispatch"]
    modules += os.environ.get("TRANSPARENT_IMPORTS", "").split()
    for module in modules:
        importlib.import_module(module)


def main() -> None:
    """Serve until standard input ends."""
    _prepare(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        code, seconds, memory = run_in_fork(json.loads(line))
        answers.write(json.dumps({"code": code, "seconds": seconds, "memory": memory}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
