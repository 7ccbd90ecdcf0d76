"""Leaves of PyTorch scripts: each is seen as one, where the script made it."""

import re

import pytest

from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.questions.backward import Backward
from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

from . import HERE, RUNS, model

TORCH = HERE.parent / "torch"


def rows(run):
    return {row.shown: row for row in Backward().ask(Request(str(run))).rows}


def test_a_tensor_made_with_requires_grad_is_a_leaf():
    (row,) = rows(RUNS / "torch_leaf.torchrun").values()
    assert (row.shown, row.status, row.values.norm) == ("w", "ok", 3.0)


def test_each_factory_makes_a_leaf_on_its_own_line():
    script = (TORCH / "corpus" / "r_leaf_factories.py").read_text("utf-8").splitlines()
    lines = {re.findall(r'"(\w+)"', text)[0]: n for n, text in enumerate(script, 1) if text.startswith('    "')}
    found = rows(TORCH / "runs" / "r_leaf_factories.torchrun")
    assert {name: row.status for name, row in found.items()} == {f"leaves['{name}']": "ok" for name in lines}
    assert {name: row.source.line for name, row in found.items()} == {f"leaves['{n}']": at for n, at in lines.items()}


@pytest.mark.parametrize(("name", "shape"), [("lazy.weight", (2, 3)), ("plain.weight", (2, 3)), ("first", (2,))])
def test_a_leaf_with_other_memory_stays_one(name, shape):
    row = rows(TORCH / "runs" / "r_leaves_that_change.torchrun")[name]
    assert (row.status, tuple(row.shape)) == ("ok", shape)


def test_memory_that_was_exchanged_is_followed():
    found = rows(TORCH / "runs" / "r_leaves_that_change.torchrun")
    gradients = {name: found[name].values.norm for name in ("first", "second")}
    assert gradients == pytest.approx({"first": 2 * 32**0.5, "second": 3 * 32**0.5}, rel=1e-6)
    assert found["plain.weight"].source.line == 12


def answers(name):
    return {a.name: a for a in Why().ask(Request(str(model(name))))}


def test_what_is_frozen_for_the_training_alone_is_told_with_both_lines():
    told = answers("torch_frozen_then_thawed")["net.0.weight"]
    assert (told.finding, [line for _, line in told.location[:1]]) == (False, [5])
    at = "torch_frozen_then_thawed.py"
    assert told.label == f"frozen during training: requires_grad=False at {at}:5, thawed at {at}:11"


def test_an_optimizer_of_frozen_parameters_alone_is_a_finding():
    told = answers("torch_all_frozen")["net.2.weight"]
    assert told.finding
    assert told.location[0][1] == 7
    assert told.also == ("net.2.bias",)
    assert [(what, at[0][1]) for what, at in told.places] == [("its optimizer", 4)]


def test_a_scale_of_zeros_is_named_with_the_line_that_set_it():
    told = answers("torch_norm_scale_zero")["net.0.weight"]
    assert (told.verdict, told.finding, told.location[0][1]) == (Verdict.TIMES_ZERO, True, 4)
    assert told.said[0].startswith("net.1.weight multiplies there, and it is 0 everywhere")
    assert told.also == ("net.0.bias",)


def test_a_result_whose_gradient_is_read_is_no_leaf():
    (told,) = Why().ask(Request(str(TORCH / "runs" / "b_no_leaf_read.torchrun")))
    assert (told.verdict, told.finding, told.location[0][1]) == (Verdict.NOT_RETAINED, True, 8)
    assert told.said == ("it is no leaf but a result of mul, and backward fills .grad of leaves alone",)
    assert [(what, at[0][1]) for what, at in told.places] == [("read", 12)]


@pytest.mark.parametrize("name", ["relu", "leaky_relu"])
def test_a_second_derivative_that_is_zero_names_the_operator(name):
    run = TORCH / "runs" / f"b_second_derivative_of_{name}.torchrun"
    told = next(a for a in Why().ask(Request(str(run))) if a.name == "a.weight")
    assert told.said == (f"the second derivative of {name} is zero everywhere: at {run.stem}.py:11",)
    assert told.advice.endswith("such as tanh, softplus or silu")
