"""Leaves of PyTorch scripts: each is seen as one, where the script made it."""

import re

import pytest

from gradtool.models.loader import Request
from gradtool.models.questions.backward import Backward

from . import HERE, RUNS

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
