"""Calls that run the user's code without recording it: no tensor that they were given needs a gradient, or none may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from ...core.records import dataclass
from ...core.source import Location

V = TypeVar("V")
"""A value: what a tensor holds between two writes."""


@dataclass(frozen=True, slots=True)
class EnclosedCall(Generic[V]):
    """One such call.

    Attributes:
        kind: a key of :data:`ADVICE`.
        name: what the user calls it by: a function, or the class whose ``apply`` is called.
        inputs: the tensors that it was given.
    """

    kind: str
    name: str
    inputs: tuple[V, ...]

    @property
    def is_mode(self) -> bool:
        """Return whether it is a mode that the program is in, whatever tensors need."""
        return self.kind == "inference_mode"

    @property
    def short(self) -> str:
        """The reason in a few words, for a table."""
        if self.is_mode:
            return f"made under {self.name}"
        return f"no input of {self.name} needs a gradient" if self.inputs else f"{self.name} has no tensor input"

    def sentence(self, subject: str, at: Location) -> str:
        """The reason in one sentence, about the tensor that people call *subject*."""
        line = f" at line {at[0][1]}" if at else ""
        if self.is_mode:
            return f"what {self.name}(){line} covers has no way back to {subject}, and neither has a clone of it"
        why = "none of its tensor inputs needs one" if self.inputs else "it has no tensor input"
        return f"{self.name}{line} passes no gradient to {subject}: {why}"

    def advice(self, name_of: Callable[[V], str]) -> str:
        """The change of the script that connects the gradient.

        Args:
            name_of: what people call an input; empty where they have no name for it.
        """
        if self.is_mode:
            return _OUTSIDE
        names = [n for n in map(name_of, self.inputs) if n]
        leave, need = ADVICE[self.kind]
        texts = [leave.format(name=self.name)]
        if self.inputs:
            texts.append(need.format(name=self.name, input=names[0] if names else "an input"))
        return ", or ".join(texts)


_OUTSIDE = "compute it outside inference_mode(): a clone() made afterwards does not bring the gradient back"

ADVICE = {
    "checkpoint": ("pass use_reentrant=False to it", "call requires_grad_() on {input}"),
    "Function": (
        "pass it to {name}.apply as a tensor of its own",
        "call requires_grad_() on {input} if {name}.backward computes its gradient",
    ),
    "recompute": ("pass use_reentrant=False to it", "set {input}.stop_gradient = False"),
    "PyLayer": (
        "pass it to {name}.apply as a Tensor of its own",
        "set {input}.stop_gradient = False if {name}.backward computes its gradient",
    ),
}
"""By kind of call: what to do without touching its inputs, and what to do with the first of them."""
