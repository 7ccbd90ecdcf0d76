"""Every operator compiled by JAX: its results, its gradients and theirs are NumPy's; and which are not compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef, Trait
from tests.jax.compared import differences, operators
from tests.jax.host import HOST, SOMETIMES
from tests.jax.refused import compare_refusals
from tests.jax.refusing import REFUSING


@pytest.mark.sampled(8)
@pytest.mark.parametrize("op", [pytest.param(op, id=op.type) for op in operators()])
def test_operator(op: OpDef) -> None:
    failures = [error for _, error in differences(op)]
    if failures:
        raise ExceptionGroup(op.type, failures)


def test_operators_that_are_computed_between_compiled_parts_have_a_reason() -> None:
    forward = [op for op in registry.all_ops() if op.trait & Trait.VALUES]
    assert {op.type for op in forward} == set(HOST)
    documented = (Path(__file__).parents[2] / "docs" / "jax.md").read_text(encoding="utf-8")
    assert not [type_ for type_ in [*HOST, *SOMETIMES] if f"`{type_}`" not in documented]


@pytest.mark.parametrize("op", [pytest.param(op, id=op.type) for op in operators() if op.type in REFUSING])
def test_what_is_refused(op: OpDef) -> None:
    assert compare_refusals(op)
