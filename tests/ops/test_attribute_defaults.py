"""What an attribute is when a program does not state it: the same as in Paddle, or an error where Paddle has none."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import OperatorError
from gradtool.engine.ops import compat, registry
from gradtool.engine.ops.opdef import OpDef, Trait

RECORDED: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("attribute_defaults.json").read_text(encoding="utf-8")
)
"""By operator, from Paddle 3.1.1 (``record_attribute_defaults.py``); None where there is no default."""
SHARED = [o for o in registry.all_ops() if not o.trait & Trait.INTERNAL and o.type in RECORDED]
DELIBERATE: dict[tuple[str, str], str] = {}
"""(operator, attribute) -> why our default is another one."""


@pytest.mark.parametrize("op", SHARED, ids=lambda op: op.type)
def test_defaults_are_those_of_paddle(op: OpDef) -> None:
    recorded = RECORDED[op.type]
    differing = {
        name: (value, recorded[name])
        for name, value in op.defaults.items()
        if recorded.get(name) is not None and not _same(value, recorded[name]) and (op.type, name) not in DELIBERATE
    }
    assert not differing
    assert op.defaults.keys() <= recorded.keys()


def _same(mine: Any, recorded: Any) -> bool:
    if isinstance(mine, float):
        return math.isclose(mine, recorded, rel_tol=1e-6)  # Paddle keeps them in single precision
    if isinstance(mine, tuple) and mine and isinstance(mine[0], float):
        return len(mine) == len(recorded) and all(map(_same, mine, recorded))
    return bool((list(mine) if isinstance(mine, tuple) else mine) == recorded)


def test_the_operators_with_attributes_are_recorded() -> None:
    assert len(SHARED) > 180


def test_attributes_without_a_default_are_required() -> None:
    without = {
        op.type: {name for name in op.defaults if name in RECORDED[op.type] and RECORDED[op.type][name] is None}
        for op in SHARED
    }
    assert {t: set(names) for t, names in compat.REQUIRED.items()} == {
        t: names for t, names in without.items() if names
    }


@pytest.mark.parametrize("type_", sorted(t for t in compat.REQUIRED if not registry.get_by_type(t).holds_blocks))
def test_a_missing_attribute_is_named(type_: str) -> None:
    block = paddle.static.default_main_program().global_block()
    x = paddle.static.data("x", [2, 3], "float32")
    op = registry.get_by_type(type_)
    with pytest.raises(OperatorError, match=compat.REQUIRED[type_][0]):
        block.append_op(
            type_,
            {s.name: x for s in op.inputs if not s.optional},
            {s.name: block.create_var(name=f"out_{s.name}") for s in op.outputs},
        )
    assert not block.ops


REDUCTIONS = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_prod": np.prod,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_amax": np.max,
    "reduce_amin": np.min,
    "reduce_any": np.any,
    "reduce_all": np.all,
    "logsumexp": lambda x, axis: np.log(np.exp(x).sum(axis)),
    "frobenius_norm": lambda x, axis: np.sqrt(np.square(x).sum(axis)),
}


@pytest.mark.parametrize("type_", REDUCTIONS)
def test_a_reduction_that_says_no_dimension_reduces_the_first(type_: str) -> None:
    dtype = "bool" if type_ in ("reduce_any", "reduce_all") else "float64"
    fed = np.array([[0.5, 0.0, 3.0], [2.0, 0.0, 0.25]]).astype(dtype)
    block = paddle.static.default_main_program().global_block()
    x, scalar = paddle.static.data("x", [2, 3], dtype), paddle.static.data("scalar", [], dtype)
    outs = [block.create_var(name=f"out_{v.name}") for v in (x, scalar)]
    for v, out in zip((x, scalar), outs, strict=True):
        block.append_op(type_, {"X": v}, {"Out": out}, {})
    feed = {"x": fed, "scalar": fed[0, 0]}
    rows, whole = paddle.static.Executor().run(feed=feed, fetch_list=outs)
    np.testing.assert_allclose(rows, REDUCTIONS[type_](fed, axis=0))
    assert outs[0].shape == rows.shape == (3,)
    np.testing.assert_allclose(whole, fed[0, 0])


def test_the_gradient_of_such_a_reduction_follows_the_dimension() -> None:
    block = paddle.static.default_main_program().global_block()
    x = paddle.static.data("x", [2, 3], "float64")
    x.stop_gradient = False
    out = block.create_var(name="out")
    block.append_op("reduce_mean", {"X": x}, {"Out": out}, {})
    (g,) = paddle.static.gradients(paddle.sum(out * out), x)
    fed = np.arange(6.0).reshape(2, 3)
    (value,) = paddle.static.Executor().run(feed={"x": fed}, fetch_list=[g])
    np.testing.assert_allclose(value, np.broadcast_to(fed.mean(0), (2, 3)))


def test_distinct_elements_come_as_they_are_met() -> None:
    block = paddle.static.default_main_program().global_block()
    x = paddle.static.data("x", [5], "int64")
    outs = {s: block.create_var(name=s) for s in ("Out", "Indices", "Index", "Counts")}
    block.append_op("unique", {"X": x}, outs, {})
    arrays = paddle.static.Executor().run(feed={"x": np.array([3, 1, 2, 3, 1])}, fetch_list=list(outs.values()))
    assert [a.tolist() for a in arrays] == [[3, 1, 2], [0, 1, 2], [0, 1, 2, 0, 1], [2, 2, 1]]


def test_the_attribute_says_how_an_image_is_resized() -> None:
    block = paddle.static.default_main_program().global_block()
    image = np.array([[[[1.0, 2.0], [3.0, 1.0]]]])
    x = paddle.static.data("x", [1, 1, 2, 2], "float64")
    outs = []
    for type_ in ("nearest_interp_v2", "bilinear_interp_v2", "bicubic_interp_v2"):
        outs.append(block.create_var(name=type_))
        block.append_op(type_, {"X": x}, {"Out": outs[-1]}, {"out_h": 3, "out_w": 3})
    for resized in paddle.static.Executor().run(feed={"x": image}, fetch_list=outs):
        np.testing.assert_allclose(resized[0, 0], [[1, 1.5, 2], [2, 1.75, 1.5], [3, 2, 1]])
    sequence = paddle.static.data("sequence", [1, 1, 2], "float64")
    with pytest.raises(ValueError, match="must have 4 dimensions"):
        block.append_op("linear_interp_v2", {"X": sequence}, {"Out": block.create_var(name="o")}, {"out_w": 3})
