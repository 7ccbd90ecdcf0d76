"""Every operator that Paddle appends by type: its slots, its values and gradients, the operators of its gradient."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import OperatorError
from gradtool.engine.ops import compat, registry
from tests.ops.cases import ARRAYS

from . import calls, differences, families, listed, record, recording

RECORDED = recording.read()
CALLS = {label: call for label, call in calls.calls().items() if label in RECORDED}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("type_", sorted({label.partition("/")[0] for label in CALLS}))
def test_values_gradients_and_operators_are_those_of_paddle(type_: str) -> None:
    labels = [label for label in CALLS if label.partition("/")[0] == type_]
    for label in labels:
        told = RECORDED[label]
        assert told["given"] == recording.checksum(CALLS[label]), f"{label} has changed: record it again"
        if "error" not in told:
            compare(label, told, recording.summary(CALLS[label], record.appended(paddle, CALLS[label])))


def compare(label: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Hold what one call did against what was recorded, but for what stands in ``differences``."""
    differing = {name for name, parts in differing_parts(theirs, ours).items() if parts}
    for name in PARTS:
        assert name not in differing or differences.reason(getattr(differences, name), label), (label, name)


PARTS = ("OUTPUTS", "GRADIENTS", "OPERATORS", "SPECS")


def differing_parts(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """By table of differences: what differs."""
    return {
        "OUTPUTS": [n for n, digest in theirs["out"].items() if not same(ours["out"].get(n), digest)],
        "GRADIENTS": [n for n, digest in theirs["grad"].items() if not same(ours["grad"].get(n), digest)],
        "OPERATORS": ours["ops"] != theirs["ops"],
        "SPECS": [n for n, spec in theirs["shapes"].items() if n in theirs["out"] and ours["shapes"][n] != spec],
    }


def same(ours: list[Any] | None, theirs: list[Any]) -> bool:
    if ours is None or ours[:2] != theirs[:2]:
        return False
    return bool(np.allclose(ours[2], theirs[2], rtol=3e-4, atol=3e-5, equal_nan=True))


def test_nearly_all_types_are_recorded() -> None:
    of_tensors = [t for t in listed.have() if t not in ARRAYS]
    assert len({label.partition("/")[0] for label in CALLS}) >= 0.97 * len(of_tensors)


def test_every_difference_is_about_a_call() -> None:
    for table in differences.TABLES:
        for label in table:
            assert label in CALLS or any(c.partition("/")[0] == label for c in CALLS), label


def test_slots_are_those_of_paddle() -> None:
    wrong = {}
    for type_ in listed.have():
        op, theirs = registry.get_by_type(type_), listed.types()[type_]
        kept = set(compat.KEPT.get(type_, ()))
        hidden = set(compat.CONTINUES.get(type_, ())[:1])
        for mine, slots in ((op.inputs, theirs.inputs), (op.outputs, theirs.outputs)):
            unknown = {s.name for s in mine} - {s.name for s in slots} - hidden
            lacking = {s.name for s in slots} - {s.name for s in mine} - kept
            if (unknown or lacking) and type_ not in differences.SLOTS:
                wrong[type_] = sorted(unknown), sorted(lacking)
    assert not wrong


def test_every_type_is_here_or_is_said_to_be_to_come_or_not() -> None:
    told = {*listed.have(), *listed.lack(), *listed.reasons()}
    assert told == {*listed.types()}
    assert {*listed.lack()} <= {*differences.TO_COME.split()}
    assert len(listed.types()) == 738


def test_every_family_names_types_of_paddle() -> None:
    whole, starred = families._tables()
    assert whole.keys() <= listed.types().keys()
    for before, behind, _ in starred:
        assert any(t.startswith(before) and t.endswith(behind) for t in listed.types()), (before, behind)


def test_what_a_type_does_not_have_is_named() -> None:
    x = paddle.static.data("x", [2, 3])
    block = paddle.static.default_main_program().global_block()
    out = block.create_var(name="out")
    with pytest.raises(OperatorError, match=r"'scael' is not an attribute of operator \"scale\".") as attribute:
        block.append_op("scale", {"X": x}, {"Out": out}, {"scael": 2.0})
    assert "'scale'" in str(attribute.value)
    with pytest.raises(OperatorError, match=r"Input Y is not a slot of operator \"scale\"") as slot:
        block.append_op("scale", {"X": x, "Y": x}, {"Out": out})
    assert "BiasTensor, ScaleTensor, X" in str(slot.value)
    assert not block.ops


def test_attributes_that_only_say_how_paddle_computes_are_taken() -> None:
    x = paddle.static.data("x", [2, 3])
    block = paddle.static.default_main_program().global_block()
    op = block.append_op("relu", {"X": x}, {"Out": block.create_var(name="out")}, {"use_mkldnn": False, "use_cudnn": 1})
    assert not op.has_attr("use_mkldnn")


def test_what_paddle_keeps_for_its_gradient_is_taken_and_stays_empty() -> None:
    x = paddle.static.data("x", [2, 3])
    block = paddle.static.default_main_program().global_block()
    out, cache = block.create_var(name="out"), block.create_var(name="cache")
    block.append_op(
        "einsum", {"Operands": [x, x]}, {"Out": out, "InnerCache": [cache], "XShape": []}, {"equation": "ij,kj->ik"}
    )
    assert out.shape == (2, 2)
    (value,) = paddle.static.Executor().run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=[out])
    np.testing.assert_allclose(value, np.full((2, 2), 3.0))
