"""Python's own functions that take paths, as they were before any of them was exchanged."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from . import native, write_audit

_READS = ("stat", "lstat", "access", "readlink", "listxattr", "getxattr", "statvfs", "pathconf")
_CHANGES = ("chmod", "utime", "truncate", "setxattr", "removexattr", "chown", "lchown", "lchmod", "chflags", "lchflags")
READING = tuple([n for n in _READS if hasattr(os, n)])
CHANGING = tuple([n for n in _CHANGES if hasattr(os, n)])
MAKING = tuple([n for n in ("mkfifo", "mknod") if hasattr(os, n)])
BY_NUMBER = {n: of for n, of in (("fchmod", "chmod"), ("fchown", "chown")) if hasattr(os, n)}
"""Functions of descriptors, and those that take paths and do the same."""
OTHERS = (
    *("open", "mkdir", "remove", "unlink", "rmdir", "rename", "replace", "symlink", "link"),
    *("listdir", "scandir", "chdir", "getcwd"),
)
_OPENS = (("builtins", "open"), ("io", "open"), ("tarfile", "bltn_open"), ("bz2", "_builtin_open"))
"""Where libraries keep Python's ``open``; ``lzma`` takes it from ``builtins``."""

_REPLACED = (*READING, *CHANGING, *MAKING, *BY_NUMBER, *OTHERS)

real = SimpleNamespace(**{name: getattr(os, name) for name in _REPLACED if hasattr(os, name)})
"""The functions as Python has them."""
real_open = builtins.open

Functions = Mapping[tuple[Any, str], Any]
"""Modules and names of functions, and what stands there."""


@contextmanager
def replace_functions(functions: Functions) -> Iterator[None]:
    before = {(module, name): getattr(module, name) for module, name in functions}
    for (module, name), function in functions.items():
        setattr(module, name, function)
    try:
        yield
    finally:
        for (module, name), function in before.items():
            setattr(module, name, function)


@contextmanager
def leave_overlay() -> Iterator[None]:
    """A context in which files are written where they are said to be, also inside an active overlay."""
    functions = {(os, n): function for n, function in vars(real).items()} | dict.fromkeys(opens(), real_open)
    with replace_functions(functions), write_audit.audit(None), native.redirect(None):
        yield


def opens() -> list[tuple[Any, str]]:
    return [(sys.modules[module], name) for module, name in _OPENS if module in sys.modules]


def is_active() -> bool:
    """Return whether files are an overlay's now."""
    return os.open is not real.open


def current_folder() -> str | None:
    """The current folder; None when it has been deleted."""
    try:
        return real.getcwd()  # type: ignore[no-any-return]
    except OSError:
        return None
