"""Functions registered with :mod:`atexit`: they run when the script is done, as under ``python train.py``.

It is part of the script: it may write files, or compute, and none of that is to happen after the answer.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ..core import source
from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from .calls import Stopped
from .users_code import call

Registered = list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]


@contextlib.contextmanager
def run_exit_functions(name: str) -> Iterator[None]:
    """Inside runs the user's code called *name*; at the end, what it has registered, the last one first.

    What libraries register stays until the process ends.
    """
    registered: Registered = []
    register, unregister = atexit.register, atexit.unregister

    def register_own(function: Callable[..., Any], /, *args: Any, **named: Any) -> Callable[..., Any]:
        caller = sys._getframe(1)
        if source.is_ours(caller.f_globals.get("__name__", "")) or source.is_installed(caller.f_code.co_filename):
            return register(function, *args, **named)
        registered.append((function, args, named))
        return function

    def unregister_own(function: Callable[..., Any]) -> None:
        registered[:] = [entry for entry in registered if entry[0] != function]
        unregister(function)

    atexit.register, atexit.unregister = register_own, unregister_own
    try:
        yield
    finally:
        atexit.register, atexit.unregister = register, unregister
        while registered:
            function, args, named = registered.pop()
            with contextlib.suppress(CommandError, GradtoolError, Stopped):  # Python goes on with the next one, too
                call(name, function, *args, **named)
