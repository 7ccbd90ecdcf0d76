"""Random programs, and an interpreter that is too simple to be wrong.

A program is decoded from a list of steps, each of them four whole numbers: which kind of operator, which of the
variables made so far it takes, and a choice. Every list of steps is a valid program, so shrinking works well.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from gradtool import paddle
from gradtool.engine.executor.lower import _gradient_requests
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.kernels.choice import backend
from gradtool.paddle._dispatch import apply
from tests import sampling

NUMPY = backend("numpy")
LARGE = 3.0
"""Values beyond this go through tanh before anything else, so that no program overflows."""

Step = tuple[int, int, int, int]
_CHOICES = 60


def steps(most: int) -> st.SearchStrategy[list[Step]]:
    """Lists of one to *most* steps, every length about equally often.

    They are decoded from bytes, which are one draw: drawn number by number, lists cost more than the programs that
    are built of them.
    """
    return st.integers(1, most).flatmap(lambda n: st.binary(min_size=4 * n, max_size=4 * n)).map(_decoded)


def _decoded(data: bytes) -> list[Step]:
    a, b, c, d = (data[place::4] for place in range(4))
    return [(i % _CHOICES, j % _CHOICES, k % _CHOICES, n % _CHOICES) for i, j, k, n in zip(a, b, c, d, strict=True)]


def examples(count: int) -> settings:
    """Return settings for one in eight of so many examples, always the same; for all of them with ``--whole``."""
    return settings(
        max_examples=count if sampling.whole else max(10, count // 8),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def try_many(check: Callable[[list[Step], random.Random], None], most: int) -> None:
    """Try as many programs as the command line asks for (``COUNT [SEED]``); say what fails, and on which steps.

    Args:
        check: raises where something is wrong; draws what it needs beside the steps.
        most: steps of a program.
    """
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failed = 0
    for number in range(seed, seed + count):
        draw = random.Random(number)
        recipe = [_step(draw) for _ in range(draw.randint(1, most))]
        paddle.enable_static()
        try:
            check(recipe, draw)
        except Exception as error:
            failed += 1
            print(f"seed {number}: {type(error).__name__}: {str(error).strip()[:300]}")
            print(f"  {recipe}", flush=True)
    print(f"{count} programs, {failed} failed")


def _step(draw: random.Random) -> Step:
    first, second, third, fourth = (draw.randrange(_CHOICES) for _ in range(4))
    return first, second, third, fourth


class Net:
    """A program under construction in the default main program, with the values that it computes.

    Attributes:
        pool: the variables that steps choose from.
        feed: values of the fed variables.
        values: current values by name, parameters included.
        temporaries: the variables that a later step may overwrite.
    """

    def __init__(
        self, recipe: Sequence[Step], *, smooth: bool = False, overwriting: bool = True, blocks: bool = False
    ) -> None:
        self.kinds = _kinds(smooth=smooth, overwriting=overwriting, blocks=blocks)
        self._interpreted: list[Operator] = []
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
        a, b = self.pool[first % len(self.pool)], self.pool[second % len(self.pool)]
        self.kinds[kind % len(self.kinds)](self, a, b, choice)

    def emit(self, type_: str, *operands: Any, counts: Sequence[int] = (), **attrs: Any) -> Variable:
        """Append one operator; its (first) result joins the pool, calmed down if it is large."""
        results = apply(type_, *operands, attrs=attrs, counts=counts)
        first = results[0] if isinstance(results, tuple) else results
        return self.enter_result(*(first if isinstance(first, list) else [first]))

    def enter_result(self, *results: Variable) -> Variable:
        """Let what was just appended join the pool, calmed down if it is large."""
        self.run_new()
        for v in results:
            self.pool.append(v)
            self.temporaries.append(v)
        if any(np.abs(self.values[v.name]).max(initial=0) > LARGE for v in results):
            return self.emit("tanh", results[-1])
        return results[-1]

    def run_new(self) -> None:
        """Bring the values up to date."""
        count = len(self._interpreted)
        if self.block.ops[:count] != self._interpreted:  # the old value of a loop variable is saved before the loop
            self.values = dict(self.start)
            count = 0
        interpret(self.block.ops[count:], self.values)
        self._interpreted = list(self.block.ops)

    def parameter(self, choice: int) -> Variable:
        """One of the parameters."""
        return self.sources[2 + choice % 3]

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
    net.run_new()


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


# -- blocks -----------------------------------------------------------------------------------------------------------


def branch(net: Net, a: Variable, b: Variable, choice: int) -> None:
    """One of two functions of *a*, of parameters and perhaps of *b*; now and then with a branch inside."""
    limit = choice / 30 - 1
    other = b if b.shape == a.shape else net.parameter(choice)

    def condition() -> Any:
        return paddle.less_than(paddle.mean(a), paddle.full([], limit, "float64"))

    def first() -> Any:
        if choice % 5:
            return paddle.tanh(a * paddle.mean(other))
        return paddle.static.nn.cond(condition(), lambda: a * 0.5 + paddle.mean(other), lambda: paddle.sin(a))

    def second() -> Any:
        return paddle.sigmoid(a) * 0.5 if choice % 3 else a * paddle.mean(other * other)

    net.enter_result(paddle.static.nn.cond(condition(), first, second))


def loop(net: Net, a: Variable, b: Variable, choice: int) -> None:
    """Some rounds, none among them, of a function of what it made before and of a parameter."""
    other = b if b.shape == a.shape else net.parameter(choice)
    rounds = paddle.full([], choice % 4, "int64")
    start = a if choice % 2 else paddle.assign(a)  # a loop variable is overwritten

    def body(i: Any, h: Any) -> Any:
        if choice % 7 == 0:
            h = paddle.static.nn.cond(paddle.mean(h) < 0.0, lambda: h + 0.1, lambda: h * paddle.mean(other))
        return i + 1, paddle.tanh(h * 0.7 + paddle.mean(other) * 0.3)

    _, result = paddle.static.nn.while_loop(
        lambda i, h: paddle.less_than(i, rounds), body, [paddle.full([], 0, "int64"), start]
    )
    net.enter_result(result)


def shared(net: Net, a: Variable, b: Variable, choice: int) -> None:
    """A parameter once more."""
    net.emit("elementwise_mul", a, net.scalar(net.parameter(choice)))


BLOCKS: tuple[Kind, ...] = (*SMOOTH, branch, loop, shared, branch, loop)


# -- the interpreter --------------------------------------------------------------------------------------------------

Compute = Callable[[Operator, Sequence[Any]], Sequence[Any]]


def _kinds(*, smooth: bool, overwriting: bool, blocks: bool) -> tuple[Kind, ...]:
    """What the steps of a program are chosen from."""
    ordinary = SMOOTH if smooth else KINDS
    kinds = BLOCKS if blocks else ordinary
    return (*kinds, overwrite) if overwriting else kinds


def on_arrays(op: Operator, operands: Sequence[Any]) -> Sequence[Any]:
    """The results of one operator, by its kernel."""
    attrs = {n: op.attrs[n] for n in op.op.kernel_attrs}
    if op.op.forward is not None:
        attrs["wanted"] = _gradient_requests(op)
    result = op.op.kernel(NUMPY, *operands, **attrs)
    results = list(result) if len(op.outputs) > 1 else [result]
    return [_arrays(r) for r in results]


def _arrays(result: Any) -> Any:
    if result is None:
        return None
    if isinstance(result, (list, tuple)):
        return [*map(np.asarray, result)]
    return np.asarray(result)


def interpret(
    ops: Sequence[Operator],
    values: dict[str, Any],
    held: Mapping[str, Sequence[np.ndarray]] | None = None,
    writes: dict[str, list[np.ndarray]] | None = None,
    compute: Compute = on_arrays,
    finish: Callable[[Variable, Any], Any] = lambda variable, value: value,
    seen: dict[str, int] | None = None,
) -> None:
    """Run *ops* one after another over values by name.

    Args:
        values: changed in place.
        held: for some names the values that are written there, whatever the operators compute.
        writes: filled with everything that is written, by name.
        compute: gives the results of an operator.
        finish: what is written instead of a value.
        seen: how often each name was written before.
    """
    if seen is None:
        with np.errstate(all="ignore") if compute is on_arrays else nullcontext():
            interpret(ops, values, held, writes, compute, finish, {})
        return
    for op in ops:
        if op.type in ("conditional_block", "while"):
            (condition,) = op.input("Cond" if op.type == "conditional_block" else "Condition")
            again = True
            while again and bool(np.asarray(values[condition])):
                interpret(op.attrs["sub_block"].ops, values, held, writes, compute, finish, seen)
                again = op.type == "while"
            continue
        operands: list[Any] = [
            [None if e is None else values.get(e.name) for e in v] if isinstance(v, tuple) else v and values[v.name]
            for v in op.inputs
        ]
        operands += [[] if slot.many else None for slot in op.op.inputs[len(op.inputs) :]]
        if op.type == "select_input":
            chosen = operands[op.op.input_index["X"]][int(np.asarray(operands[op.op.input_index["Mask"]]))]
            results: Sequence[Any] = [chosen]
        else:
            results = compute(op, operands)
        for v, r in zip(op.outputs, results, strict=True):
            for variable, value in zip(v, r, strict=True) if isinstance(v, tuple) else ((v, r),):
                if variable is None:
                    continue
                name = variable.name
                if held is not None and name in held:
                    value = held[name][seen.get(name, 0)]
                    seen[name] = seen.get(name, 0) + 1
                values[name] = finish(variable, value)
                if writes is not None:
                    writes.setdefault(name, []).append(values[name])
