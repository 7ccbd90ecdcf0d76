"""Work in processes of its own; a change of a module, tried in one that imports gradtool anew::

python -m tests.mutation.trial PATH CHANGED SECONDS TEST...
"""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

PRELOADED = (
    "numpy.random",
    "ml_dtypes",
    "hypothesis.extra.numpy",
    "click",
    "rich.table",
    "nbformat",
    "prompt_toolkit",
    "graphviz",
    "jsonschema",
)
MEMORY = 6 << 30
"""Bytes of address space that a trial may use."""
PASSED, FAILED = 0, 1


def preload() -> None:
    """Import what tests import, except gradtool."""
    for name in PRELOADED:
        importlib.import_module(name)


def compiled(text: str, path: str) -> CodeType:
    """The code of a file; what Python warns of in it is no matter."""
    with warnings.catch_warnings(action="ignore"):
        code: CodeType = compile(text, path, "exec", dont_inherit=True)
    return code


class _Changed(SourceFileLoader):
    """Loads a module from another text than its file's."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        return compiled(self._text, self.path)


class _Finder:
    """Finds one module, with a changed text."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == self._name else None
        if spec is None or spec.origin is None:
            return None
        loader = _Changed(name, spec.origin, self._text)
        return importlib.util.spec_from_file_location(
            name, spec.origin, loader=loader, submodule_search_locations=spec.submodule_search_locations
        )


def pytest_main(arguments: list[str], plugins: list[Any]) -> int:
    """Run tests in this process, as they stand in the configuration, with all their cases."""
    options = [
        "-q",
        "--whole",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:faulthandler",
        # gradtool is a plugin of pytest: its hook would load gradtool's own modules, and never the changed text
        "--assert=plain",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
        "--tb=short",
    ]
    return int(pytest.main([*options, *arguments], plugins=plugins))


def notice(path: str, text: str, tests: list[str]) -> int:
    """Run the tests with *text* in place of the file's, until one fails: pytest's exit code."""
    module = "gradtool." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    sys.meta_path.insert(0, _Finder(module, text))
    return pytest_main(["-x", *tests], [])


def _limit(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def forked(work: Callable[[], int | None], seconds: float, log: str = os.devnull) -> str:
    """What became of *work* in a child process: nothing, or what went wrong.

    It may use *seconds* of processor time, and ten times as long to pass.
    """
    child = os.fork()
    if child == 0:
        _run(work, seconds, log)
    deadline = time.monotonic() + 10 * seconds + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            if code == PASSED:
                return ""
            return f"signal {-code}" if code < 0 else f"exit {code}"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "late"


def _run(work: Callable[[], int | None], seconds: float, log: str) -> None:
    """In the child: run, and leave without what the parent would do at its end."""
    code = FAILED
    try:
        os.setsid()
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(out, stream)
        _limit(seconds)
        code = work() or PASSED
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    path, changed, seconds, *tests = sys.argv[1:]
    _limit(float(seconds))
    sys.exit(notice(path, Path(changed).read_text(encoding="utf-8"), tests))
