"""Operators that are written otherwise in files than in programs here, or were in former versions of Paddle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Slots = dict[str, list[str]]
Written = tuple[str, Slots, Slots, dict[str, Any]]
"""Type, inputs, outputs and attributes of an operator."""


def renew(type_: str, inputs: Slots, outputs: Slots, attrs: dict[str, Any]) -> Written:
    """The operator as programs have it here."""
    change = _CHANGES.get(type_)
    return (type_, inputs, outputs, attrs) if change is None else change(type_, inputs, outputs, attrs)


_VALUES = ("values", "fp32_values", "fp64_values", "int32_values", "int64_values", "bool_values", "int8_values")


def _one_list_of_values(type_: str, inputs: Slots, outputs: Slots, attrs: dict[str, Any]) -> Written:
    """Before 2.5 values stood in an attribute for each type of elements."""
    lists = [attrs.get(name, ()) for name in _VALUES]
    values = next((held for held in lists if held), ())
    kept = {name: value for name, value in attrs.items() if name not in _VALUES}
    if attrs.get("dtype") == 0:
        values = tuple(map(bool, values)) if isinstance(values, tuple) else values
    return type_, inputs, outputs, {**kept, "values": values}


def _rename_to(name: str) -> Callable[[str, Slots, Slots, dict[str, Any]], Written]:
    return lambda type_, inputs, outputs, attrs: (name, inputs, outputs, attrs)


def _drop_slots(*slots: str) -> Callable[[str, Slots, Slots, dict[str, Any]], Written]:
    """Return a change that drops what Paddle's kernels keep for themselves: it is computed again."""

    def change(type_: str, inputs: Slots, outputs: Slots, attrs: dict[str, Any]) -> Written:
        return type_, {slot: held for slot, held in inputs.items() if slot not in slots}, outputs, attrs

    return change


def _join_gradient(type_: str, inputs: Slots, outputs: Slots, attrs: dict[str, Any]) -> Written:
    """The gradient of a split is a concat, with the attributes of a split."""
    return type_, inputs, outputs, {name: value for name, value in attrs.items() if name not in ("num", "sections")}


_CHANGES: Final[dict[str, Callable[[str, Slots, Slots, dict[str, Any]], Written]]] = {
    "assign_value": _one_list_of_values,
    "set_value": _one_list_of_values,
    "concat": _join_gradient,
    "conditional_block_infer": _rename_to("conditional_block"),
    "einsum_grad": _drop_slots("InnerCache", "x_shape"),
}
"""Type of an operator -> what becomes of it."""
