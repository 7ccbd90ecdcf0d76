"""Gradients of one node by its rule, slot by slot: what no compiled function of a recipe does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..core.spec import dtype as dtype_of
from ..core.spec import in_use
from ..ops import rare_types
from ..ops.opdef import Operand, WrittenRule
from . import repeated_rules
from .record import lift, read_for_rule, rule_ops
from .tape import GradNode, Place, each
from .tensor import Leaf, Tensor, array_of

Grad = Any
"""An array, or a tensor where the pass is recorded."""


def pull_by_loops(
    node: GradNode, arriving: Sequence[Grad | None], wrt: Sequence[Place | None], recorded: bool
) -> Sequence[Grad | None]:
    """The gradients by *wrt*, whatever the slots hold, and recorded if the pass is."""
    rule = node.op.rule
    assert rule is not None
    args = _arguments(node, arriving, recorded)
    mask = [p is not None for p in wrt]
    if recorded:
        # A rule that was met before is repeated call by call: reading it again would cost more than it computes.
        again = repeated_rules.pull_recorded(node, args, mask)
        if again is not None:
            return again
        args = [read_for_rule(a) for a in args]
    wanted = [[w] for w in mask] if node.wrt_sizes is None else _cut(mask, node.wrt_sizes, always=True)
    if in_use and _is_of_a_definition(rule):
        grads = _pull_carefully(node, args, wanted, recorded)
    else:
        grads = list(chain.from_iterable(rule(_ops(node, recorded), args, wanted, node.attrs)))
    return [lift(g) for g in grads] if recorded else grads


def _ops(node: GradNode, recorded: bool) -> Any:
    """The operators that the rule of *node* is read with."""
    return rule_ops if recorded else node.backend.ops


def _pull_carefully(node: GradNode, args: list[Operand], wanted: list[list[bool]], recorded: bool) -> list[Grad | None]:
    """Return what the rule of *node* gives for numbers of 16 bits or complex ones (``ops/rare_types.py``)."""
    if not recorded:
        args = rare_types.widen(args)
    k = _ops(node, recorded)
    flat = chain.from_iterable(rare_types.pull(node.op, k, args, wanted, node.attrs))
    return [_settle(k, place, g, recorded) for place, g in zip(node.wrt, flat, strict=True)]


def _settle(k: Any, place: Place | None, gradient: Any, recorded: bool) -> Grad | None:
    """*gradient* in the type of what stands at *place*."""
    if gradient is None or place is None:
        return gradient
    kind = place.spec.dtype if isinstance(place, Leaf) else dtype_of(place[0].shapes[place[1]][1])
    if not recorded:
        return rare_types.settle(gradient, kind)
    if gradient.dtype == kind.numpy:
        return gradient
    return k.cast(gradient, in_dtype=dtype_of(gradient.dtype).code, out_dtype=kind.code)


def _arguments(node: GradNode, arriving: Sequence[Grad | None], recorded: bool) -> list[Operand]:
    rule = node.op.rule
    assert rule is not None
    retained = node.retained()
    sizes = node.out_sizes
    groups = iter(arriving if sizes is None else _cut(arriving, sizes))
    shapes = iter(node.shapes if sizes is None else _cut(node.shapes, sizes))
    args: list[Operand] = []
    for (kind, place, like, late), value in zip(rule.reads, retained, strict=True):
        if kind == "dout":
            group, shape = next(groups), next(shapes)
            args.append(group if rule.takes_none or late else _fill_missing(group, shape))
        elif value is None:
            args.append(None)
        elif recorded:
            args.append(_tensor_of_saved(node, place, value, kind, like))
        else:
            args.append(each(value, array_of))
    return args


def _tensor_of_saved(node: GradNode, place: int, value: Any, kind: str, like: bool) -> Any:
    """A retained value as a tensor with its place on the tape, so that second order reaches through it."""
    if kind == "in" or like:
        return lift(value)
    assert node.op.rule is not None
    start = 0
    douts = [r for r in node.op.rule.reads if r.kind == "dout"]
    for read, size in zip(douts, node.out_sizes or [None] * len(douts), strict=True):
        if read.place == place:
            if isinstance(value, (list, tuple)):
                return [Tensor(v, stop_gradient=False, node=node, index=start + i) for i, v in enumerate(value)]
            return Tensor(value, stop_gradient=False, node=node, index=start)
        start += 1 if size is None else size
    return lift(value)


def _fill_missing(group: Any, shape: Any) -> Any:
    """*group* with zeros for the gradients that did not arrive."""
    if type(group) is np.ndarray:
        return group
    if isinstance(shape, list):
        return [_fill_missing(g, s) for g, s in zip(group, shape, strict=True)]
    return group if group is not None else np.zeros(*shape)


def _cut(flat: Sequence[Any], sizes: Sequence[int | None], always: bool = False) -> list[Any]:
    """*flat* cut into slots: a list for a list slot, the entry itself (or a list of one) for another."""
    groups: list[Any] = []
    at = 0
    for size in sizes:
        count = 1 if size is None else size
        group = list(flat[at : at + count])
        groups.append(group if always or size is not None else group[0])
        at += count
    return groups


def _is_of_a_definition(rule: Any) -> bool:
    """Return whether it is the rule of an operator, not derived from another or a user's own; asked for rare types
    only.
    """
    from ..ops.composed import ComposedRule

    return isinstance(rule, WrittenRule | ComposedRule)
