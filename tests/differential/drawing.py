"""What rows draw their arguments from: operands, numbers, axes, and the text of a call."""

from __future__ import annotations

import random
from typing import Any

import gradtool

FLOATS = ("float32", "float32", "float32", "float32", "float64", "float16")
INTS = ("int64", "int64", "int32", "int32", "uint8", "int8", "int16")
KINDS = {
    "float": FLOATS,
    "number": (*FLOATS, *FLOATS, *INTS),
    "any": (*FLOATS, *FLOATS, *INTS, "bool", "bool", "complex64"),
    "int": INTS,
    "index": ("int64", "int64", "int64", "int32"),
}
PRONE = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, float("nan"), float("inf"), float("-inf"), 1e-30, -1e-30, 1e4, -1e4)
"""Where derivatives have poles, kinks and overflows."""
TENSOR_METHODS = frozenset(n for n in dir(gradtool.paddle.Tensor) if not n.startswith("_"))
OMIT: Any = object()
"""An argument that is left to its default."""


class Operand(str):
    """The name of a tensor in a program, and what is true of it."""

    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, name: str, shape: tuple[int, ...], dtype: str) -> Operand:
        operand = cls(name)
        operand.shape, operand.dtype = shape, dtype
        return operand

    @property
    def rank(self) -> int:
        return len(self.shape)


class Draw:
    """Lines of one program, drawn call by call from a source of random numbers."""

    def __init__(self, source: random.Random, static: bool) -> None:
        self.source = source
        self.static = static
        self.lines: list[str] = []
        self.leaves: list[Operand] = []
        self.pool: list[Operand] = []
        """Results of earlier calls."""
        self.inputs = 0

    # Plain things.

    def chance(self, probability: float) -> bool:
        return self.source.random() < probability

    def of(self, *choices: Any) -> Any:
        return self.source.choice(choices)

    def maybe(self, value: Any, probability: float = 0.5) -> Any:
        return value if self.chance(probability) else OMIT

    def count(self, low: int, high: int) -> int:
        return self.source.randint(low, high)

    def number(self) -> float:
        """A literal of Python: mostly an ordinary number, of either type."""
        if self.chance(0.1):
            return float(self.of(0.0, float("nan"), float("inf"), -1.0))
        return self.of(2, 1, 0.5, -1.5, 3.0, -2, 0, 0.25)

    def size(self) -> int:
        return self.of(1, 1, 2, 2, 2, 3, 3, 4, 0) if self.chance(0.5) else self.count(1, 4)

    def shape(self, low: int = 0, high: int = 4) -> tuple[int, ...]:
        return tuple(self.size() for _ in range(self.count(low, high)))

    def fitting(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts with `shape`, now and then one that does not."""
        if self.chance(0.03):
            return self.shape()
        if self.chance(0.4):
            return shape
        out = [1 if self.chance(0.3) else n for n in shape]
        return tuple(out[self.count(0, len(out)) :] if self.chance(0.5) else out)

    def axis(self, x: Operand) -> int:
        """An axis of `x`, counted from either end, now and then one too far."""
        reach = max(x.rank, 1)
        if self.chance(0.02):
            return reach
        return self.count(-reach, reach - 1)

    def axes(self, x: Operand) -> Any:
        """What ``axis=`` takes: None, one, or several."""
        if self.chance(0.25):
            return self.of(None, OMIT)
        if self.chance(0.5) or not x.rank:
            return self.axis(x)
        chosen = self.source.sample(range(x.rank), self.count(1, x.rank))
        return [a - x.rank if self.chance(0.3) else a for a in chosen]

    def split(self, size: int) -> list[int]:
        """Lengths that add up to `size`."""
        cut = self.count(0, size)
        return [cut, size - cut]

    # Operands.

    def dtype(self, kind: str) -> str:
        return str(self.of(*KINDS[kind])) if kind in KINDS else kind

    def tensor(
        self,
        shape: Any = None,
        kind: str = "float",
        values: str = "any",
        grad: bool = True,
        fresh: bool = False,
        low: int = 0,
        high: int = 4,
    ) -> Operand:
        """An operand: a result that fits, or a new one. `low` and `high` bound the rank where `shape` is not said."""
        choices = [x for x in self.pool if fits(x, shape, kind, low, high)]
        if choices and values == "any" and not fresh and self.chance(0.8):
            return self.of(*choices[-2:])
        drawn = self.shape(low, high) if shape is None else tuple(shape)
        return self.leaf(drawn, self.dtype(kind), values, grad)

    def leaf(self, shape: tuple[int, ...], dtype: str, values: str = "any", grad: bool = True) -> Operand:
        name = Operand.of(f"x{self.inputs}", shape, dtype)
        self.inputs += 1
        count = 1
        for n in shape:
            count *= n
        numbers = ", ".join(
            self.element(dtype, values, special) for special in [self.chance(0.25)] for _ in range(count)
        )
        differentiable = grad and dtype[:2] in ("fl", "co") and self.chance(0.9)
        extra = ", grad=True" if differentiable else ""
        if self.static and shape and self.chance(0.2):
            extra += f", unknown={sorted({0, self.count(0, len(shape) - 1)} if self.chance(0.3) else {0})}"
        self.lines.append(f'{name} = tensor("{dtype}", {list(shape)}, [{numbers}]{extra})')
        if differentiable:
            self.leaves.append(name)
        return name

    def element(self, dtype: str, values: str, special: bool) -> str:
        """One number as text. `values` names a domain; ``index:N`` is for what is looked up in N rows."""
        domain, _, bound = values.partition(":")
        if domain == "index":
            rows = int(bound)
            return str(self.count(0, max(rows - 1, 0)) if self.chance(0.97) else self.count(-rows - 1, rows + 1))
        if dtype == "bool":
            return str(self.chance(0.5))
        if dtype == "uint8":
            return str(self.count(0, 5))
        if dtype.startswith("int"):
            return str(self.count(1, 4) if domain != "any" else self.count(-3, 5))
        if dtype.startswith("complex"):
            return f"{self.ordinary(domain)}{self.ordinary(domain):+}j"
        if special and domain in ("any", "positive"):
            number = self.of(*PRONE)
            return repr(abs(number) if domain == "positive" else number)
        return repr(self.ordinary(domain))

    def ordinary(self, domain: str) -> float:
        spans = {"unit": (0.01, 0.99), "positive": (0.1, 3.0), "sign": (0, 0)}
        if domain == "sign":
            return self.of(1.0, -1.0)
        low, high = spans.get(domain, (-3.0, 3.0))
        return round(self.source.uniform(low, high), 2)

    # Text.

    def call(self, name: str, *args: Any, **named: Any) -> str:
        """A call of ``paddle.NAME``, or of the method of its first operand where there is one."""
        texts = [text(a) for a in args]
        keywords = [f"{k}={text(v)}" for k, v in named.items() if v is not OMIT]
        if args and isinstance(args[0], Operand) and name in TENSOR_METHODS and self.chance(0.35):
            return f"{args[0]}.{name}({', '.join([*texts[1:], *keywords])})"
        return f"paddle.{name}({', '.join([*texts, *keywords])})"

    def line(self, name: str, expression: str) -> str:
        self.lines.append(f"{name} = {expression}")
        return name


def fits(x: Operand, shape: Any, kind: str, low: int, high: int) -> bool:
    if x.dtype not in KINDS.get(kind, (kind,)):
        return False
    return low <= x.rank <= high if shape is None else x.shape == tuple(shape)


def text(value: Any) -> str:
    """A literal; operands in lists stand by their names."""
    if isinstance(value, Operand):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(text(v) for v in value)}]"
    if isinstance(value, tuple):
        return f"({', '.join(text(v) for v in value)}{',' if len(value) == 1 else ''})"
    return repr(value)


class Code(str):
    """Text that stands in a call as it is."""

    def __repr__(self) -> str:
        return str(self)
