"""A program with its backward part, for Paddle or for whatever runs ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.records import dataclass
from .about import About


@dataclass(frozen=True, slots=True)
class Exported:
    """A program for Paddle, or for whatever runs ONNX.

    Attributes:
        program: the bytes of the description, or of the ONNX model, which holds the parameters, too.
        parameters, others: values by name: of parameters, and of the other variables that live in the scope.
        forward, backward: how many operators of each part it has.
        fed: names of what is fed.
        loss: its name; empty without one.
    """

    about: About
    program: bytes
    parameters: Mapping[str, Any]
    others: Mapping[str, Any]
    forward: int
    backward: int
    fed: tuple[str, ...]
    loss: str
