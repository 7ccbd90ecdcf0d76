"""Reading a rule over arrays and over a tape.

A rule calls ``k.exp(x)`` or writes ``x * y``. Over plain arrays that computes. Over :class:`TracedValue` values it
computes with what they hold and writes down what was done, so that the rule itself can be swept backwards: that is how
the gradient of a gradient operator comes about. What a traced value holds may itself be traced, on an earlier tape,
which gives every further order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, partial
from typing import Any

from ..core.attribute_keys import REMEMBERED, key_of, simple
from ..core.spec import in_use
from ..core.sweep import sweep
from . import rare_types, registry
from .opdef import Array, OpDef, Operand


class Tape:
    """Operators that computed with the values that it watches."""

    __slots__ = ("level", "nodes")
    _levels = 0

    def __init__(self) -> None:
        Tape._levels += 1
        self.level = Tape._levels
        self.nodes: list[TapeNode] = []

    def watch(self, operand: Operand, k: TapeOps) -> Operand:
        """*operand* as seen by a rule that is being recorded."""
        if operand is None:
            return None
        if isinstance(operand, (list, tuple)):
            return [None if v is None else TracedValue(v, self, k) for v in operand]
        return TracedValue(operand, self, k)


class TapeNode:
    """One operator call on a tape."""

    __slots__ = ("args", "attrs", "op", "outs", "wrt")

    def __init__(
        self,
        op: OpDef,
        args: tuple[Operand, ...],
        wrt: list[TracedValue | None],
        outs: list[TracedValue | None],
        attrs: dict[str, Any],
    ) -> None:
        self.op = op
        self.args = args
        self.wrt = wrt
        self.outs = outs
        self.attrs = attrs


class Arithmetic:
    """Arithmetic by operators: with a number it is ``scale`` or ``pow``, with a tensor the elementwise operator.

    The classes that use it have a ``k`` (see :class:`~gradtool.engine.ops.opdef.Namespace`).
    """

    __slots__ = ()

    @property
    def k(self) -> Any:
        """The operators over values of this class."""
        raise TypeError(f"{type(self).__name__} has no operators")

    def __add__(self, other: Any) -> Any:
        return self.k.scale(self, bias=other) if _is_number(other) else self.k.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return self.k.scale(self, bias=other) if _is_number(other) else self.k.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return self.k.scale(self, bias=-other) if _is_number(other) else self.k.sub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.k.scale(self, scale=-1, bias=other) if _is_number(other) else self.k.sub(other, self)

    def __mul__(self, other: Any) -> Any:
        return self.k.scale(self, scale=other) if _is_number(other) else self.k.mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.k.scale(self, scale=other) if _is_number(other) else self.k.mul(other, self)

    def __truediv__(self, other: Any) -> Any:
        return self.k.scale(self, scale=1 / other) if _is_number(other) else self.k.div(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        over = self.k.reciprocal(self)
        return self.k.scale(over, scale=other) if _is_number(other) else self.k.mul(other, over)

    def __pow__(self, exponent: float) -> Any:
        return self.k.power(self, factor=exponent)

    def __neg__(self) -> Any:
        return self.k.scale(self, scale=-1)


class TracedValue(Arithmetic):
    """A value whose uses are written down."""

    __slots__ = ("_k", "tape", "value")
    __array_ufunc__ = None  # `array * traced` is ours to answer

    def __init__(self, value: Array, tape: Tape, k: TapeOps) -> None:
        self.value = value
        self.tape = tape
        self._k = k

    @property
    def k(self) -> TapeOps:
        return self._k

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim  # type: ignore[no-any-return]

    # Comparisons are constants as far as derivatives go, so their results are not traced.

    def __gt__(self, other: Any) -> Any:
        return self.value > _inner(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= _inner(other)

    def __lt__(self, other: Any) -> Any:
        return self.value < _inner(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= _inner(other)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _inner(value: Any) -> Any:
    return value.value if isinstance(value, TracedValue) else value


def flatten(operands: Sequence[Operand], places: Sequence[int]) -> list[Any]:
    """The tensors in the slots *places*, list slots laid out one after another.

    Slots at the end that *operands* leaves out count as empty.
    """
    flat: list[Any] = []
    for i in places:
        value = operands[i] if i < len(operands) else None
        if isinstance(value, (list, tuple)):
            flat.extend(value)
        else:
            flat.append(value)
    return flat


def regroup(flat: Sequence[Any], operands: Sequence[Operand], places: Sequence[int]) -> list[list[Any]]:
    """*flat*, cut into one list per slot: the inverse of :func:`flatten`."""
    groups = []
    at = 0
    for i in places:
        value = operands[i] if i < len(operands) else None
        size = len(value) if isinstance(value, (list, tuple)) else 1
        groups.append(list(flat[at : at + size]))
        at += size
    return groups


def output_places(op: OpDef) -> list[int]:
    """Positions of the outputs whose gradients the rule reads."""
    assert op.rule is not None
    return [r.place for r in op.rule.reads if r.kind == "dout"]


class Ops:
    """Every operator as a method, over arrays of one backend."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = self._method(registry.get_by_name(name))
        setattr(self, name, function)
        return function

    def _method(self, op: OpDef) -> Callable[..., Any]:
        count = len(op.inputs)
        default = self._bind(op, op.defaults)
        bound: dict[Hashable, Callable[..., Any]] = {}

        def compute(*operands: Operand, **keywords: Any) -> Any:
            kernel = default
            if keywords:
                key = key_of(keywords)
                entry = bound.get(key) if key is not None else None
                if entry is None:
                    entry = self._bind(op, {**op.defaults, **{n: v for n, v in keywords.items() if n in op.defaults}})
                    if key is not None and len(bound) < REMEMBERED and all(map(simple, keywords.values())):
                        bound[key] = entry
                kernel = entry
            if len(operands) < count:
                operands += (None,) * (count - len(operands))
            return kernel(*operands)

        return compute

    def _bind(self, op: OpDef, attrs: dict[str, Any]) -> Callable[..., Any]:
        """The best kernel for these attributes, as a function of the operands."""
        if op.forward is None:
            return self._backend.bind(op, attrs)  # type: ignore[no-any-return]
        return partial(op.kernel, self._backend, **{n: attrs[n] for n in op.kernel_attrs})

    def primitive(self, own: Callable[..., Any]) -> Callable[..., Any]:
        """*own*, which a kernel and its rule share, or what stands in for it over these arrays."""
        return self._backend.primitive(own)  # type: ignore[no-any-return]

    @cached_property
    def tracer(self) -> TapeOps:
        """The same operators over traced values."""
        return TapeOps(self._backend)


def _latest_tape(operands: Sequence[Operand]) -> Tape | None:
    """The tape of the highest level on which one of *operands* is traced."""
    latest: Tape | None = None
    for v in operands:
        for e in v if isinstance(v, (list, tuple)) else (v,):
            if isinstance(e, TracedValue) and (latest is None or e.tape.level > latest.level):
                latest = e.tape
    return latest


def _strip(operand: Any, tape: Tape) -> Any:
    """An operand with values in the place of what is traced on *tape*."""
    if isinstance(operand, (list, tuple)):
        return [_strip(v, tape) for v in operand]
    return operand.value if isinstance(operand, TracedValue) and operand.tape is tape else operand


class TapeOps(Ops):
    """Every operator as a method, over arrays or traced values; what is done with the latter is written down."""

    def _method(self, op: OpDef) -> Callable[..., Any]:
        return partial(self.call, op)

    def primitive(self, own: Callable[..., Any]) -> Callable[..., Any]:
        return own  # what stands in for it over arrays writes nothing down

    @property
    def tracer(self) -> TapeOps:
        return self

    def call(self, op: OpDef, /, *operands: Operand, **keywords: Any) -> Any:
        """Compute *op*, and write it down on the latest tape among its operands."""
        attrs = op.attributes(keywords) if keywords or op.defaults else {}
        tape = _latest_tape(operands)
        if len(operands) < len(op.inputs):
            operands += (None,) * (len(op.inputs) - len(operands))
        if tape is None:
            return self._compute(op, operands, attrs)
        inner = [_strip(v, tape) for v in operands]
        result = self.call(op, *inner, **attrs)
        if op.rule is None:
            return result
        results = result if isinstance(result, tuple) else (result,)
        outs = [self._trace(r, tape) for r in results]
        wrt = [v if isinstance(v, TracedValue) and v.tape is tape else None for v in flatten(operands, op.rule.wrt)]
        by_kind = {"in": inner, "out": results}
        args = tuple(None if r.kind == "dout" else by_kind[r.kind][r.place] for r in op.rule.reads)
        node = TapeNode(op, args, wrt, flatten(outs, output_places(op)), attrs)
        node.args = (*args, inner, results)
        tape.nodes.append(node)
        return tuple(outs) if isinstance(result, tuple) else outs[0]

    def _compute(self, op: OpDef, operands: Sequence[Operand], attrs: dict[str, Any]) -> Any:
        """Return the result of *op* for values that are on no tape."""
        return self._backend.run(op, operands, attrs)

    def _trace(self, result: Any, tape: Tape) -> Any:
        """A result of an operator, traced on *tape*, in the same nesting."""
        if isinstance(result, (list, tuple)):
            return [TracedValue(v, tape, self) for v in result]
        return TracedValue(result, tape, self)

    def pull(
        self,
        op: OpDef,
        args: Sequence[Operand],
        operands: Sequence[Operand],
        outputs: Sequence[Operand],
        arriving: Sequence[Any],
        mask: Sequence[bool],
        attrs: dict[str, Any],
    ) -> list[Any]:
        """Gradients of one operator call, flat as in :func:`flatten`, from those that arrive at its outputs."""
        rule = op.rule
        assert rule is not None
        douts = iter(zip(regroup(arriving, outputs, output_places(op)), output_places(op), strict=True))
        filled: list[Operand] = []
        for read, arg in zip(rule.reads, args, strict=False):
            if read.kind != "dout":
                filled.append(arg)
                continue
            group, place = next(douts)
            out = outputs[place]
            many = isinstance(out, (list, tuple))
            if not (rule.takes_none or read.late):
                like = out if many else [out]
                group = [self.zeros_like(o) if g is None else g for g, o in zip(group, like, strict=True)]
            filled.append(group if many else group[0])
        wanted = regroup(mask, operands, rule.wrt)
        grads = rare_types.pull(op, self, filled, wanted, attrs) if in_use else rule(self, filled, wanted, attrs)
        return [g for slot in grads for g in slot]

    def backward(
        self, tape: Tape, seeds: list[tuple[Any, Array]], wrt: Sequence[TracedValue | None]
    ) -> list[Array | None]:
        """Gradients of the recorded computation for *wrt*, given ``(result, gradient)`` pairs."""
        parts: dict[TracedValue, list[Array]] = {}
        for value, gradient in seeds:
            if isinstance(value, TracedValue) and value.tape is tape:
                parts.setdefault(value, []).append(gradient)
        sweep(
            reversed(tape.nodes),
            parts,
            wanted=lambda v: True,
            accumulate=lambda v, terms: self._sum(terms),
            emit=lambda node, arriving, mask: self.pull(
                node.op, node.args[:-2], node.args[-2], node.args[-1], arriving, mask, node.attrs
            ),
        )
        return [self._sum(parts[v]) if v is not None and v in parts else None for v in wrt]

    def _sum(self, terms: list[Array]) -> Array:
        total = terms[0]
        for extra in terms[1:]:
            total = total + extra
        return total


class TapeOver(TapeOps):
    """Every operator over traced values that hold what another namespace computes with, such as tensors."""

    def __init__(self, k: Any) -> None:
        super().__init__(None)
        self._k = k

    def _compute(self, op: OpDef, operands: Sequence[Operand], attrs: dict[str, Any]) -> Any:
        return getattr(self._k, op.name)(*operands, **attrs)
