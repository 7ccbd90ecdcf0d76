"""The tables of the answers name operators that exist, and what they say can be computed."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.answers import kinks, saved
from gradtool.engine.answers.causes import CAUSES
from gradtool.engine.answers.events import OpEvent, SlotArray
from gradtool.engine.answers.explaining import explain
from gradtool.engine.importers.pt2.operators import rows
from gradtool.engine.ops import registry
from gradtool.engine.runs import bound_kernels
from gradtool.engine.view.graph import FORWARD

NAMED = {
    "causes": {t for c in CAUSES for t in c.ops},
    "kinks": set(kinks.OWN),
    "work": {*saved._PRODUCTS, *saved._CONVOLUTIONS},
    "masks": set(bound_kernels.MASKED),
}


@pytest.mark.parametrize("table", NAMED)
def test_every_operator_exists(table: str) -> None:
    assert [t for t in sorted(NAMED[table]) if registry.find(t) is None] == []


def test_every_operator_of_pytorch_exists_and_is_none_of_gradtools() -> None:
    assert [t for t in sorted(kinks.OF_PYTORCH) if rows.lookup(f"aten.{t}", "") is None] == []
    assert [t for t in sorted(kinks.OF_PYTORCH) if registry.find(t) is not None] == []


def test_something_explains_everything() -> None:
    x = np.array([1.0, 2.0], "float32")
    event = OpEvent("unheard_of", FORWARD, (), {}, [SlotArray("X", x)], [SlotArray("Out", x)], None)
    bad = np.array([True, False])
    told = explain(event, bad, x.dtype, "inf")
    assert told.text == "finite values gave a result beyond the range of float32, 3.4e+38 (largest operand 2)"
    told = explain(event, bad, x.dtype, "nan")
    assert told.text == "unheard_of has no value there: finite operands gave NaN in 1 of 2 elements (largest operand 2)"
    event.reads = []
    assert explain(event, bad, np.dtype("float16"), "inf").text.startswith("the result is beyond the range")


@pytest.mark.parametrize("bad", [0, 1])
def test_the_cause_is_looked_for_where_the_result_is_bad(bad: int) -> None:
    x, y = np.array([1.0, 0.0], "float32"), np.array([0.0, 0.0], "float32")
    read = [SlotArray("X", x), SlotArray("Y", y)]
    event = OpEvent("elementwise_div", FORWARD, (), {"axis": -1}, read, [SlotArray("Out", x)], None)
    told = explain(event, np.arange(2) == bad, x.dtype, ("inf", "nan")[bad])
    assert told.text == ("division by 0 in 1 of 2 elements", "0/0 in 1 of 2 elements")[bad]
