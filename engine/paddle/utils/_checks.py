"""``paddle.utils.try_import``, ``deprecated``, ``require_version``, ``run_check``."""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.paddle import version

F = TypeVar("F", bound=Callable[..., Any])


class VersionError(UsageError):
    """Another version of Paddle is asked for than the one whose behaviour this is."""


class RemovedError(UsageError, RuntimeError):
    """A function that is marked as removed was called (Paddle raises RuntimeError)."""


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """The module of that name.

    Raises:
        ImportError: it is not installed; *err_msg* says what to do.
    """
    try:
        return importlib.import_module(module_name)
    except ImportError:
        advice = f"Failed importing {module_name}. This likely means that some paddle modules require additional "
        advice += "dependencies that have to be manually installed (usually with `pip install " + module_name + "`). "
        raise ImportError(err_msg or advice) from None


def deprecated(update_to: str = "", since: str = "", reason: str = "", level: int = 0) -> Callable[[F], F]:
    """A decorator for functions that are going to be removed.

    Args:
        update_to: what to call instead.
        since: the version that says so.
        reason: why.
        level: 0 and 1 warn when the function is called, 2 raises an error then.
    """

    def mark(function: F) -> F:
        parts = [f'API "{function.__module__}.{function.__qualname__}" is deprecated']
        parts.append(f" since {since}" if since else "")
        parts.append(", and will be removed in future versions.")
        parts.append(f' Please use "{update_to}" instead.' if update_to else "")
        parts.append(f"\n    Reason: {reason}" if reason else "")
        text = "".join(parts)

        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            if level == 2:
                raise RemovedError(text)
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return function(*args, **named)

        return call  # type: ignore[return-value]

    return mark


_FORM = r"\d+(\.\d+){0,3}"


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Raise :class:`VersionError` unless Paddle's version whose behaviour gradtool has lies between them.

    Raises:
        ArgumentTypeError: a version that is no string (a TypeError).
        UsageError: a string that is no version (a ValueError).
    """
    for text, what in ((min_version, "min_version"), (max_version, "max_version")):
        if text is None and what == "max_version":
            continue
        if not isinstance(text, str):
            raise ArgumentTypeError(f"The type of '{what}' in require_version must be str, but received {type(text)}.")
        if not re.fullmatch(_FORM, text):
            raise UsageError(
                f"The value of '{what}' in require_version must be in format '{_FORM}', like '1.5.2.0', but received "
                f"{text}"
            )
    installed = version.full_version
    if max_version is not None and not _numbers(min_version) <= _numbers(installed) <= _numbers(max_version):
        raise VersionError(
            f"VersionError: PaddlePaddle version in [{min_version}, {max_version}] required, but {installed} installed."
        )
    if _numbers(installed) < _numbers(min_version):
        raise VersionError(
            f"VersionError: PaddlePaddle version {min_version} or higher is required, but {installed} installed, "
            f"please upgrade your PaddlePaddle to {min_version} or other higher version."
        )


def _numbers(text: str) -> list[int]:
    parts = [int(part) for part in text.split(".")]
    return parts + [0] * (4 - len(parts))


def run_check() -> None:
    """Compute a small gradient and say whether it is right."""
    static = state.in_static_mode()
    state.disable_static()
    try:
        weight = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
        paddle.matmul(weight, weight).sum().backward()
        right = weight.grad.tolist() == [[7.0, 11.0], [9.0, 13.0]]
    finally:
        if static:
            state.enable_static()
    print("PaddlePaddle works well on 1 CPU." if right else "The gradient of a matrix product is wrong.")
    if right:
        print("PaddlePaddle is installed successfully! (gradtool computes in its place.)")
