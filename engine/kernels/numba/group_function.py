"""Function that Python calls for a group: one for all groups, with a table of what to do.

It takes the operands from the registers of a run, sees that they are what the functions of the group were made for,
makes the arrays of the results, calls the functions one after the other, and puts what others read into the registers.
In Python this took longer than the arithmetic of small groups takes. What is computed for a later function of the group
alone has no array: it lies in one block that is there while they run.

What it reads of an array are fields of ``PyArrayObject``, part of NumPy's stable interface, as are the functions that
make arrays; what it calls of Python is its stable interface, too.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

_EMPTY, _ZEROS = 184, 183
"""Places of ``PyArray_Empty`` and ``PyArray_Zeros`` in NumPy's table of functions (``numpy_api.py``)."""

NOTHING, RESULT, ARGUMENT = range(3)
"""What a value that is given is: an object that is there before, an array that is made, an operand."""

ANYHOW, CONTIGUOUS, STRIDED = range(3)
"""How the elements of an operand have to lie."""

ALIGNED = 64
"""Bytes at whose multiples begins what lies in the block."""

_ADDRESSES = ("kind", "nothing", "yes", "no", "retain", "release", "get", "set", "unlock", "lock")
"""What a table begins with: the type of arrays, None, True, False, and functions of Python, the last two of which are
zero where the interpreter's lock is kept."""

_COUNTS = ("wanted", "slots", "most", "made")
"""What follows: how many operands there are, pointers, pointers for one function at most, and arrays that are made."""


class Function(NamedTuple):
    """A function that computes: ``(char **arrays, intp *numbers)``.

    Attributes:
        numbers: the sizes of its loops, and what else it is told; see ``emission.py``.
        owner: what lives as long as it can be called.
    """

    address: int
    numbers: np.ndarray[Any, Any]
    owner: Any = None


class OperandRequirement(NamedTuple):
    """Requirements on an operand.

    Attributes:
        order: how its elements have to lie: somehow, in C order, or so far apart as *strides* say.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: int = ANYHOW
    strides: tuple[int, ...] = ()


class Limit(NamedTuple):
    """An operand of whole numbers from zero on, all of which are smaller than *end*."""

    argument: int
    dtype: np.dtype[Any]
    elements: int
    end: int


class ComputedArray(NamedTuple):
    """An array that is computed.

    Attributes:
        sums: whether it begins with zeros.
        inner: whether only later functions read it.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    sums: bool
    inner: bool


class GroupCall(NamedTuple):
    """Treatment of a group's operands.

    Attributes:
        operands: which of the arguments the functions read.
        stages: each function, and which of the operands and results, counted through, it is given.
        given: kind and number (or object) of each value that others read.
        unlocked: whether other threads of Python run meanwhile.
    """

    arguments: Sequence[OperandRequirement]
    limits: Sequence[Limit]
    operands: Sequence[int]
    results: Sequence[ComputedArray]
    stages: Sequence[tuple[Function, Sequence[int]]]
    given: Sequence[tuple[int, Any]]
    unlocked: bool


class CallRegisters(NamedTuple):
    """The registers of the arguments and of what is given, and those that nothing reads after it."""

    ins: Sequence[int]
    outs: Sequence[int]
    dead: Sequence[int] = ()


def table(call: GroupCall, registers: CallRegisters) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """The numbers that tell *call*, and what must live as long as they are read."""
    outer = [r for r in call.results if not r.inner]
    offsets, block = [], 0
    for r in call.results:
        if r.inner:
            offsets.append((block, _bytes(r) if r.sums else 0))
            block += -(-_bytes(r) // ALIGNED) * ALIGNED
    bytes_ = ComputedArray((block,), np.dtype(np.uint8), False, False)
    arrays = [*outer, bytes_] if offsets else outer
    # Pointers lie in the order of operands, arrays, what lies in the block.
    at, inner = iter(range(len(outer))), iter(range(len(arrays), len(arrays) + len(offsets)))
    places = [next(inner) if r.inner else next(at) for r in call.results]
    count = len(call.operands)
    slots = [*range(count), *(count + p for p in places)]

    python, empty, zeros = _functions()
    most = max(len(which) for _, which in call.stages)
    lock = python[-2:] if call.unlocked else (0, 0)
    parts: list[int] = [id(np.ndarray), id(None), id(True), id(False), *python[:-2], *lock]
    parts += [len(call.arguments), count + len(arrays) + len(offsets), most, len(arrays)]
    for register, a in zip(registers.ins, call.arguments, strict=True):
        parts += [register, id(a.dtype), a.order, len(a.shape), *a.shape]
        if a.order == STRIDED:
            parts += a.strides
    parts.append(len(call.limits))
    for limit in call.limits:
        parts += [limit.argument, limit.dtype.itemsize == 8, limit.elements, limit.end]
    parts += [count, *call.operands]
    for r in arrays:
        parts += [zeros if r.sums else empty, id(r.dtype), len(r.shape), *r.shape]
    parts.append(len(offsets))
    for offset, size in offsets:
        parts += [offset, size]
    parts.append(len(call.stages))
    for function, which in call.stages:
        parts += [function.address, function.numbers.ctypes.data, len(which), *(slots[i] for i in which)]
    parts.append(len(call.given))
    numbers: dict[int, Callable[[Any], int]] = {NOTHING: id, RESULT: places.__getitem__, ARGUMENT: int}
    for register, (kind, value) in zip(registers.outs, call.given, strict=True):
        parts += [register, kind, numbers[kind](value)]
    parts += [len(registers.dead), *registers.dead]
    types = [*(a.dtype for a in call.arguments), *(r.dtype for r in arrays)]
    return np.array(parts, np.int64), [types, [f for f, _ in call.stages], [v for _, v in call.given]]


def _bytes(result: ComputedArray) -> int:
    return int(np.prod(result.shape, dtype=np.int64)) * result.dtype.itemsize


@functools.cache
def _functions() -> tuple[tuple[int, ...], int, int]:
    """Addresses of the functions of Python that a table tells, and those that make arrays."""
    # Where NumPy's headers for C find its table of functions; it has no types.
    from numpy._core import _multiarray_umath as core  # type: ignore[attr-defined]

    python = ctypes.pythonapi
    called = [python.Py_IncRef, python.Py_DecRef, python.PyList_GetItem, python.PyList_SetItem]
    called += [python.PyEval_SaveThread, python.PyEval_RestoreThread]
    capsule = python.PyCapsule_GetPointer
    capsule.restype, capsule.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    entries = ctypes.cast(capsule(core._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    addresses = tuple(ctypes.cast(f, ctypes.c_void_p).value or 0 for f in called)
    return addresses, entries[_EMPTY] or 0, entries[_ZEROS] or 0


class _Fields(ctypes.Structure):
    """``PyArrayObject`` after the head of every object."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("ndim", ctypes.c_int),
        ("dims", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("base", ctypes.c_void_p),
        ("dtype", ctypes.c_void_p),
        ("flags", ctypes.c_int),
    )


_IN_ORDER = 1
"""Of the flags of an array."""


@functools.cache
def header() -> int:
    """The bytes before the fields of an array, the last of which are the address of its type.

    Raises:
        RuntimeError: the fields are others.
    """
    array, size = np.zeros((3, 5)), object.__basicsize__
    fields = _Fields.from_address(id(array) + size)
    expected = (array.ctypes.data, 2, 3, 5, 40, id(array.dtype))
    if (fields.data, fields.ndim, fields.dims[0], fields.dims[1], fields.strides[0], fields.dtype) != expected:
        raise RuntimeError("arrays of another structure")
    if not fields.flags & _IN_ORDER or ctypes.c_void_p.from_address(id(array) + size - 8).value != id(np.ndarray):
        raise RuntimeError("arrays of another structure")
    return size


class _Text:
    """Lines of LLVM's language. Variables lie in memory; LLVM brings them into registers."""

    def __init__(self) -> None:
        self.rooms: list[str] = []
        self.lines: list[str] = []

    def take(self, name: str, kind: str = "i64") -> None:
        """The next number of the table."""
        self.lines += [
            f"  %{name}.at = load ptr, ptr %cursor",
            f"  %{name} = load {kind}, ptr %{name}.at",
            f"  %{name}.after = getelementptr i64, ptr %{name}.at, i64 1",
            f"  store ptr %{name}.after, ptr %cursor",
        ]

    def skip(self, count: str, name: str) -> None:
        """Name the place in the table, and go on after *count* numbers."""
        self.lines += [
            f"  %{name} = load ptr, ptr %cursor",
            f"  %{name}.after = getelementptr i64, ptr %{name}, i64 {count}",
            f"  store ptr %{name}.after, ptr %cursor",
        ]

    def entry(self, name: str, kind: str, base: str, index: str, element: str = "") -> None:
        """Return the entry at *index*."""
        self.lines.append(f"  %{name}.place = getelementptr {element or kind}, ptr %{base}, i64 {index}")
        self.lines.append(f"  %{name} = load {kind}, ptr %{name}.place")

    def set(self, value: str, base: str, index: str) -> None:
        """Put a pointer there."""
        self.lines.append(f"  %{base}.of.{value} = getelementptr ptr, ptr %{base}, i64 {index}")
        self.lines.append(f"  store ptr %{value}, ptr %{base}.of.{value}")

    def unless(self, condition: str, label: str, name: str) -> None:
        """Go to *label* where *condition* does not hold."""
        self.lines.append(f"  %{name} = {condition}")
        self.lines += [f"  br i1 %{name}, label %{name}.held, label %{label}", f"{name}.held:"]

    def text(self, lines: str) -> None:
        self.lines += lines.strip("\n").splitlines()

    @contextmanager
    def loop(self, name: str, count: str) -> Iterator[None]:
        """A loop whose number is *name*."""
        self.rooms.append(f"  %{name}.now = alloca i64")
        self.text(f"""
  store i64 0, ptr %{name}.now
  br label %{name}.head
{name}.head:
  %{name} = load i64, ptr %{name}.now
  %{name}.more = icmp slt i64 %{name}, {count}
  br i1 %{name}.more, label %{name}.body, label %{name}.done
{name}.body:""")
        yield
        self.text(f"""
  %{name}.next = add i64 %{name}, 1
  store i64 %{name}.next, ptr %{name}.now
  br label %{name}.head
{name}.done:""")


def entry(name: str) -> str:
    """The module with the function *name*: ``PyObject *(PyObject *table, PyObject *registers)``.

    It gives True, or False where the operands are others than it is for.
    """
    t, fields = _Text(), header()
    data = str(fields + _Fields.data.offset)
    t.entry("table", "ptr", "self", data, "i8")
    t.lines.append("  store ptr %table, ptr %cursor")
    for part in _ADDRESSES:
        t.take(part, "ptr")
    for part in _COUNTS:
        t.take(part)
    t.text("""
  %arguments = alloca ptr, i64 %wanted
  %pointers = alloca ptr, i64 %slots
  %handed = alloca ptr, i64 %most
  %objects = alloca ptr, i64 %made""")
    _see_arguments(t)
    _see_limits(t, data)
    t.take("operands")
    with t.loop("o", "%operands"):
        t.take("operand")
        t.entry("operand.object", "ptr", "arguments", "%operand")
        t.entry("operand.data", "ptr", "operand.object", data, "i8")
        t.set("operand.data", "pointers", "%o")
    _make_arrays(t, data)
    _lay_out(t)
    _compute(t)
    _give(t)
    t.text("""
otherwise:
  call void %retain(ptr %no)
  ret ptr %no
nowhere:
  ret ptr null
lost:
  %complete = load i64, ptr %m.now""")
    with t.loop("l", "%complete"):
        t.entry("l.object", "ptr", "objects", "%l")
        t.lines.append("  call void %release(ptr %l.object)")
    t.lines.append("  ret ptr null")
    return "\n".join(
        [
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
            f"define ptr @{name}(ptr %self, ptr %registers) {{",
            "start:",
            "  %cursor = alloca ptr",
            *t.rooms,
            *t.lines,
            "}",
            "",
        ]
    )


def _see_arguments(t: _Text) -> None:
    """Each is an array of its shape and type, and lies as it has to."""
    names = ("ndim", "dims", "strides", "dtype", "flags")
    ndim, dims, strides, dtype, flags = (str(header() + getattr(_Fields, f).offset) for f in names)
    with t.loop("a", "%wanted"):
        t.take("a.register")
        t.lines.append("  %a.object = call ptr %get(ptr %registers, i64 %a.register)")
        t.unless("icmp ne ptr %a.object, null", "nowhere", "a.there")
        t.set("a.object", "arguments", "%a")
        t.entry("a.kind", "ptr", "a.object", str(header() - 8), "i8")
        t.unless("icmp eq ptr %a.kind, %kind", "otherwise", "a.array")
        t.take("a.type", "ptr")
        t.entry("a.dtype", "ptr", "a.object", dtype, "i8")
        t.unless("icmp eq ptr %a.dtype, %a.type", "otherwise", "a.typed")
        t.take("a.order")
        t.entry("a.flags", "i32", "a.object", flags, "i8")
        t.text(f"""
  %a.set = and i32 %a.flags, {_IN_ORDER}
  %a.ordered = icmp ne i32 %a.set, 0
  %a.anyhow = icmp ne i64 %a.order, {CONTIGUOUS}""")
        t.unless("or i1 %a.ordered, %a.anyhow", "otherwise", "a.fits")
        t.take("a.rank")
        t.entry("a.ndim", "i32", "a.object", ndim, "i8")
        t.lines.append("  %a.dimensions = zext i32 %a.ndim to i64")
        t.unless("icmp eq i64 %a.dimensions, %a.rank", "otherwise", "a.ranked")
        t.entry("a.dims", "ptr", "a.object", dims, "i8")
        with t.loop("d", "%a.rank"):
            t.take("d.wanted")
            t.entry("d.size", "i64", "a.dims", "%d")
            t.unless("icmp eq i64 %d.size, %d.wanted", "otherwise", "d.sized")
        t.text(f"""
  %a.exact = icmp eq i64 %a.order, {STRIDED}
  %a.steps = select i1 %a.exact, i64 %a.rank, i64 0""")
        t.entry("a.strides", "ptr", "a.object", strides, "i8")
        with t.loop("e", "%a.steps"):
            t.take("e.wanted")
            t.entry("e.stride", "i64", "a.strides", "%e")
            t.unless("icmp eq i64 %e.stride, %e.wanted", "otherwise", "e.apart")


def _see_limits(t: _Text, data: str) -> None:
    """As numbers without a sign, negative ones are the largest."""
    t.take("limits")
    with t.loop("c", "%limits"):
        t.take("c.argument")
        t.take("c.wide")
        t.take("c.count")
        t.take("c.end")
        t.entry("c.object", "ptr", "arguments", "%c.argument")
        t.entry("c.data", "ptr", "c.object", data, "i8")
        t.text("""
  %c.long = icmp ne i64 %c.wide, 0
  br i1 %c.long, label %longs, label %shorts
longs:""")
        with t.loop("w", "%c.count"):
            t.entry("w.number", "i64", "c.data", "%w")
            t.unless("icmp ult i64 %w.number, %c.end", "otherwise", "w.below")
        t.text("""
  br label %limited
shorts:""")
        with t.loop("s", "%c.count"):
            t.entry("s.number", "i32", "c.data", "%s")
            t.lines.append("  %s.wide = sext i32 %s.number to i64")
            t.unless("icmp ult i64 %s.wide, %c.end", "otherwise", "s.below")
        t.text("""
  br label %limited
limited:""")


def _make_arrays(t: _Text, data: str) -> None:
    with t.loop("m", "%made"):
        t.take("m.maker", "ptr")
        t.take("m.dtype", "ptr")
        t.take("m.rank")
        t.skip("%m.rank", "m.dims")
        t.text("""
  call void %retain(ptr %m.dtype)
  %m.ndim = trunc i64 %m.rank to i32
  %m.object = call ptr %m.maker(i32 %m.ndim, ptr %m.dims, ptr %m.dtype, i32 0)""")
        t.unless("icmp ne ptr %m.object, null", "lost", "m.there")
        t.set("m.object", "objects", "%m")
        t.entry("m.data", "ptr", "m.object", data, "i8")
        t.lines.append("  %m.slot = add i64 %operands, %m")
        t.set("m.data", "pointers", "%m.slot")


def _lay_out(t: _Text) -> None:
    """Return the contents of the block, the last of the arrays."""
    t.take("pieces")
    t.text("""
  %first = add i64 %operands, %made
  %last = sub i64 %first, 1""")
    with t.loop("p", "%pieces"):
        t.take("p.offset")
        t.take("p.zeros")
        t.entry("p.block", "ptr", "pointers", "%last")
        t.text("""
  %p.data = getelementptr i8, ptr %p.block, i64 %p.offset
  call void @llvm.memset.p0.i64(ptr %p.data, i8 0, i64 %p.zeros, i1 false)
  %p.slot = add i64 %first, %p""")
        t.set("p.data", "pointers", "%p.slot")


def _compute(t: _Text) -> None:
    """The functions, one after the other; the others' threads may run."""
    t.rooms.append("  %thread = alloca ptr")
    t.text("""
  %locked = icmp eq ptr %unlock, null
  br i1 %locked, label %ready, label %free
free:
  %state = call ptr %unlock()
  store ptr %state, ptr %thread
  br label %ready
ready:""")
    t.take("stages")
    with t.loop("f", "%stages"):
        t.take("f.function", "ptr")
        t.take("f.numbers", "ptr")
        t.take("f.count")
        with t.loop("h", "%f.count"):
            t.take("h.which")
            t.entry("h.data", "ptr", "pointers", "%h.which")
            t.set("h.data", "handed", "%h")
        t.lines.append("  call void %f.function(ptr %handed, ptr %f.numbers)")
    t.text("""
  br i1 %locked, label %computed, label %again
again:
  %state.kept = load ptr, ptr %thread
  call void %lock(ptr %state.kept)
  br label %computed
computed:""")


def _give(t: _Text) -> None:
    """Put what others read into its registers, and nothing into those that nobody reads any more."""
    t.take("given")
    with t.loop("g", "%given"):
        t.take("g.register")
        t.take("g.sort")
        t.take("g.value")
        t.text(f"""
  %g.made = icmp eq i64 %g.sort, {RESULT}
  br i1 %g.made, label %g.new, label %g.old
g.new:""")
        t.entry("g.result", "ptr", "objects", "%g.value")
        t.text(f"""
  br label %g.ready
g.old:
  %g.handed = icmp eq i64 %g.sort, {ARGUMENT}
  br i1 %g.handed, label %g.theirs, label %g.before
g.theirs:""")
        t.entry("g.argument", "ptr", "arguments", "%g.value")
        t.text("""
  br label %g.ready
g.before:
  %g.constant = inttoptr i64 %g.value to ptr
  br label %g.ready
g.ready:
  %g.object = phi ptr [ %g.result, %g.new ], [ %g.argument, %g.theirs ], [ %g.constant, %g.before ]
  call void %retain(ptr %g.object)
  %g.put = call i32 %set(ptr %registers, i64 %g.register, ptr %g.object)""")
    with t.loop("r", "%made"):
        t.entry("r.object", "ptr", "objects", "%r")
        t.lines.append("  call void %release(ptr %r.object)")
    t.take("dead")
    with t.loop("n", "%dead"):
        t.take("n.register")
        t.text("""
  call void %retain(ptr %nothing)
  %n.put = call i32 %set(ptr %registers, i64 %n.register, ptr %nothing)""")
    t.text("""
  call void %retain(ptr %yes)
  ret ptr %yes""")
