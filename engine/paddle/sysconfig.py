"""``paddle.sysconfig``: where headers and libraries for operators written in C++ would be."""

from __future__ import annotations

from typing import NoReturn

from gradtool.engine.core.errors import NotImplementedHere
from gradtool.paddle import _lazy

__all__ = ["get_include", "get_lib"]


def _refuse(name: str) -> NoReturn:
    raise NotImplementedHere(
        f"paddle.sysconfig.{name} is not implemented in gradtool: it has no headers and libraries to build against",
        hint="write the operator as a subclass of paddle.autograd.PyLayer",
    )


def get_include() -> str:
    """The folder of headers, which gradtool does not have; raises :class:`NotImplementedHere` always."""
    _refuse("get_include")


def get_lib() -> str:
    """The folder of libraries, which gradtool does not have; raises :class:`NotImplementedHere` always."""
    _refuse("get_lib")


__getattr__ = _lazy.refuse(__name__, globals())
