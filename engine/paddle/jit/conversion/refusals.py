"""Refusals of Python that programs cannot hold, with the line."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import source
from gradtool.engine.core.errors import UnsupportedError


class ConversionError(UnsupportedError, TypeError, RuntimeError):
    """Python that no program can hold: a branch, a loop or a value that tensors decide about."""

    code = "GT-E407"


def refused(what: str, hint: str, place: source.Location | None = None) -> ConversionError:
    """The error for the user's line that is being run, or another one.

    Args:
        place: the line; that of the caller's caller, in the user's code, by default.
    """
    place = source.here() if place is None else place
    at = source.short(place)
    return ConversionError(f"{at}: {what}" if at else what, made=source.describe(place), hint=hint)


class Unset:
    """Stands for a name that has no value, or that has none which a program could hold.

    Attributes:
        name: the name.
        why: what to say when somebody reads it; empty for a name that was never assigned to.
        place: the branch or loop that left it so.
    """

    __slots__ = ("name", "place", "why")

    def __init__(self, name: str, why: str = "", place: source.Location = source.NOWHERE) -> None:
        self.name = name
        self.why = why
        self.place = place

    def read(self) -> Any:
        """Raise what reading the name raises."""
        if not self.why:
            raise UnboundLocalError(
                f"cannot access local variable '{self.name}' where it is not associated with a value"
            )
        raise refused(
            f"'{self.name}' is read here, but {self.why}",
            f"give '{self.name}' a value of the same shape and type on every way, before it too",
            self.place,
        )
