"""State of Python and NumPy that a model's file may set; it is restored when the model goes.

``python train.py`` changes a process that ends with it. A sweep asks thousands of points in one process, and no answer
may depend on what was asked before: environment, warnings, NumPy's error state and print options, the limit of
recursion, decimal's context, hooks, streams and handlers of signals are put back here; modes, seeds, flags and other
settings of gradtool by :func:`gradtool.engine.core.state.keep_state`, the working folder by the overlay, modules by
:mod:`.siblings`. What stays is what a model changes inside of installed packages (``np.exp = …``), and threads that it
leaves running.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

import numpy as np

from . import streams

_OF_SYS: Final = ("excepthook", "displayhook", "stdin", "stdout", "stderr")


@contextmanager
def keep() -> Iterator[None]:
    """Give them back as they were."""
    environment = _variables()
    hooks = {name: getattr(sys, name) for name in _OF_SYS}
    depth = sys.getrecursionlimit()
    with warnings.catch_warnings(), np.errstate(), np.printoptions(), _decimal_kept(), _signals_kept():
        try:
            yield
        finally:
            _put_back(environment)
            if streams.are_apart():
                del hooks["stdout"]
            vars(sys).update(hooks)
            sys.setrecursionlimit(depth)


def _variables() -> dict[Any, Any]:
    """The environment as it is held: to read it by its names would say of the model that it depends on all of it."""
    return dict(vars(os.environ)["_data"])


def _put_back(environment: dict[Any, Any]) -> None:
    now = _variables()
    for name in now.keys() - environment.keys():
        del os.environ[os.environ.decodekey(name)]
    for name, value in environment.items():
        if now.get(name) != value:
            os.environ[os.environ.decodekey(name)] = os.environ.decodevalue(value)


def _decimal_kept() -> AbstractContextManager[object]:
    decimal = sys.modules.get("decimal")  # where nobody has imported it, there is nothing yet to be kept
    return nullcontext() if decimal is None else decimal.localcontext()


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ctrl-C ends a sweep, whatever a point did to it; handlers are of the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)
