"""Changes of functions, tried in forks of a process that has imported and collected all tests.

A function whose body has changed gets the new code; nothing is imported again. What cannot be tried like this (the body
of a module or class, defaults, functions that run while modules are imported) is tried in a process of its own.
"""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

import _pytest.main
import pytest

from . import places, trial
from .reach import path_of

Key = tuple[str, int]
Codes = dict[Key, list[CodeType]]


def _codes(text: str, path: str) -> Codes:
    """Every code in a file, by its name and first line."""
    codes: Codes = defaultdict(list)
    waiting = [trial.compiled(text, path)]
    while waiting:
        code = waiting.pop()
        codes[code.co_qualname, code.co_firstlineno].append(code)
        waiting += [c for c in code.co_consts if isinstance(c, CodeType)]
    return codes


def _own(code: CodeType) -> tuple[Any, ...]:
    """What a code does beside the functions that it makes."""
    constants = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    return code.co_code, constants, code.co_names, code.co_varnames


class Warm:
    """A plugin that lets *work* try changes instead of running the tests.

    Attributes:
        items: the collected tests by their ids.
    """

    def __init__(self, work: Callable[[Warm], None]) -> None:
        self._work = work
        self._early: set[tuple[str, Key]] = set()
        self._functions: dict[str, list[FunctionType]] = defaultdict(list)
        self.items: dict[str, pytest.Item] = {}

    def run(self, files: list[str]) -> None:
        """Collect the files, then go to work."""
        sys.settrace(self._called)
        code = trial.pytest_main(["-s", "-x", *files], [self])
        sys.settrace(None)
        if code:
            sys.exit(f"pytest ended with {code}")

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        path = path_of(frame.f_code)
        if path:
            self._early.add((path, (frame.f_code.co_qualname, frame.f_code.co_firstlineno)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        sys.settrace(None)
        self._session = session
        self.items = {i.nodeid: i for i in session.items}
        gc.unfreeze()  # conftest.py freezes what is there, and a frozen object is in no list
        for function in gc.get_objects():
            if type(function) is FunctionType and (path := path_of(function.__code__)):
                self._functions[path].append(function)
        gc.freeze()
        self._work(self)
        return True

    def notice(self, path: str, text: str, tests: list[str], seconds: float) -> str:
        """Nothing, or how a run of the tests went wrong with *text* in place of the file's."""
        swaps = self._swaps(path, text)
        if swaps is None:
            return _alone(path, text, tests, seconds)
        return trial.forked(lambda: self._run(swaps, tests), seconds)

    def _swaps(self, path: str, text: str) -> list[tuple[FunctionType, CodeType]] | None:
        """New codes for functions; None if that is not all that changes."""
        old, new = _codes(places.source(path).text, path), _codes(text, path)
        if {k: len(c) for k, c in old.items()} != {k: len(c) for k, c in new.items()}:
            return None
        bodies = {"<module>", *_classes(path)}
        for key, code in _changes(old, new):
            if key[0] in bodies or (path, key) in self._early or code is None:
                return None
        swaps = []
        for function in self._functions[path]:
            key = function.__code__.co_qualname, function.__code__.co_firstlineno
            if (
                key not in new
                or len(new[key]) > 1
                or len(new[key][0].co_freevars) != len(function.__code__.co_freevars)
            ):
                return None
            if new[key] != old[key]:
                swaps.append((function, new[key][0]))
        return swaps or None

    def _run(self, swaps: list[tuple[FunctionType, CodeType]], tests: list[str]) -> int:
        for function, code in swaps:
            function.__code__ = code
        session = self._session
        session.items = [self.items[t] for t in tests if t in self.items]
        with contextlib.suppress(session.Failed):
            _pytest.main.pytest_runtestloop(session)
        return trial.FAILED if session.testsfailed else trial.PASSED


def _changes(old: Codes, new: Codes) -> Iterator[tuple[Key, CodeType | None]]:
    """The codes that do something else now; None for the code if it is one of several of that name in that line."""
    for key, codes in old.items():
        if list(map(_own, codes)) != list(map(_own, new[key])):
            yield key, codes[0] if len(codes) == 1 else None


def _classes(path: str) -> set[str]:
    """Qualified names of the bodies of classes."""
    codes = _codes(places.source(path).text, path)
    return {name for (name, _), code in codes.items() if "__qualname__" in code[0].co_names}


def _alone(path: str, text: str, tests: list[str], seconds: float) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        command = [sys.executable, "-m", "tests.mutation.trial", path, file.name, str(seconds), *tests]
        try:
            code = subprocess.run(command, capture_output=True, timeout=10 * seconds + 60).returncode
        except subprocess.TimeoutExpired:
            return "late"
    return f"exit {code}" if code else ""
