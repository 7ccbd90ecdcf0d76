"""A generated function in LLVM's own language.

The text of ``source.py`` says of each name what it is, once, so its types follow line by line. Numba finds them by
inference over all of a function, which takes ten to fifty times as long as everything that LLVM does afterwards; so
its compiler library (llvmlite) is given the function directly.

It is ``void group(char **arrays, intp *numbers)``: where the elements of operands and results begin, and the function
that computes parts on several threads (``pool.py``; zero for one thread) with what these are multiples of, the sizes of
the loops, where the one that has parts begins and ends, and NumPy's loops. ``group_function.py`` has what Python calls.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .rows import NAMES as OF_ROWS
from .rows import functions
from .source import Source

_TYPES = {"float32": "float", "float64": "double", "bool": "i1", "int32": "i32", "int64": "i64"}
_IN_MEMORY = {**_TYPES, "bool": "i8"}
_FLOATS = ("float", "double")
_OVERLOADS = {"float": "f32", "double": "f64"}
_WORD = "i64"

_ARITHMETIC: Mapping[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("fadd", "add"),
    ast.Sub: ("fsub", "sub"),
    ast.Mult: ("fmul", "mul"),
    ast.Div: ("fdiv", ""),
    ast.BitOr: ("", "or"),
    ast.BitAnd: ("", "and"),
}
_COMPARISONS: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.Gt: ("ogt", "sgt"),
    ast.GtE: ("oge", "sge"),
    ast.Lt: ("olt", "slt"),
    ast.LtE: ("ole", "sle"),
    ast.Eq: ("oeq", "eq"),
    ast.NotEq: ("une", "ne"),
}
"""Of floats, and of whole numbers; only ``!=`` holds where one of them is no number, as IEEE says."""

_CASTS = {
    ("double", "float"): "fptrunc",
    ("float", "double"): "fpext",
    ("i64", "i32"): "trunc",
    ("i32", "i64"): "sext",
    **{(i, f): "sitofp" for i in ("i32", "i64") for f in _FLOATS},
}


class _Value(NamedTuple):
    """A number: how it is written, and its type."""

    text: str
    type: str


class _Place(NamedTuple):
    """Place of elements: an address, and their NumPy type."""

    text: str
    dtype: str


def emit(name: str, source: Source, dtypes: Sequence[str]) -> str:
    """The module with the function *name* for *source*, and nothing else to be seen from outside.

    Args:
        dtypes: types of the operands, then of the results.
    """
    tree = ast.parse(source.text).body[0]
    assert isinstance(tree, ast.FunctionDef)
    names = [a.arg for a in tree.args.args]
    arrays, numbers = names[: len(dtypes)], names[len(dtypes) + 1 :]
    body = _Body(source, dict(zip(arrays, dtypes, strict=True)), numbers)
    body.statements(tree.body)
    parameters = ", ".join([*(f"ptr noalias %{n}" for n in (*arrays, "loops")), *(f"i64 %{n}" for n in numbers)])
    inner = ["", f"define internal void @group({parameters}) {{", "start:", *body.rooms, *body.lines, "  ret void", "}"]
    declared = [f"declare {t} @llvm.{f}.{s}({t})" for f in ("sqrt", "fabs") for t, s in _OVERLOADS.items()]
    parts = [*declared, "", *functions(body.rows), *_entry(name, arrays, numbers), *inner]
    return "\n".join(parts) + "\n"


def _entry(name: str, arrays: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """Return the function that is called: all of the group, on several threads if there are; and a part of it."""
    sizes = [n for n in numbers if n not in ("begin", "end")]
    lines = [f"define void @{name}(ptr %arrays, ptr %numbers) {{", "start:"]

    def load(to: str, kind: str, base: str, index: int) -> None:
        lines.append(f"  %{to}.at = getelementptr {kind}, ptr %{base}, i64 {index}")
        lines.append(f"  %{to} = load {kind}, ptr %{to}.at")

    load("share", "ptr", "numbers", 0)
    for number in ("unit", "begin", "end"):
        load(number, "i64", "numbers", 1 if number == "unit" else 2 + numbers.index(number))
    lines += [
        "  %context = alloca [2 x ptr]",
        "  %second = getelementptr ptr, ptr %context, i64 1",
        "  store ptr %arrays, ptr %context",
        "  store ptr %numbers, ptr %second",
        "  %alone = icmp eq ptr %share, null",
        "  br i1 %alone, label %one, label %several",
        "one:",
        "  call void @part(ptr %context, i64 %begin, i64 %end)",
        "  ret void",
        "several:",
        "  call void %share(ptr @part, ptr %context, i64 %begin, i64 %end, i64 %unit)",
        "  ret void",
        "}",
        "",
        "define internal void @part(ptr %context, i64 %begin, i64 %end) {",
        "start:",
    ]
    load("arrays", "ptr", "context", 0)
    load("numbers", "ptr", "context", 1)
    for i, array in enumerate(arrays):
        load(array, "ptr", "arrays", i)
    for number in sizes:
        load(number, "i64", "numbers", 2 + numbers.index(number))
    lines.append(f"  %loops = getelementptr i64, ptr %numbers, i64 {2 + len(numbers)}")
    handed = ", ".join([*(f"ptr %{a}" for a in (*arrays, "loops")), *(f"i64 %{n}" for n in numbers)])
    return [*lines, f"  call void @group({handed})", "  ret void", "}"]


class _Body:
    """The lines of a function, written while its statements are gone through."""

    def __init__(self, source: Source, arrays: Mapping[str, str], numbers: Sequence[str]) -> None:
        self.lines: list[str] = []
        self.rooms = [f"  %{place} = alloca [5 x {_WORD}], align 16" for place in ("places", "strides", "counts")]
        self.block = "start"
        self.count = 0
        self.rows: set[tuple[str, str]] = set()
        """Functions of rows that are called, and types of elements."""
        self.sizes = {name: (dtype, count) for name, dtype, count in source.rooms}
        self.places = {name: _Place(f"%{name}", dtype) for name, dtype in arrays.items()}
        self.places["loops"] = _Place("%loops", "int64")
        self.values = {name: _Value(f"%{name}", _WORD) for name in numbers}
        self.calls: Mapping[str, Callable[..., _Value]] = {
            "at": self.at,
            "address": self.address,
            "choice": self.choice,
            "min": self.least,
            "root": lambda x: self.intrinsic("sqrt", x),
            "abs": lambda x: self.intrinsic("fabs", x),
        }

    def new(self, type_: str, text: str) -> _Value:
        """A number that an instruction gives."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return _Value(f"%t{self.count}", type_)

    # -- statements ------------------------------------------------------------------------------------------------

    def statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, ast.For):
                self.repeated(statement)
            elif isinstance(statement, ast.Assign):
                self.emit_assignment(statement)
            else:
                assert isinstance(statement, ast.Expr)
                assert isinstance(statement.value, ast.Call)
                self.done(statement.value)

    def emit_assignment(self, statement: ast.Assign) -> None:
        (target,) = statement.targets
        assert isinstance(target, ast.Name)
        name = target.id
        if name in self.sizes:
            dtype, count = self.sizes[name]
            self.rooms.append(f"  %{name} = alloca [{count} x {_IN_MEMORY[dtype]}], align 64")
            self.places[name] = _Place(f"%{name}", dtype)
        else:
            self.values[name] = self.value(statement.value)

    def repeated(self, statement: ast.For) -> None:
        """``for i in range(…)``, as a block that asks, one for the body, and one that goes on."""
        assert isinstance(statement.target, ast.Name)
        assert isinstance(statement.iter, ast.Call)
        limits = [self.value(a).text for a in statement.iter.args]
        begin, end, step = [*(["0", *limits] if len(limits) == 1 else limits), "1"][:3]
        self.count += 1
        head, index = f"head{self.count}", f"%k{self.count}"
        body, latch, after = (f"{part}{self.count}" for part in ("body", "latch", "after"))
        self.lines += [
            f"  br label %{head}",
            f"{head}:",
            f"  {index} = phi i64 [ {begin}, %{self.block} ], [ {index}.next, %{latch} ]",
            f"  {index}.more = icmp slt i64 {index}, {end}",
            f"  br i1 {index}.more, label %{body}, label %{after}",
            f"{body}:",
        ]
        self.block = body
        self.values[statement.target.id] = _Value(index, _WORD)
        self.statements(statement.body)
        self.lines += [
            f"  br label %{latch}",
            f"{latch}:",
            f"  {index}.next = add nsw i64 {index}, {step}",
            f"  br label %{head}",
            f"{after}:",
        ]
        self.block = after

    def done(self, call: ast.Call) -> None:
        """``put``, ``loop`` and ``products``, which give nothing."""
        assert isinstance(call.func, ast.Name)
        if call.func.id == "put":
            self.put(*call.args)
            return
        function, data, *rest = [self.value(a).text for a in call.args]
        places, count, steps = rest[:3], rest[3], rest[4:]
        if call.func.id == "products":  # of one row, so nobody asks how far rows lie apart
            self.loop(function, data, places, ["1", count], ["0", "0", "0", *steps])
        else:
            self.loop(function, data, places, [count], steps)

    def put(self, place: ast.expr, index: ast.expr, value: ast.expr) -> None:
        number, pointer, dtype = self.value(value), *self.element(place, index)
        assert number.type == _TYPES[dtype], (number, dtype)
        if dtype == "bool":
            number = self.new("i8", f"zext i1 {number.text} to i8")
        self.lines.append(f"  store {number.type} {number.text}, ptr {pointer}")

    def loop(
        self, function: str, data: str, places: Sequence[str], counts: Sequence[str], strides: Sequence[str]
    ) -> None:
        """Call a loop of NumPy's: ``(char **places, intp *counts, intp *strides, void *data)``."""
        for name, numbers in (("places", places), ("strides", strides), ("counts", counts)):
            for i, number in enumerate(numbers):
                at = self.new("ptr", f"getelementptr i64, ptr %{name}, i64 {i}")
                self.lines.append(f"  store i64 {number}, ptr {at.text}")
        called, extra = (self.new("ptr", f"inttoptr i64 {n} to ptr").text for n in (function, data))
        self.lines.append(f"  call void {called}(ptr %places, ptr %counts, ptr %strides, ptr {extra})")

    # -- expressions -----------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> _Value:
        if isinstance(node, ast.Name):
            return self.values[node.id]
        if isinstance(node, ast.Constant):
            assert isinstance(node.value, int)
            return _Value(str(int(node.value)), "i1" if isinstance(node.value, bool) else _WORD)
        if isinstance(node, ast.BinOp):
            return self.binary(_ARITHMETIC[type(node.op)], self.value(node.left), self.value(node.right))
        if isinstance(node, ast.Compare):
            return self.compared(node)
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        assert isinstance(node, ast.Call), ast.dump(node)
        if isinstance(node.func, ast.Attribute):
            return self.emit_cast(node.func.attr, node.args[0])
        assert isinstance(node.func, ast.Name)
        if node.func.id in ("at", "address"):
            return self.calls[node.func.id](*node.args)
        if node.func.id in OF_ROWS:
            return self.emit_row(node.func.id, *node.args)
        return self.calls[node.func.id](*map(self.value, node.args))

    def binary(self, names: tuple[str, str], a: _Value, b: _Value) -> _Value:
        assert a.type == b.type, (names, a, b)
        return self.new(a.type, f"{names[a.type not in _FLOATS]} {a.type} {a.text}, {b.text}")

    def compared(self, node: ast.Compare) -> _Value:
        a, b = self.value(node.left), self.value(node.comparators[0])
        assert a.type == b.type, (a, b)
        names = _COMPARISONS[type(node.ops[0])]
        compare = f"fcmp {names[0]}" if a.type in _FLOATS else f"icmp {names[1]}"
        return self.new("i1", f"{compare} {a.type} {a.text}, {b.text}")

    def unary(self, node: ast.UnaryOp) -> _Value:
        x = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.new("i1", f"xor i1 {x.text}, true")
        return self.new(x.type, f"fneg {x.type} {x.text}" if x.type in _FLOATS else f"sub {x.type} 0, {x.text}")

    def emit_cast(self, dtype: str, node: ast.expr) -> _Value:
        """``np.float32(…)`` of a number that is written there, or of one that is computed."""
        wanted, number = _TYPES[dtype], _literal(node)
        if number is not None:
            # A float is written by the bits of the double that is the same number.
            bits = struct.unpack(">Q", struct.pack(">d", number))[0] if wanted in _FLOATS else 0
            return _Value(f"0x{bits:016X}" if wanted in _FLOATS else str(number), wanted)
        x = self.value(node)
        if x.type == wanted:
            return x
        return self.new(wanted, f"{_CASTS[x.type, wanted]} {x.type} {x.text} to {wanted}")

    def element(self, place: ast.expr, index: ast.expr) -> tuple[str, str]:
        """The address of an element, and its type of NumPy's."""
        assert isinstance(place, ast.Name)
        base = self.places[place.id]
        at = self.value(index)
        pointer = self.new("ptr", f"getelementptr inbounds {_IN_MEMORY[base.dtype]}, ptr {base.text}, i64 {at.text}")
        return pointer.text, base.dtype

    def at(self, place: ast.expr, index: ast.expr) -> _Value:
        pointer, dtype = self.element(place, index)
        number = self.new(_IN_MEMORY[dtype], f"load {_IN_MEMORY[dtype]}, ptr {pointer}")
        return self.new("i1", f"icmp ne i8 {number.text}, 0") if dtype == "bool" else number

    def address(self, place: ast.expr, index: ast.expr) -> _Value:
        return self.new(_WORD, f"ptrtoint ptr {self.element(place, index)[0]} to i64")

    def emit_row(self, name: str, place: ast.expr, index: ast.expr, *numbers: ast.expr) -> _Value:
        """A sum or an extreme, by a function of its own."""
        pointer, dtype = self.element(place, index)
        kind = _TYPES[dtype]
        self.rows.add((name, kind))
        operands = ", ".join([f"ptr {pointer}", *(f"i64 {self.value(n).text}" for n in numbers)])
        return self.new(kind, f"call {kind} @{name}.{kind}({operands})")

    def choice(self, condition: _Value, x: _Value, y: _Value) -> _Value:
        assert x.type == y.type, (x, y)
        return self.new(x.type, f"select i1 {condition.text}, {x.type} {x.text}, {y.type} {y.text}")

    def least(self, a: _Value, b: _Value) -> _Value:
        return self.choice(self.new("i1", f"icmp slt i64 {a.text}, {b.text}"), a, b)

    def intrinsic(self, name: str, x: _Value) -> _Value:
        return self.new(x.type, f"call {x.type} @llvm.{name}.{_OVERLOADS[x.type]}({x.type} {x.text})")


def _literal(node: ast.expr) -> Any:
    """The number that *node* writes; None where it is computed."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        return float(node.attr)  # np.nan, np.inf
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _literal(node.operand)
        return None if number is None else -number
    return None
