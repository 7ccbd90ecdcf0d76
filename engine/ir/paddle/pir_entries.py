"""The entries of a file in Paddle's new IR: operators by name, operands and results, types and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NoReturn

from ...core.errors import FileFormatError, OperatorError
from ...core.spec import DTYPES, TensorSpec
from ...files.jsontext import shorten_value
from . import attributes

EXPECTED: Final = "a program of Paddle's new IR"

_DTYPES: Final = {d.name: d for d in DTYPES}
_ELEMENTS: Final = {
    "t_bool": "bool",
    "t_f16": "float16",
    "t_bf16": "bfloat16",
    "t_f32": "float32",
    "t_f64": "float64",
    "t_i8": "int8",
    "t_ui8": "uint8",
    "t_i16": "int16",
    "t_i32": "int32",
    "t_i64": "int64",
    "t_c64": "complex64",
    "t_c128": "complex128",
}
_NUMBERS: Final = ("a_bool", "a_i32", "a_i64", "a_str", "a_index", "a_ui8", "a_ui32", "a_ui64")
_FLOATS: Final = ("a_f32", "a_f64")
_OTHER_PLACES: Final = frozenset({"batch_norm", "share_data", "sync_batch_norm"})
"""Operators whose first operand stays what it is: they write others, or nothing (``detach``)."""
UPDATED: Final = {"batch_norm": {1: 1, 2: 2}, "sync_batch_norm": {1: 1, 2: 2}}
"""Operators in place -> results that are operands written anew: the running statistics."""
_TARGETS: Final = {"assign_out": 1}
"""Which operand an operator writes in place, where it is not the first."""
_MOST: Final = 64


def kind_of(told: Any) -> str:
    """The last part of what a type or an attribute is called."""
    name = told.get("#") if isinstance(told, dict) else None
    return name.rpartition(".")[2] if isinstance(name, str) else ""


class Entries:
    """Content of a file, each part checked when it is read.

    Attributes:
        at: the part that is being read, for messages.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.at = ""

    def fail(self, came: str, hint: str | None = None) -> NoReturn:
        raise FileFormatError(f"{self.file}{self.at}", EXPECTED, came, hint=hint)

    def take(self, entry: Any, key: str, kind: type) -> Any:
        value = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fail(f"{shorten_value(key)} is {shorten_value(value)}")
        return value

    def ops_of(self, region: Any) -> list[Any]:
        """The operators of a region's only block."""
        blocks = self.take(region, "blocks", list)
        if len(blocks) != 1:
            self.fail(f"a region of {len(blocks)} blocks")
        return self.take(blocks[0], "ops", list)  # type: ignore[no-any-return]

    def regions_of(self, entry: Any) -> list[Any]:
        """The regions of an operator; most have none."""
        return list(self.take(entry, "regions", list)) if isinstance(entry, dict) and "regions" in entry else []

    def inner_operations(self, entry: Any) -> Iterator[Any]:
        """The operators in the regions of one, and in theirs."""
        todo = self.regions_of(entry)
        while todo:
            for inner in self.ops_of(todo.pop()):
                yield inner
                todo += self.regions_of(inner)

    # -- operators ------------------------------------------------------------------------------------------------

    def name_of(self, entry: Any) -> str:
        """The name of an operator without its dialect and the mark of those that write in place."""
        name: str = self.take(entry, "#", str)
        return name.partition(".")[2].removesuffix("_") or name

    def reads(self, entry: Any) -> list[int]:
        operands = entry.get("I", []) if isinstance(entry, dict) else None
        if not isinstance(operands, list):
            self.fail(f"the operands {shorten_value(operands)}")
        return [self.take(operand, "%", int) for operand in operands]

    def first(self, entry: Any) -> int:
        """The first operand of an operator that has one."""
        reads = self.reads(entry)
        if not reads:
            self.fail(f"the operator {shorten_value(entry['#'])} without an operand")
        return reads[0]

    def makes(self, entry: Any) -> list[int]:
        results = entry.get("O", []) if isinstance(entry, dict) else None
        return [self.take(result, "%", int) for result in (results if isinstance(results, list) else [results])]

    def in_place_operand(self, entry: Any) -> int:
        """The operand that an operator writes in place; 0 where it does not."""
        name, reads = self.name_of(entry), self.reads(entry)
        place = _TARGETS.get(name, 0)
        if not entry["#"].endswith("_") or name in _OTHER_PLACES or place >= len(reads):
            return 0
        return reads[place]

    def all_makes(self, entry: Any) -> list[int]:
        """Return what an operator makes or writes in place."""
        target = self.in_place_operand(entry)
        return [*self.makes(entry), target] if target else self.makes(entry)

    def all_reads(self, entry: Any) -> list[int]:
        """Return what an operator and those in its regions read."""
        return [n for e in (entry, *self.inner_operations(entry)) for n in self.reads(e)]

    def only_result(self, entry: Any) -> Any:
        results = self.take(entry, "O", list)
        if len(results) != 1:
            self.fail(f"an operator with {len(results)} results in the place of one")
        return results[0]

    def arguments(self, region: Any) -> list[int]:
        """The numbers of what a region is given: below 0."""
        (block,) = self.take(region, "blocks", list)[:1] or [None]
        numbers = [self.take(told, "#", int) for told in self.take(block, "args", list)]
        if any(n >= 0 for n in numbers):
            self.fail(f"a region is given the values {shorten_value(numbers)}")
        return numbers

    # -- types and attributes -------------------------------------------------------------------------------------

    def stops(self, entry: Any, place: int) -> bool:
        """Return whether no gradient flows into a result."""
        told = self.attrs(entry, "OA").get("stop_gradient", ())
        return bool(told[place]) if isinstance(told, tuple) and place < len(told) else False

    def specs(self, kind: Any) -> list[TensorSpec]:
        """The specs of a result: one, those of a list, or none for what is not there."""
        if kind_of(kind) == "t_vec":
            parts = kind.get("D")
            if not isinstance(parts, list):
                self.fail(f"the type {shorten_value(kind)}")
            return [spec for part in parts for spec in self.specs(part)]
        spec = self.spec(kind)
        return [] if spec is None else [spec]

    def spec(self, kind: Any) -> TensorSpec | None:
        """The shape and type of a tensor; None for what is not there."""
        if not isinstance(kind, dict) or kind_of(kind) in ("NULL", ""):
            return None
        told = kind.get("D")
        if (
            kind_of(kind) in ("t_dtensor", "t_dense_tensor_array", "t_srows")
            and isinstance(told, list)
            and len(told) >= 2
        ):
            name = _ELEMENTS.get(kind_of(told[0]))
            dims = told[1]
            known = isinstance(dims, list) and len(dims) <= _MOST and all(type(d) is int and d >= -1 for d in dims)
            if name is not None and known:
                return TensorSpec(dims, name)
        self.fail(f"the type {shorten_value(kind)}")

    def attrs(self, entry: Any, key: str = "A") -> dict[str, Any]:
        held: dict[str, Any] = {}
        for attr in self.take(entry, key, list) if key in entry else ():
            held[self.take(attr, "N", str)] = self.attribute(self.take(attr, "AT", dict), 0)
        return held

    def attribute(self, told: Any, depth: int) -> Any:
        """An attribute's value: a number, a text, or a tuple of them."""
        kind, content = kind_of(told), told.get("D", told.get("VD")) if isinstance(told, dict) else None
        if depth > 8:
            self.fail("attributes nested too deeply")
        if kind in _NUMBERS and isinstance(content, (bool, int, str)):
            return content
        if kind in _FLOATS:
            return self.real(kind, content)
        if kind in ("a_dtype", "a_layout") and isinstance(content, str):
            return content
        if kind == "a_intarray" and isinstance(content, list) and all(type(n) is int for n in content):
            return tuple(content)
        if kind == "a_array" and isinstance(content, list):
            return tuple([self.attribute(entry, depth + 1) for entry in content])
        if kind == "a_scalar" and isinstance(content, dict):
            return self.attribute(content, depth + 1)
        return None if kind == "a_place" else str(shorten_value(content))

    def real(self, kind: str, content: Any) -> float:
        """A number; those of single precision as the shortest that means them."""
        if isinstance(content, str):
            content = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}.get(content.lower())
        if not isinstance(content, (int, float)) or isinstance(content, bool):
            self.fail(f"the number {shorten_value(content)}")
        return attributes.single(content) if kind == "a_f32" else float(content)

    def code(self, name: Any) -> int:
        """The number of a data type by its name."""
        if str(name).lower().startswith("undefined"):
            return -1
        if name not in _DTYPES:
            raise OperatorError(f"the data type {name!r} is none of gradtool's.")
        return _DTYPES[name].code
