"""Sample inputs of operators: what generated tests and the derivation of gradient operators run on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import OperatorError
from .opdef import OpDef, Operand, positional

Fill = Callable[["np.random.Generator"], Any]  # a name: NumPy loads its generators when they are used


class Sample:
    """Operands and attributes for one call.

    Attributes:
        operands: one per input slot; floating-point ones are float64 (tests cast them).
        attrs: every attribute.
        label: tells the sample from its siblings in a test's name.
        smooth: whether the operator is differentiable at and around this sample.
    """

    __slots__ = ("attrs", "label", "op", "operands", "smooth")

    def __init__(
        self, op: OpDef, operands: Sequence[Operand], attrs: dict[str, Any], label: str, smooth: bool = True
    ) -> None:
        self.op = op
        self.operands = list(operands)
        self.attrs = attrs
        self.label = label
        self.smooth = smooth

    def __repr__(self) -> str:
        return f"<sample {self.label}>"


def ints(shape: Sequence[int], high: int, low: int = 0, dtype: str = "int64") -> Fill:
    """Whole numbers from *low* up to but without *high*."""
    return lambda rng: rng.integers(low, high, shape).astype(dtype)


def uniform(low: float, high: float, shape: Sequence[int]) -> Fill:
    """Real numbers between *low* and *high*."""
    return lambda rng: rng.uniform(low, high, shape)


def complexes(shape: Sequence[int]) -> Fill:
    """Complex numbers whose parts lie between 0.2 and 0.9 in size."""

    def fill(rng: np.random.Generator) -> Any:
        parts = rng.uniform(0.2, 0.9, (2, *shape)) * rng.choice([-1.0, 1.0], (2, *shape))
        return np.asarray(parts[0] + 1j * parts[1])

    return fill


def bools(shape: Sequence[int]) -> Fill:
    """Truth values."""
    return lambda rng: rng.integers(0, 2, shape).astype(bool)


def distinct(shape: Sequence[int]) -> Fill:
    """Real numbers no two of which are near each other: for max, topk and sorting."""
    return lambda rng: (rng.permutation(int(np.prod(shape))).reshape(shape) - 0.4) / max(1, int(np.prod(shape)))


def simplex(shape: Sequence[int]) -> Fill:
    """Positive numbers that sum to one along the last axis."""

    def fill(rng: np.random.Generator) -> Any:
        a = rng.uniform(0.2, 1.0, shape)
        return a / a.sum(-1, keepdims=True)

    return fill


def exactly(values: Any, dtype: str | None = None) -> Fill:
    """These values."""
    return lambda rng: np.array(values, dtype=dtype)


class SampleMaker:
    """Makes the samples of one operator: ``make(x=(2, 3), y=ints((3,), 5), axis=1)``.

    Inputs go by the kernel's parameter names: a tuple is the shape of a tensor of random numbers between -1 and 1 that
    keep away from 0 and from ±1 (where activations have kinks), a :data:`Fill` makes something else, a list of either
    fills a list slot. Attributes go by their names; ``smooth=False`` excludes the sample from gradient checks.
    """

    def __init__(self, op: OpDef) -> None:
        self.op = op
        self.count = 0

    def __call__(self, *, smooth: bool = True, **arguments: Any) -> Sample:
        seed = zlib.crc32(f"{self.op.type}/{self.count}".encode())
        self.count += 1
        rng = np.random.default_rng(seed)
        places = {name: i for i, name in enumerate(positional(self.op.kernel)[1:])}
        operands: list[Operand] = [None] * len(self.op.inputs)
        attrs = {}
        words = []
        for name, value in arguments.items():
            if name in places:
                filled = self._fill(value, rng)
                operands[places[name]] = filled
                words.append(f"{name}{_shape_word(filled)}")
            elif name in self.op.defaults:
                attrs[name] = value
                words.append(f"{name}={value}".replace(" ", ""))
            else:
                raise OperatorError(f"{self.op.type}: a sample names {name!r}, neither an input nor an attribute")
        return Sample(self.op, operands, self.op.attributes(attrs), ",".join(words), smooth)

    def _fill(self, value: Any, rng: np.random.Generator) -> Any:
        if callable(value):
            return value(rng)
        if isinstance(value, list):
            return [self._fill(v, rng) for v in value]
        return rng.uniform(0.1, 0.9, value) * rng.choice([-1.0, 1.0], value)


def _shape_word(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(_shape_word(v) for v in value)
    return "x".join(map(str, np.shape(value))) or "()"
