"""Random programs, and an interpreter that is too simple to be wrong.

A program is decoded from a list of steps, each of them four whole numbers: which kind of operator, which of the
variables made so far it takes, and a choice. Every list of steps is a valid program, so shrinking works well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import gradtool as paddle
from gradtool._dispatch import apply
from gradtool.engine.executor.lower import _wanted
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.kernels.backend import backend

NUMPY = backend("numpy")
LARGE = 3.0
"""Values beyond this go through tanh before anything else, so that no program overflows."""

Step = tuple[int, int, int, int]
STEP = st.tuples(*[st.integers(0, 59)] * 4)


def steps(most: int) -> st.SearchStrategy[list[Step]]:
    """Lists of one to *most* steps, every length about equally often."""
    return st.integers(1, most).flatmap(lambda n: st.lists(STEP, min_size=n, max_size=n))


class Net:
    """A program under construction in the default main program, with the values that it computes.

    Attributes:
        pool: the variables that steps choose from.
        feed: values of the fed variables.
        values: current values by name, parameters included.
        temporaries: the variables that a later step may overwrite.
    """

    def __init__(self, recipe: Sequence[Step], *, smooth: bool = False, overwriting: bool = True) -> None:
        self.smooth = smooth
        self.overwriting = overwriting
        self.program: Program = paddle.static.default_main_program()
        self.block = self.program.global_block()
        self.values: dict[str, np.ndarray] = {}
        rng = np.random.default_rng(0)
        self.pool: list[Variable] = []
        for name, shape in (("x", (2, 3)), ("y", (3,))):
            v = paddle.static.data(name, list(shape), "float64")
            v.stop_gradient = False
            self._enter(v, rng.uniform(-1, 1, shape))
        self.feed = dict(self.values)
        for name, shape in (("w", (3, 3)), ("v", (2, 3)), ("b", (1,))):
            p = paddle.static.create_parameter(list(shape), "float64", name=name)
            self._enter(p, rng.uniform(-1, 1, shape))
        self.sources = list(self.pool)
        self.start = dict(self.values)
        self.temporaries: list[Variable] = []
        for step in recipe:
            self._take(step)
        self.loss = self._loss()

    def _enter(self, v: Variable, value: np.ndarray) -> None:
        self.pool.append(v)
        self.values[v.name] = value

    def _take(self, step: Step) -> None:
        kind, first, second, choice = step
        kinds = SMOOTH if self.smooth else KINDS
        if self.overwriting:
            kinds = (*kinds, overwrite)
        a, b = self.pool[first % len(self.pool)], self.pool[second % len(self.pool)]
        kinds[kind % len(kinds)](self, a, b, choice)

    def emit(self, type_: str, *operands: Any, counts: Sequence[int] = (), **attrs: Any) -> Variable:
        """Append one operator; its (first) result joins the pool, calmed down if it is large."""
        made = apply(type_, *operands, attrs=attrs, counts=counts)
        first = made[0] if isinstance(made, tuple) else made
        found = first if isinstance(first, list) else [first]
        interpret(self.block.ops[-1:], self.values)
        for v in found:
            self.pool.append(v)
            self.temporaries.append(v)
        if any(np.abs(self.values[v.name]).max(initial=0) > LARGE for v in found):
            return self.emit("tanh", found[-1])
        return found[-1]

    def scalar(self, v: Variable) -> Variable:
        return self.emit("reduce_mean", v, reduce_all=True)

    def scalar_of_product(self, a: Variable, b: Variable) -> Variable:
        """The sum of the products of corresponding elements."""
        return apply("reduce_sum", apply("elementwise_mul", a, b), attrs={"reduce_all": True})

    def _loss(self) -> Variable:
        """The sum of the means of some variables, the last ones among them."""
        ends = self.pool[-3:]
        parts = [self.scalar(v) for v in ends]
        return self.scalar(self.emit("sum", parts))


# -- kinds of steps ---------------------------------------------------------------------------------------------------

Kind = Callable[[Net, Variable, Variable, int], object]


def unary(type_: str, **attrs: Any) -> Kind:
    return lambda net, a, b, choice: net.emit(type_, a, **attrs)


def binary(type_: str) -> Kind:
    """An elementwise operator; operands that cannot be broadcast meet as a tensor and a number."""

    def take(net: Net, a: Variable, b: Variable, choice: int) -> None:
        net.emit(type_, *(a, b) if _fits(a.shape, b.shape) else (a, net.scalar(b)))

    return take


def _fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


def divide(net: Net, a: Variable, b: Variable, choice: int) -> None:
    net.emit("elementwise_div", a, net.emit("scale", net.emit("sigmoid", net.scalar(b)), bias=0.5))


def matmul(net: Net, a: Variable, b: Variable, choice: int) -> None:
    """``a @ b``, where need be with b transposed, else an outer or a plain product."""
    if a.ndim and b.ndim and a.shape[-1] == b.shape[-2 if b.ndim > 1 else 0]:
        net.emit("matmul_v2", a, b)
    elif a.ndim > 1 and b.ndim > 1 and a.shape[-1] == b.shape[-1]:
        net.emit("matmul_v2", a, b, trans_y=True)
    else:
        net.emit("elementwise_mul", a, net.scalar(b))


def reduce(type_: str) -> Kind:
    def take(net: Net, a: Variable, b: Variable, choice: int) -> None:
        dims = [d for d in range(a.ndim) if choice >> d & 1]
        net.emit(type_, a, dim=dims, reduce_all=not dims, keep_dim=bool(choice & 8))

    return take


def transpose(net: Net, a: Variable, b: Variable, choice: int) -> None:
    net.emit("transpose2", a, axis=list(range(a.ndim))[::-1])


def reshape(net: Net, a: Variable, b: Variable, choice: int) -> None:
    forms = ([-1], [1, -1], [-1, 1], [a.spec.count])
    net.emit("reshape2", a, shape=forms[choice % len(forms)])


def concat(net: Net, a: Variable, b: Variable, choice: int) -> None:
    other = b if b.shape == a.shape else a
    if a.ndim and a.spec.count < 50:
        net.emit("concat", [a, other, a][: 2 + choice % 2], axis=choice % a.ndim)
    else:
        net.emit("stack", [a, other]) if a.ndim < 3 and a.spec.count < 50 else net.scalar(a)


def split(net: Net, a: Variable, b: Variable, choice: int) -> None:
    axes = [d for d in range(a.ndim) if a.shape[d] > 1]
    if axes:
        axis = axes[choice % len(axes)]
        net.emit("split", a, sections=[1, a.shape[axis] - 1], axis=axis, counts=[2])
    else:
        net.emit("assign", a)


def constant(net: Net, a: Variable, b: Variable, choice: int) -> None:
    net.emit("fill_constant", shape=a.shape, value=choice / 60, dtype=6)


def detach(net: Net, a: Variable, b: Variable, choice: int) -> None:
    net.emit("share_data", a).stop_gradient = True


def overwrite(net: Net, a: Variable, b: Variable, choice: int) -> None:
    """Write a function of *a* into a variable of the same shape that holds something else."""
    targets = [v for v in net.temporaries if v.shape == a.shape and not v.stop_gradient]
    if not targets or a.stop_gradient:
        net.emit("scale", a, scale=0.5)
        return
    target = targets[choice % len(targets)]
    type_, attrs = (("tanh", {}), ("scale", {"scale": 0.5, "bias": 0.1}), ("assign", {}))[choice % 3]
    net.block.append_op(type_, {"X": a}, {"Out": target}, attrs)
    interpret(net.block.ops[-1:], net.values)


SMOOTH: tuple[Kind, ...] = (
    unary("tanh"),
    unary("sigmoid"),
    unary("square"),
    unary("scale", scale=-1.5, bias=0.25),
    unary("assign"),
    binary("elementwise_add"),
    binary("elementwise_sub"),
    binary("elementwise_mul"),
    divide,
    matmul,
    reduce("reduce_sum"),
    reduce("reduce_mean"),
    transpose,
    reshape,
    concat,
    split,
    constant,
)
KINDS: tuple[Kind, ...] = (*SMOOTH, unary("relu"), binary("elementwise_max"), binary("elementwise_min"), detach)


# -- the interpreter --------------------------------------------------------------------------------------------------


def interpret(
    ops: Sequence[Operator],
    values: dict[str, np.ndarray],
    held: Mapping[str, Sequence[np.ndarray]] | None = None,
    writes: dict[str, list[np.ndarray]] | None = None,
) -> None:
    """Run *ops* one after another over values by name.

    Args:
        values: changed in place.
        held: for some names the values that are written there, whatever the operators compute.
        writes: filled with everything that is written, by name.
    """
    seen: dict[str, int] = {}
    for op in ops:
        operands: list[Any] = [
            [None if e is None else values[e.name] for e in v] if isinstance(v, tuple) else v and values[v.name]
            for v in op.inputs
        ]
        operands += [[] if slot.many else None for slot in op.op.inputs[len(op.inputs) :]]
        attrs = {n: op.attrs[n] for n in op.op.kernel_attrs}
        if op.op.forward is not None:
            attrs["wanted"] = _wanted(op)
        with np.errstate(all="ignore"):
            result = op.op.kernel(NUMPY, *operands, **attrs)
        results = list(result) if len(op.outputs) > 1 else [result]
        for v, r in zip(op.outputs, results, strict=True):
            for variable, value in zip(v, r, strict=True) if isinstance(v, tuple) else ((v, r),):
                if variable is None:
                    continue
                name = variable.name
                if held is not None and name in held:
                    value = held[name][seen.get(name, 0)]
                    seen[name] = seen.get(name, 0) + 1
                values[name] = np.asarray(value)
                if writes is not None:
                    writes.setdefault(name, []).append(values[name])
