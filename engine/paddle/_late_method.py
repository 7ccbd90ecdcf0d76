"""Methods that are made when they are first asked for: there are hundreds, and most programs use few of them."""

from __future__ import annotations

from functools import partial
from typing import Any


class LateMethod(partial[Any]):
    """Stands in a class for a method, and calls what makes it when somebody asks for it; that takes its place."""

    def __get__(self, instance: object, owner: type) -> Any:
        member = self()
        for holder in owner.__mro__:
            for name in [name for name, value in vars(holder).items() if value is self]:
                setattr(holder, name, member)
        return member if instance is None else member.__get__(instance, owner)
