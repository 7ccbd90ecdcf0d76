"""A test that leaves something behind fails with what it left: nobody's result depends on who came before."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core import watch
from gradtool.engine.kernels import choice
from gradtool.paddle.utils import unique_name
from tests.isolation import own_modules, unchanged

Leak = Callable[[pytest.MonkeyPatch], None]

LAYERS = (paddle.nn.Layer, paddle.nn.Linear)
"""Loaded before a module's tests begin: what one of them loads is taken to be as it was."""


class Left:
    """A finder that a test leaves."""

    def find_spec(self, *asked: object) -> None:
        return None


NETS = ModuleType("left")
NETS.__file__ = "/left.py"
NOTHING: Any = None

LEAKS: dict[str, Leak] = {
    r"the backend was <backend \w+>, is <backend numpy>": lambda to: to.setattr(
        choice._Process, "chosen", choice.reference()
    ),
    "who watches was .*, is": lambda to: to.setattr(watch, "noting", watch.noting + 1),
    "the current folder was .*, is '/'": lambda to: to.chdir("/"),
    "the environment: b'LEFT' was None, is b'here'": lambda to: to.setenv("LEFT", "here"),
    r"sys.path was .*, is \['left'": lambda to: to.syspath_prepend("left"),
    r"sys.argv was .*, is \['left'\]": lambda to: to.setattr(sys, "argv", ["left"]),
    "sys.meta_path was": lambda to: to.setattr(sys, "meta_path", [*sys.meta_path, Left()]),
    "hooks of sys was .*<built-in function print>": lambda to: to.setattr(sys, "excepthook", print),
    "the module left": lambda to: to.setitem(sys.modules, "left", NETS),
    "the module gone": lambda to: to.setitem(sys.modules, "gone", NOTHING),
    "Layer.left$": lambda to: to.setattr(LAYERS[0], "left", 1, raising=False),
    "Linear.forward$": lambda to: to.setattr(LAYERS[1], "forward", None),
}
"""What a failure says, and what a test did."""


@pytest.mark.parametrize("said", LEAKS)
def test_what_is_left_is_named_once(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: set[str] = set()
    with (
        unchanged(reported),  # the module's, which is not reported for what its test was
        pytest.raises(pytest.fail.Exception, match=f"^left behind for the tests that come next: {said}"),
        unchanged(reported, every_class=True),
    ):
        LEAKS[said](monkeypatch)


def test_handlers_of_signals_and_the_limit_of_recursion_are_among_it() -> None:
    before, limit = signal.getsignal(signal.SIGTERM), sys.getrecursionlimit()

    def change(handler: Any, depth: int) -> None:
        signal.signal(signal.SIGTERM, handler)
        sys.setrecursionlimit(depth)

    with pytest.raises(pytest.fail.Exception) as caught, unchanged(set()):
        change(signal.SIG_IGN, limit + 1)
    change(before, limit)
    assert f"the limit of recursion was {limit}, is {limit + 1}" in str(caught.value)
    assert "handlers of signals: " in str(caught.value)


def test_what_is_put_back_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nets_of_this_test.py").write_text("WIDTH = 3\n", encoding="utf-8")
    with unchanged(set()), own_modules(), monkeypatch.context() as to:
        to.chdir(tmp_path)
        to.setenv("LEFT", "here")
        to.syspath_prepend(os.curdir)
        __import__("nets_of_this_test")
        assert paddle.to_tensor([1.0, 2.0]).mean() == 1.5  # a method that is loaded late stays on its class


@pytest.mark.parametrize("time", range(2))
def test_names_count_from_0_in_each_test(time: int) -> None:
    assert unique_name.generate("left") == "left_0"
