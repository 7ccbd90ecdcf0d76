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
        names = [f.name for f in fields(cls) if f.name != "backend" or f.name in values]  # see Question.take
        return cls(**{name: values.pop(name) for name in names})

    @property
    def words(self) -> list[str]:
        """The same as words of a command line."""
        return [*repeated("--no-grad", self.no_grad), *repeated("--params", self.params)]
