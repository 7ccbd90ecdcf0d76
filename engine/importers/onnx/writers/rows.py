"""The table of rows: type of an operator -> a function that writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ....core.spec import DType
from ....ir.variable import Variable
from ..writing import OnnxCall

Row = Callable[[Any], Any]

TABLE: dict[str, Row] = {}

IMAGES = frozenset({"X", "Out", "Input", "Output", "Out@GRAD", "Output@GRAD", "X@GRAD", "Input@GRAD"})
"""Slots of operators of images in which channels stand last where the layout says so."""


def writes(*types: str) -> Callable[[Row], Row]:
    """Have the function below write operators of these types."""

    def register(function: Row) -> Row:
        TABLE.update(dict.fromkeys(types, function))
        return function

    return register


def writes_images(*types: str) -> Callable[[Row], Row]:
    """Have the function below write operators of these types; it always sees channels in front, as nodes want them."""

    def register(function: Row) -> Row:
        def row(c: OnnxCall) -> Any:
            if not str(c.attrs.get("data_format", "")).endswith("C"):
                return function(c)
            made = function(ChannelsFirst(c))
            slots = [slot.name for slot in c.op.op.outputs]
            by_slot = made if isinstance(made, dict) else {"Out" if "Out" in slots else slots[0]: made}
            return {s: turn_back(c, s, value) if s in IMAGES else value for s, value in by_slot.items()}

        TABLE.update(dict.fromkeys(types, row))
        return function

    return register


def turn_back(c: OnnxCall, slot: str, value: str) -> str:
    """An image with its channels behind again."""
    v = c.result(slot)
    rank = 4 if v is None else len(v.shape)
    return c.w.node("Transpose", value, perm=[0, *range(2, rank), 1])


class Turned:
    """A variable with its channels in front, as far as rows look at variables."""

    def __init__(self, name: str, shape: tuple[int, ...], dtype: DType) -> None:
        self.name, self.shape, self.dtype = name, shape, dtype


class ChannelsFirst(OnnxCall):
    """An operator whose images have their channels last, seen as if they stood in front."""

    def __init__(self, c: OnnxCall) -> None:
        super().__init__(c.w, c.op)
        self.attrs = {**c.attrs, "data_format": "NCHW"}
        self._turned: dict[str, Variable] = {}

    def var(self, slot: str) -> Variable:
        v = super().var(slot)
        if slot not in IMAGES:
            return v
        if slot not in self._turned:
            rank = len(v.shape)
            value = self.w.node("Transpose", self.w.value(v), perm=[0, rank - 1, *range(1, rank - 1)])
            shape = (v.shape[0], v.shape[-1], *v.shape[1:-1])
            self._turned[slot] = cast(Variable, Turned(value, shape, v.dtype))
        return self._turned[slot]

    def result(self, slot: str = "Out") -> Variable | None:
        v = super().result(slot)
        if v is None or slot not in IMAGES:
            return v
        return cast(Variable, Turned(v.name, (v.shape[0], v.shape[-1], *v.shape[1:-1]), v.dtype))
