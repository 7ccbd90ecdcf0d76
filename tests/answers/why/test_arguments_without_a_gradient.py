"""Sentences about arguments that get no gradient: derived from every definition, and advice that gives them one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtool.paddle.nn.functional as F
from gradtool import paddle
from gradtool.engine.answers.why.arguments import NAMES, refuse_argument, refuse_result
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef


def reals(op: OpDef) -> set[int]:
    """Return the input slots at which a sample of *op* has real numbers."""
    return {
        i
        for sample in op.make_samples()
        for i, value in enumerate(sample.operands)
        if getattr(getattr(value, "dtype", None), "kind", "") == "f"
    }


def refusing() -> Iterator[tuple[OpDef, list[int]]]:
    """Yield the operators that give gradients to some inputs of real numbers and to others none, with these."""
    for op in sorted(registry.all_ops(), key=lambda o: o.type):
        if op.forward is None and op.rule is not None and op.rule.wrt:
            without = sorted(reals(op) - set(op.rule.wrt))
            if without:
                yield op, without


def test_every_operator_that_refuses_an_argument_has_the_names_of_its_function() -> None:
    assert [op.type for op, _ in refusing() if op.type not in NAMES] == []


@pytest.mark.parametrize("op_type", NAMES)
def test_names_are_of_slots_and_of_public_functions(op_type: str) -> None:
    op, names = registry.get_by_type(op_type), NAMES[op_type]
    assert set(names.slots) <= {s.name for s in (*op.inputs, *op.outputs)}
    assert set(names.instead) <= {s.name for i, s in enumerate(op.inputs) if i not in op.rule.wrt}
    homes = (paddle, F, paddle.vision.ops, paddle.signal, paddle.static.nn, paddle.Tensor)
    named = any(hasattr(home, names.function) for home in (*homes, paddle.fluid.layers))
    assert named or names.function == op.type  # one that programs append by type alone


def test_a_sentence_names_the_arguments() -> None:
    refusal = refuse_argument(registry.get_by_type("kldiv_loss"), [1])
    assert refusal is not None
    assert refusal.sentence == "kl_div gives no gradient to its argument label, only to input"
    assert refuse_argument(registry.get_by_type("kldiv_loss"), [0]) is None
    assert refuse_argument(registry.get_by_type("arg_max"), [0]) is None
    both = refuse_argument(registry.get_by_type("batch_norm"), [3, 4])
    assert both is not None
    assert both.sentence.startswith("batch_norm gives no gradient to its arguments running_mean and running_var, only")


@pytest.mark.parametrize(
    ("op_type", "place", "result"),
    [
        ("top_k_v2", 1, "indices"),
        ("argsort", 1, "indices"),
        ("mode", 1, "indices"),
        ("max_pool2d_with_index", 1, "mask"),
    ],
)
def test_a_sentence_names_the_results(op_type: str, place: int, result: str) -> None:
    refusal = refuse_result(registry.get_by_type(op_type), place)
    assert refusal is not None
    assert f"passes no gradient through its result {result}, only through" in refusal.sentence
    assert refuse_result(registry.get_by_type(op_type), 1 - place) is None


CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "kldiv_loss": ("F.kl_div(input.log(), label)", ("input", "label")),
    "bce_loss": ("F.binary_cross_entropy(input, label)", ("input", "label")),
    "sigmoid_cross_entropy_with_logits": ("F.binary_cross_entropy_with_logits(logit, label)", ("logit", "label")),
    "softmax_with_cross_entropy": ("F.cross_entropy(input, label, soft_label=True)", ("input", "label")),
    "log_loss": ("F.log_loss(input, label)", ("input", "label")),
    "lerp": ("paddle.lerp(x, y, weight)", ("x", "y", "weight")),
}


def arguments(names: tuple[str, ...], learned: str) -> dict[str, Any]:
    """Return shares of 1 by name; *learned* alone needs a gradient."""
    rng = np.random.default_rng(0)
    made = {}
    for name in names:
        share = rng.uniform(0.1, 0.9, (3, 1 if "label" in names and "x" in names else 4))
        made[name] = paddle.to_tensor(share / share.sum(-1, keepdims=True) * 0.9)
        made[name].stop_gradient = name != learned
    return made


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("op_type", CALLS)
def test_advice_computes_the_same_and_gives_the_argument_a_gradient(op_type: str) -> None:
    call, names = CALLS[op_type]
    for slot, text in NAMES[op_type].instead.items():
        learned = NAMES[op_type].slots[slot]
        values = arguments(names, learned)
        scope = {"F": F, "paddle": paddle, **values}
        plain = eval(call, scope)
        assert plain.stop_gradient
        formula = text.removeprefix("write it out: ")
        if op_type == "kldiv_loss":  # it takes logarithms
            scope["input"] = values["input"].log()
        written = eval(formula, scope)
        np.testing.assert_allclose(written.numpy(), plain.numpy(), rtol=1e-5)
        written.sum().backward()
        assert values[learned].grad is not None
        assert bool(np.abs(values[learned].grad.numpy()).sum() > 0)


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(
    ("call", "slot", "op_type"),
    [
        ("paddle.clip(x, bound, 10.0)", "Min", "clip"),
        ("paddle.clip(x, -10.0, bound)", "Max", "clip"),
        ("paddle.scale(x, bound)", "ScaleTensor", "scale"),
    ],
)
def test_advice_for_bounds_and_factors(call: str, slot: str, op_type: str) -> None:
    bound = paddle.to_tensor([0.5], stop_gradient=False)
    x = paddle.to_tensor([0.2, 0.9])
    name = NAMES[op_type].slots[slot]
    plain = eval(call, {"paddle": paddle, "x": x, "bound": bound})
    assert plain.stop_gradient
    formula = NAMES[op_type].instead[slot].removeprefix("write it out: ")
    written = eval(formula, {"paddle": paddle, "x": x, name: bound})
    np.testing.assert_allclose(written.numpy(), plain.numpy())
    written.sum().backward()
    assert bound.grad is not None
