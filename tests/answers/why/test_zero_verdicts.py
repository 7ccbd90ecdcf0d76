"""What is said of an operator that turns a gradient into zeros: each kind, at its limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradtool.engine.answers.why import zeros
from gradtool.engine.answers.why.scene import ZeroScene
from gradtool.engine.answers.why.zeros import killer
from gradtool.engine.core.rows import SelectedRows
from gradtool.engine.ops import registry


def scene(type_: str, slot: str = "X", present: bool = True, **settings: Any) -> ZeroScene:
    """``inputs`` and ``outputs`` are slot -> numbers; ``operands`` are the inputs, unless they are named."""
    named = {k: {s: np.array(v) for s, v in settings.get(k, {}).items()} for k in ("inputs", "outputs")}
    operands = settings.get("operands", tuple(named["inputs"]) or (slot,))
    return ZeroScene(type_, settings.get("attrs", {}), named["inputs"], named["outputs"], slot, operands, 1.0, present)


SAID = [
    (
        "relu",
        {"inputs": {"X": [-3.0, 0.0]}, "outputs": {"Out": [0.0, 0.0]}},
        "zero: dead relu 100 %",
        "every output of relu is 0, inputs in [-3, 0]",
    ),
    ("relu", {"outputs": {"Out": [0.0, 0.0]}}, "zero: dead relu 100 %", "every output of relu is 0"),
    ("relu", {"inputs": {"X": [-1.0, -2.0]}}, "zero: dead relu 100 %", "every output of relu is 0, inputs in [-2, -1]"),
    ("relu", {}, "zero: dead relu 100 %", "every output of relu is 0"),
    (
        "relu",
        {"outputs": {"Out": [0.0, 0.0, 0.0, 5.0]}},
        "zero: dead relu 75 %",
        "75 % of the outputs of relu are 0, where gradients arrive all",
    ),
    (
        "relu",
        {"outputs": {"Out": [0.0, 1.0, 2.0, 50.0]}},
        "zero: dead relu 25 %",
        "25 % of the outputs of relu are 0, where gradients arrive all",
    ),
    (
        "relu",
        {"inputs": {"X": [-1.0, 2.0]}},
        "zero: dead relu 50 %",
        "50 % of the outputs of relu are 0, where gradients arrive all, inputs in [-1, 2]",
    ),
    (
        "relu6",
        {"outputs": {"Out": [6.0, 6.0, 6.0]}},
        "zero: clipped out of range 100 %",
        "every input is outside (0, 6)",
    ),
    (
        "relu6",
        {"outputs": {"Out": [0.0, 2.0, 2.0]}, "attrs": {"threshold": 2.0}},
        "zero: clipped out of range 100 %",
        "every input is outside (0, 2)",
    ),
    (
        "relu6",
        {"outputs": {"Out": [0.0, 2.0]}, "attrs": {"threshold": 2.0}},
        "zero: dead relu 50 %",
        "50 % of the outputs of relu6 are 0, where gradients arrive all",
    ),
    (
        "relu6",
        {"outputs": {"Out": [0.0, 5.0, 6.0]}},
        "zero: dead relu 33.3 %",
        "33.3 % of the outputs of relu6 are 0, where gradients arrive all",
    ),
    (
        "clip",
        {"inputs": {"X": [-3.0, 9.0]}, "attrs": {"min": -1.0, "max": 2.0}},
        "zero: clipped out of range 100 %",
        "every input of clip is outside [-1, 2]: in [-3, 9]",
    ),
    (
        "clip",
        {"outputs": {"Out": [0.0, 1.0]}, "attrs": {"min": 0.0, "max": 1.0}},
        "zero: clipped out of range 100 %",
        "every input of clip is outside [0, 1]: in [0, 1]",
    ),
    (
        "clip",
        {"inputs": {"X": [3.0]}, "attrs": {"min": None, "max": 2.0}},
        "zero: clipped out of range 100 %",
        "every input of clip is outside its range: in [3, 3]",
    ),
    (
        "brelu",
        {"inputs": {"X": [30.0]}, "attrs": {"t_min": 0.0, "t_max": 24.0}},
        "zero: clipped out of range 100 %",
        "every input of brelu is outside [0, 24]: in [30, 30]",
    ),
    (
        "brelu",
        {"attrs": {"t_min": 0.0, "t_max": 24.0}},
        "zero: clipped out of range 100 %",
        "every input of brelu is outside [0, 24]",
    ),
    (
        "hard_sigmoid",
        {"inputs": {"X": [-9.0, 9.0]}},
        "zero: clipped out of range 100 %",
        "every input of hard_sigmoid is outside its range: in [-9, 9]",
    ),
    (
        "sigmoid",
        {"outputs": {"Out": [0.0, 1.0]}},
        "zero: saturated",
        "sigmoid is flat there: outputs in [0, 1], 100 % of the outputs saturated",
    ),
    ("sigmoid", {"inputs": {"X": [40.0, 50.0]}}, "zero: saturated", "sigmoid is flat there: inputs in [40, 50]"),
    (
        "sigmoid",
        {"inputs": {"X": [[40.0]]}, "outputs": {"Out": [[1.0]]}},
        "zero: saturated",
        "sigmoid is flat there: outputs in [1, 1], inputs in [40, 40], 100 % of the outputs saturated",
    ),
    ("sigmoid", {}, "zero: saturated", "sigmoid is flat there"),
    (
        "softmax",
        {"outputs": {"Out": [1.0]}},
        "zero: saturated",
        "softmax over an axis of one element is constant",
    ),
    (
        "softmax",
        {"outputs": {"Out": [[1.0], [1.0]]}},
        "zero: saturated",
        "softmax over an axis of one element is constant",
    ),
    (
        "softmax",
        {"outputs": {"Out": [[1.0, 1.0]]}, "attrs": {"axis": 0}},
        "zero: saturated",
        "softmax over an axis of one element is constant",
    ),
    (
        "softmax",
        {"outputs": {"Out": [[0.25, 0.75]]}},
        "zero: cancellation",
        "the outputs of softmax sum to 1 whatever its inputs are",
    ),
    (
        "softmax",
        {"outputs": {"Out": [[0.0, 1.0]]}},
        "zero: saturated",
        "softmax is flat there: outputs in [0, 1], 100 % of the outputs saturated",
    ),
    (
        "log_softmax",
        {"outputs": {"Out": [[-0.5, -0.9]]}},
        "zero: saturated",
        "log_softmax is flat there: outputs in [-0.9, -0.5]",
    ),
    (
        "softmax_with_cross_entropy",
        {"slot": "Logits", "inputs": {"Logits": [[3.0]]}, "outputs": {"Softmax": [[1.0]]}},
        "zero: saturated",
        "softmax_with_cross_entropy over an axis of one element is constant",
    ),
    (
        "softmax_with_cross_entropy",
        {"slot": "Logits", "inputs": {"Logits": [[3.0, 0.0]]}, "outputs": {"Softmax": [[0.9, 0.1]]}},
        "zero: saturated",
        "softmax_with_cross_entropy is flat there: outputs in [0.1, 0.9], inputs in [0, 3]",
    ),
    (
        "layer_norm",
        {},
        "zero: cancellation",
        "what layer_norm gives has the same sum whatever its input is, and only that counts",
    ),
    (
        "elementwise_mul",
        {"inputs": {"X": [1.0, 2.0], "Y": [0.0, 0.0]}},
        "zero: multiplied by 0",
        "the other operand (Y) is 0 everywhere",
    ),
    (
        "elementwise_mul",
        {"inputs": {"X": [1.0, 2.0], "Y": [0.0, 3.0]}},
        "zero: multiplied by 0",
        "the other operand (Y) is 0 in 50 % of its elements, where gradients arrive",
    ),
    (
        "elementwise_mul",
        {"slot": "Y", "inputs": {"X": [0.0, 0.0], "Y": [5.0, 0.0]}},
        "zero: multiplied by 0",
        "the other operand (X) is 0 everywhere",
    ),
    (
        "elementwise_mul",
        {"inputs": {"X": [0.0, 0.0], "Y": [5.0, 6.0]}},
        "zero: multiplied by 0",
        "the input of elementwise_mul is 0 everywhere",
    ),
    ("square", {"inputs": {"X": [0.0, 0.0]}}, "zero: multiplied by 0", "the input of square is 0 everywhere"),
    ("square", {"inputs": {"X": [0.0, 1.0]}}, "zero: multiplied by 0", "square multiplies by 0 there"),
    ("square", {}, "zero: multiplied by 0", "square multiplies by 0 there"),
    (
        "batch_norm",
        {"inputs": {"X": [[1.0, 2.0]]}},
        "zero: never selected",
        "batch_norm over one element per channel returns its bias: there is nothing to normalise",
    ),
    (
        "instance_norm",
        {"inputs": {"X": [[[1.0], [2.0]]]}},
        "zero: cancellation",
        "instance_norm of one element, less its mean, is 0 whatever it is",
    ),
    (
        "group_norm",
        {"inputs": {"X": [[1.0, 2.0]]}, "attrs": {"groups": 2}},
        "zero: cancellation",
        "group_norm of one element, less its mean, is 0 whatever it is",
    ),
    ("scale", {}, "zero: multiplied by 0", "the factor of scale is 0"),
    ("dropout", {"attrs": {"dropout_prob": 1.0}}, "zero: multiplied by 0", "dropout with p = 1 dropped everything"),
    ("dropout", {}, "zero: multiplied by 0", "dropout with p = 0 dropped everything"),
    ("gather", {}, "zero: never selected", "gather takes no element of it on the way to the loss"),
    ("concat", {}, "zero: never selected", "concat takes no element of it on the way to the loss"),
    ("where", {}, "zero: never selected", "where takes no element of it on the way to the loss"),
    ("floor", {}, "non-differentiable op", "floor is constant between its steps: its gradient is 0 everywhere"),
    ("cast", {}, "integer dtype", "cast to integers: what arrives is rounded to 0"),
    ("sin", {}, "zero: multiplied by 0", "the gradient of sin is 0 for these values"),
    ("equal", {"present": False}, "non-differentiable op", "equal gives this input no gradient"),
    ("PyLayer_Mine", {"present": False}, "non-differentiable op", "Mine.backward returned None"),
    ("PyLayer_Mine", {}, "zero: multiplied by 0", "Mine.backward returned zeros"),
    ("select_input", {"present": False}, "pruned branch", "the result of another branch was taken"),
]


@pytest.mark.parametrize(("type_", "settings", "label", "said"), SAID)
def test_what_is_said(type_: str, settings: dict[str, Any], label: str, said: str) -> None:
    answer = killer(scene(type_, **settings))
    assert (answer.label, answer.said) == (label, said)


def test_the_operand_that_is_zero_is_pointed_at() -> None:
    """The first one that is zero everywhere, before one that is so in places; never the gradient's own."""
    values = {"A": [0.0, 1.0], "X": [0.0, 0.0], "B": [0.0, 0.0]}
    assert killer(scene("einsum", inputs=values)).culprit == 2
    assert killer(scene("einsum", inputs={**values, "B": [1.0, 1.0]})).culprit == 0
    assert killer(scene("einsum", inputs={**values, "A": [1.0, 1.0], "B": [1.0, 1.0]})).culprit is None


def test_lists_and_rows_are_not_looked_at() -> None:
    rows = SelectedRows(np.array([0]), np.zeros((1, 2)), 3)
    for value in (rows, [np.zeros(2)], (np.zeros(2),)):
        answer = killer(ZeroScene("elementwise_mul", {}, {"Y": value}, {}, "X", ("X", "Y"), 1.0, True))
        assert answer.said == "elementwise_mul multiplies by 0 there"


def test_empty_values_have_no_range() -> None:
    assert killer(scene("sigmoid", outputs={"Out": []})).said == "sigmoid is flat there"


def test_of_a_block_that_did_not_run() -> None:
    assert zeros.not_run("while").said == "its loop was not entered"
    assert zeros.not_run("conditional_block").said == "its condition did not hold, so this branch did not run"


def test_the_operators_of_the_tables_exist() -> None:
    types = {op.type for op in registry.all_ops()}
    assert set(zeros._KINDS) | zeros._DIFFERENCES | set(zeros._BRANCHES) <= types


def test_gradients_that_are_differences() -> None:
    assert all(map(zeros.cancels, ("softmax", "layer_norm", "batch_norm", "softmax_with_cross_entropy")))
    assert not zeros.cancels("sigmoid")


ADVICE = [
    ("tanh", {"outputs": {"Out": [-1.0, 1.0]}}, {"reach": (-1e9, 2.0)}, "scale the inputs down"),
    ("tanh", {"outputs": {"Out": [-1.0, 1.0]}, "inputs": {"X": [-1e9, 2.0]}}, {}, "scale the inputs down"),
    ("tanh", {"outputs": {"Out": [-1.0, 1.0]}}, {"reach": (-20.0, 20.0)}, ""),
    ("tanh", {"outputs": {"Out": [-1.0, 1.0]}}, {}, ""),
    ("softmax", {"outputs": {"Out": [[1.0], [1.0]]}}, {}, "sigmoid for a single class"),
    (
        "softmax",
        {"outputs": {"Out": [[0.0, 1.0]]}},
        {"readers": frozenset({"softmax_with_cross_entropy"})},
        "the loss takes logits",
    ),
    ("softmax", {"outputs": {"Out": [[0.0, 1.0]]}}, {"readers": frozenset({"reduce_sum"})}, ""),
    ("PyLayer_Round", {}, {}, "straight through"),
    ("PyLayer_Round", {"given": False}, {}, "return a gradient for this input"),
    ("pylayer", {"given": False}, {}, "return a gradient for this input"),
    ("dropout", {"attrs": {"dropout_prob": 1.0}}, {}, "a smaller p"),
    ("scale", {"attrs": {"scale": 0.0}}, {}, "a weight that is not 0"),
    ("elementwise_mul", {"inputs": {"Y": [0.0]}}, {}, ""),
    ("layer_norm", {"inputs": {"X": [[1.0], [2.0]]}, "attrs": {"begin_norm_axis": 1}}, {}, "a norm over more elements"),
    ("batch_norm", {"inputs": {"X": [[1.0], [2.0]]}}, {}, ""),
]


@pytest.mark.parametrize(("type_", "settings", "more", "advice"), ADVICE)
def test_advice_fits_the_case(type_: str, settings: dict[str, Any], more: dict[str, Any], advice: str) -> None:
    given = settings.get("given", True)
    there = replace(scene(type_, **{k: v for k, v in settings.items() if k != "given"}), given=given, **more)
    told = killer(there).advice
    assert advice in told
    assert bool(told) is bool(advice)
