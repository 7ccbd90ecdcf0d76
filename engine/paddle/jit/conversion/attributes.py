"""Attributes that functions called in a branch or a loop change: a program knows nothing of them."""

from __future__ import annotations

from .refusals import refused
from .tracing import current


class Attributes:
    """Attributes of the layers and objects of the trace under way, at one time.

    Args:
        known: attributes that the rewriting takes care of, as ``self.state``.
    """

    def __init__(self, known: tuple[str, ...]) -> None:
        trace = current()
        owners = [] if trace is None else trace.owners()
        self._fields = [(owner, dict(vars(owner))) for owner in owners]
        self._known = {"_built", *(name.rpartition(".")[2] for name in known if "." in name)}

    def check(self) -> None:
        """Raise where something else has changed.

        Raises:
            ConversionError: a function that was called has set an attribute.
        """
        for owner, before in self._fields:
            now = vars(owner)
            for name in dict.fromkeys((*before, *now)):
                if now.get(name, before) is not before.get(name, now) and name not in self._known:
                    raise refused(
                        f"a function that is called where a tensor decides sets '{name}' of a {type(owner).__name__}",
                        "set it in the branch or loop itself, or return the value",
                    )
