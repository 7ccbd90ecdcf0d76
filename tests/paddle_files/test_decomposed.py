"""Gradient operators of gradient operators as operators of Paddle: they compute the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from gradtool.engine.core.spec import TensorSpec
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.paddle.parts import FreshNames, NotInPaddle
from gradtool.engine.ir.paddle.second_order import decompose
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import derive, registry
from gradtool.engine.ops.opdef import OpDef, Trait

DECOMPOSED = 200
"""Operators whose second gradient is written for Paddle."""


def second_gradients() -> Iterator[OpDef]:
    """The operators that differentiate gradient operators."""
    for op in list(registry.all_ops()):
        if op.forward is not None or op.trait & Trait.INTERNAL or op.holds_blocks:
            continue
        first = op.grad_op
        second = first.grad_op if first is not None and not op.rule.expands else None
        if second is not None and second.outputs:
            yield second


def declared(block: Block, stem: str, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return tuple([declared(block, f"{stem}_{i}", v) for i, v in enumerate(value)])
    array = np.asarray(value)
    block.vars[stem] = v = Variable(block, stem, TensorSpec(array.shape, array.dtype))
    return v


def pairs(variables: Any, values: Any) -> Iterator[tuple[Variable, Any]]:
    if isinstance(variables, (list, tuple)):
        for v, value in zip(variables, values, strict=False):
            yield from pairs(v, value)
    elif variables is not None:
        yield variables, values


def held(operand: Any, values: dict[Variable, Any]) -> Any:
    if isinstance(operand, tuple):
        return [held(v, values) for v in operand]
    return None if operand is None else values[operand]


def test_parts_compute_what_the_operator_does() -> None:
    backend, whole = registry.reference_backend(), 0
    for second in second_gradients():
        count = 0
        for sample in islice(derive.grad_samples(second), 2):
            block = Program().global_block()
            inputs = declared(block, "in", list(sample.operands))
            with np.errstate(all="ignore"):
                results = second.run(backend, sample.operands, sample.attrs)
            results = results if isinstance(results, tuple) else (results,)
            outputs = declared(block, "out", results)
            op = Operator(block, second, inputs, outputs, second.attributes(sample.attrs), loc=())
            try:
                parts, _ = decompose(op, FreshNames(block.program))
            except NotInPaddle:
                break
            values = dict(pairs(inputs, sample.operands))
            for part in parts:
                operands = [held(v, values) for v in part.inputs]
                operands += [[] if s.many else None for s in part.op.inputs[len(operands) :]]
                with np.errstate(all="ignore"):
                    made = part.op.run(backend, operands, part.attrs)
                values |= dict(pairs(part.outputs, made if len(part.op.outputs) > 1 else (made,)))
            for v, wanted in pairs(outputs, results):
                assert values[v].shape == np.shape(wanted), sample.label
                np.testing.assert_allclose(values[v], wanted, rtol=1e-5, atol=1e-6, err_msg=second.type)
            count += 1
        whole += count > 0
    assert whole >= DECOMPOSED
