"""``paddle.base.wrapped_decorator``: decorators that keep the name and signature of what they decorate."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import contextmanager as signature_safe_contextmanager
from typing import Any

__all__ = ["signature_safe_contextmanager", "wrap_decorator"]


def wrap_decorator(decorator_func: Callable[..., Any]) -> Callable[..., Any]:
    """*decorator_func*, whose results are named as what it decorates."""

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        return functools.wraps(function)(decorator_func(function))

    return wrapped
