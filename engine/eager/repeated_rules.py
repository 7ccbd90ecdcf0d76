"""Gradient rules of passes that are recorded themselves, repeated without asking the rule.

A rule is Python: over recorded tensors each of its operators goes through a namespace, wrappers and attributes, which
costs several times the operator. What it computes depends on nothing but the call, on which gradients are wanted, and
on the shapes and types of its operands, unless it looks at values (a mask, say). So the third time that all of these
are the same, the operators that it computed the second time are recorded at once, by a function written out for them;
a rule that computes with anything that is neither operand nor result is asked every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import generated_code, watch
from ..core.attribute_keys import REMEMBERED
from ..core.identity import identity
from ..core.spec import in_use
from ..kernels.backend import Backend
from ..kernels.choice import when_chosen
from ..ops.opdef import Operand, WrittenRule
from .recipe import BoundOp
from .record import Recorded, RuleOps, lift
from .tape import GradNode
from .tensor import Tensor

Plan = Callable[..., Sequence[Any]]
Step = tuple["BoundOp", Sequence[Any], Any]
"""A call, its operands and its result."""

_plans: dict[Any, Plan | None] = {}
"""By call, wanted gradients and operands: what repeats the rule; None where it was met once, or cannot be repeated."""

_asked: set[Any] = set()
"""The keys of rules that cannot be repeated."""


@when_chosen
def _forget(before: Backend, now: Backend) -> None:
    """Forget repeated kernels of another backend."""
    _plans.clear()
    _asked.clear()


def pull_recorded(node: GradNode, args: Sequence[Operand], wanted: Sequence[bool]) -> Sequence[Tensor | None] | None:
    """The gradients that the rule of *node* gives, recorded; None where the rule must be asked."""
    rule = node.op.rule
    if in_use or watch.noting or type(rule) is not WrittenRule:
        return None
    key: list[Any] = [node.call, *wanted]
    for v in args:
        if v is None:
            key.append(None)
        elif isinstance(v, Tensor):
            array = v.array
            key += array.shape, array.dtype
        else:
            return None
    place = tuple(key)
    plan = _plans.get(place)
    if plan is not None:
        return plan(*args)
    if place not in _plans:
        if len(_plans) >= REMEMBERED:
            _plans.clear()
            _asked.clear()
        _plans[place] = None
        return None
    if place in _asked or len({*map(identity, args)}) < len(args):
        return None
    return _record_rule(rule, node, args, wanted, place)


def _record_rule(
    rule: WrittenRule, node: GradNode, args: Sequence[Operand], wanted: Sequence[bool], place: Any
) -> Sequence[Tensor | None]:
    """Return what the rule gives, noting what it computes."""
    ops = NotingOps()
    flat = [lift(g) for g in rule.flat(ops, [ops.view(v) for v in args], wanted, node.attrs)]
    plan = _plan(node.op.type, args, ops.steps, flat)
    if plan is None:
        _asked.add(place)
    else:
        _plans[place] = plan
    return flat


class _Seen(Recorded):
    """A tensor as a rule sees it whose operators are noted."""

    __slots__ = ("_k",)

    def __init__(self, tensor: Tensor, k: NotingOps) -> None:
        super().__init__(tensor)
        self._k = k

    @property
    def k(self) -> RuleOps:
        return self._k


class NotingOps(RuleOps):
    """The namespace of a rule, noting which operators it computes."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def view(self, value: Any) -> Any:
        """*value*, a tensor or a list of them, as the rule sees it."""
        if isinstance(value, (list, tuple)):
            return [self.view(v) for v in value]
        return _Seen(value, self) if isinstance(value, Tensor) else value

    def _record(self, call: BoundOp, operands: Sequence[Operand]) -> Any:
        result = super()._record(call, operands)
        self.steps.append((call, operands, result))
        return result

    def _result(self, result: Any) -> Any:
        return tuple(map(self.view, result)) if isinstance(result, tuple) else self.view(result)


def _plan(op_type: str, args: Sequence[Operand], steps: Sequence[Step], results: Sequence[Any]) -> Plan | None:
    """A function of *args* that repeats *steps* and gives *results*; None where there is none such."""
    names = {identity(v): f"x{i}" for i, v in enumerate(args) if v is not None}
    names[identity(None)] = "None"
    space: dict[str, Any] = {"__name__": __name__}
    lines = []
    for n, (call, operands, result) in enumerate(steps):
        arguments = [names.get(identity(v)) for v in operands]
        if None in arguments:
            return None
        space[f"call{n}"] = call
        lines.append(f"r{n} = call{n}.recipe.record(call{n}, {', '.join(map(str, arguments))})")
        names[identity(result)] = f"r{n}"
        if isinstance(result, tuple):
            names |= {identity(v): f"r{n}[{j}]" for j, v in enumerate(result) if v is not None}
    returned = [names.get(identity(v)) for v in results]
    if None in returned:
        return None
    lines.append(f"return ({''.join(f'{name}, ' for name in returned)})")
    parameters = ", ".join(f"x{i}" for i in range(len(args)))
    text = [f"def plan({parameters}):", *generated_code.indent(lines)]
    return generated_code.compile_function("plan", f"gradient of {op_type}, recorded", text, space)
