"""Reductions of the numbers of a row, in LLVM's own language: NumPy's sums and extremes, without a call of NumPy.

NumPy adds up by pairs: up to 128 numbers in eight sums side by side, more of them by halves. Compilers may not reorder
sums, so the vectors are written here. A row's largest number is the same in whichever order it is looked for, with two
exceptions: numbers that are none (any of them is the result) and zeros of both signs (NumPy's own loop is asked then).
"""

from __future__ import annotations

from collections.abc import Collection

LANES = 16
"""Elements that are compared at a time."""

NAMES = ("summed", "largest", "smallest")
"""``summed(row, count)``, and ``largest(row, count, loop of NumPy, its data)``; there is at least one element."""

_HALVES = {8: "<i32 0, i32 2, i32 4, i32 6>", 4: "<i32 0, i32 2>", 2: "<i32 0>"}
_OTHERS = {8: "<i32 1, i32 3, i32 5, i32 7>", 4: "<i32 1, i32 3>", 2: "<i32 1>"}

_SUM = """
define internal {T} @summed.{T}(ptr %row, i64 %n) {{
start:
  %few = icmp ult i64 %n, 8
  br i1 %few, label %rest, label %more
more:
  %many = icmp ugt i64 %n, 128
  br i1 %many, label %halves, label %block
halves:
  %half = lshr i64 %n, 1
  %left = and i64 %half, -8
  %right = sub i64 %n, %left
  %middle = getelementptr {T}, ptr %row, i64 %left
  %a = call {T} @summed.{T}(ptr %row, i64 %left)
  %b = call {T} @summed.{T}(ptr %middle, i64 %right)
  %both = fadd {T} %a, %b
  ret {T} %both
block:
  %eights = and i64 %n, -8
  %first = load <8 x {T}>, ptr %row, align {size}
  br label %head
head:
  %i = phi i64 [ 8, %block ], [ %i.next, %body ]
  %sums = phi <8 x {T}> [ %first, %block ], [ %sums.next, %body ]
  %go = icmp ult i64 %i, %eights
  br i1 %go, label %body, label %together
body:
  %at = getelementptr {T}, ptr %row, i64 %i
  %next = load <8 x {T}>, ptr %at, align {size}
  %sums.next = fadd <8 x {T}> %sums, %next
  %i.next = add i64 %i, 8
  br label %head
together:
{together}  %total = extractelement <1 x {T}> %sums.1, i64 0
  br label %rest
rest:
  %from = phi i64 [ 0, %start ], [ %eights, %together ]
  %begun = phi {T} [ -0.0, %start ], [ %total, %together ]
  br label %rest.head
rest.head:
  %k = phi i64 [ %from, %rest ], [ %k.next, %rest.body ]
  %sum = phi {T} [ %begun, %rest ], [ %sum.next, %rest.body ]
  %rest.go = icmp ult i64 %k, %n
  br i1 %rest.go, label %rest.body, label %done
rest.body:
  %rest.at = getelementptr {T}, ptr %row, i64 %k
  %x = load {T}, ptr %rest.at, align {size}
  %sum.next = fadd {T} %sum, %x
  %k.next = add i64 %k, 1
  br label %rest.head
done:
  ret {T} %sum
}}
"""

_EXTREME = """
define internal {T} @{name}.{T}(ptr %row, i64 %n, i64 %function, i64 %data) {{
start:
  %places = alloca [3 x ptr], align 16
  %counts = alloca [1 x i64], align 16
  %strides = alloca [3 x i64], align 16
  %result = alloca {T}, align 16
  %begun = load {T}, ptr %row, align {size}
  %few = icmp ult i64 %n, {lanes}
  br i1 %few, label %few.head, label %many
few.head:
  %k = phi i64 [ 1, %start ], [ %k.next, %few.body ]
  %one = phi {T} [ %begun, %start ], [ %one.next, %few.body ]
  %few.go = icmp ult i64 %k, %n
  br i1 %few.go, label %few.body, label %found
few.body:
  %few.at = getelementptr {T}, ptr %row, i64 %k
  %x = load {T}, ptr %few.at, align {size}
  %one.better = fcmp {order} {T} %one, %x
  %one.odd = fcmp uno {T} %one, %one
  %one.stays = or i1 %one.better, %one.odd
  %one.next = select i1 %one.stays, {T} %one, {T} %x
  %k.next = add i64 %k, 1
  br label %few.head
many:
  %first = load <{lanes} x {T}>, ptr %row, align {size}
  %first.odd = fcmp uno <{lanes} x {T}> %first, %first
  %last = sub i64 %n, {lanes}
  br label %head
head:
  %i = phi i64 [ {lanes}, %many ], [ %i.next, %body ]
  %best = phi <{lanes} x {T}> [ %first, %many ], [ %best.next, %body ]
  %odd = phi <{lanes} x i1> [ %first.odd, %many ], [ %odd.next, %body ]
  %go = icmp ult i64 %i, %n
  br i1 %go, label %body, label %together
body:
  %over = icmp ugt i64 %i, %last
  %from = select i1 %over, i64 %last, i64 %i
  %at = getelementptr {T}, ptr %row, i64 %from
  %v = load <{lanes} x {T}>, ptr %at, align {size}
  %better = fcmp {order} <{lanes} x {T}> %best, %v
  %best.next = select <{lanes} x i1> %better, <{lanes} x {T}> %best, <{lanes} x {T}> %v
  %v.odd = fcmp uno <{lanes} x {T}> %v, %v
  %odd.next = or <{lanes} x i1> %odd, %v.odd
  %i.next = add i64 %i, {lanes}
  br label %head
together:
{together}  %best.one = extractelement <1 x {T}> %best.1, i64 0
  %bits = bitcast <{lanes} x i1> %odd to i{lanes}
  %none = icmp ne i{lanes} %bits, 0
  %best.all = select i1 %none, {T} 0x7FF8000000000000, {T} %best.one
  br label %found
found:
  %known = phi {T} [ %one, %few.head ], [ %best.all, %together ]
  %zero = fcmp oeq {T} %known, 0.0
  br i1 %zero, label %asked, label %done
done:
  ret {T} %known
asked:
  store {T} %begun, ptr %result
  %second = getelementptr {T}, ptr %row, i64 1
  store ptr %result, ptr %places
  %places.1 = getelementptr ptr, ptr %places, i64 1
  store ptr %second, ptr %places.1
  %places.2 = getelementptr ptr, ptr %places, i64 2
  store ptr %result, ptr %places.2
  %others = sub i64 %n, 1
  store i64 %others, ptr %counts
  store i64 0, ptr %strides
  %strides.1 = getelementptr i64, ptr %strides, i64 1
  store i64 {size}, ptr %strides.1
  %strides.2 = getelementptr i64, ptr %strides, i64 2
  store i64 0, ptr %strides.2
  %loop = inttoptr i64 %function to ptr
  %extra = inttoptr i64 %data to ptr
  call void %loop(ptr %places, ptr %counts, ptr %strides, ptr %extra)
  %numpys = load {T}, ptr %result
  ret {T} %numpys
}}
"""

_SIZES = {"float": 4, "double": 8}


def functions(wanted: Collection[tuple[str, str]]) -> list[str]:
    """Definitions of functions, by their names and the types of elements."""
    return [_sum(kind) if name == "summed" else _extreme(name, kind) for name, kind in sorted(wanted)]


def _sum(kind: str) -> str:
    """Neighbours are added, and their sums, until there is one."""
    lines = []
    lanes, sums = 8, "%sums"
    while lanes > 1:
        half = lanes // 2
        for side, at in (("even", _HALVES), ("odd", _OTHERS)):
            lines.append(
                f"  %{side}.{half} = shufflevector <{lanes} x {kind}> {sums}, <{lanes} x {kind}> poison, "
                f"<{half} x i32> {at[lanes]}\n"
            )
        lines.append(f"  %sums.{half} = fadd <{half} x {kind}> %even.{half}, %odd.{half}\n")
        lanes, sums = half, f"%sums.{half}"
    return _SUM.format(T=kind, size=_SIZES[kind], together="".join(lines))


def _extreme(name: str, kind: str) -> str:
    """The halves of a vector are compared, and so on."""
    order = "ogt" if name == "largest" else "olt"
    lines = []
    lanes, best = LANES, "%best"
    while lanes > 1:
        half = lanes // 2
        for side, first in (("low", 0), ("high", half)):
            indices = ", ".join(f"i32 {first + i}" for i in range(half))
            lines.append(
                f"  %{side}.{half} = shufflevector <{lanes} x {kind}> {best}, <{lanes} x {kind}> poison, "
                f"<{half} x i32> <{indices}>\n"
            )
        lines.append(f"  %than.{half} = fcmp {order} <{half} x {kind}> %low.{half}, %high.{half}\n")
        lines.append(
            f"  %best.{half} = select <{half} x i1> %than.{half}, <{half} x {kind}> %low.{half}, "
            f"<{half} x {kind}> %high.{half}\n"
        )
        lanes, best = half, f"%best.{half}"
    together = "".join(lines)
    return _EXTREME.format(T=kind, name=name, lanes=LANES, size=_SIZES[kind], order=order, together=together)
