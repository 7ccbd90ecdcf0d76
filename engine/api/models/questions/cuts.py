"""Where backward is cut and what it returns: options that most questions have."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from ..wording import repeated


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """Selectors of the parameters whose gradients to return, and of the tensors at which gradients are cut.

    Attributes:
        params: all trainable parameters when empty.
    """

    params: tuple[str, ...] = ()
    no_grad: tuple[str, ...] = ()

    @classmethod
    def take(cls, values: dict[str, Any]) -> Self:
        """What a command's *values* ask for, taken out of them."""
        return cls(**taken_out(cls, values))

    @property
    def words(self) -> list[str]:
        """The same as words of a command line."""
        return [*repeated("--no-grad", self.no_grad), *repeated("--params", self.params)]


def taken_out(kind: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    """What a command's *values* say for the fields of a class of options, taken out of them.

    Rows of a file that are to be fed are left there for the request: a function of dynamic mode is called with them
    while the model is loaded.
    """
    names = [f.name for f in fields(kind) if f.name != "backend" or f.name in values]  # see Question.take
    taken = {name: values.pop(name) for name in names}
    if taken.get("feed") is not None:
        from ..sweeps import words

        if words.is_of_rows(taken["feed"]):
            values["fed"], taken["feed"] = taken["feed"], None
    return taken
