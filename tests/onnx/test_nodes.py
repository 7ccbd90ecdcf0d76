"""One of the standard's node tests for each operator; ``python -m tests.onnx --nodes`` runs all of them."""

from __future__ import annotations

import pytest

from gradtool import paddle
from gradtool.engine.importers.onnx import reading
from gradtool.engine.importers.onnx.operators import rows
from tests.onnx import nodes

SLOW = ("attention", "averagepool", "image_decoder", "lppool", "maxpool", "linear_attention", "flexattention")
"""Modules whose cases take long to make; convolutions, pools and attention are in the tests of networks."""


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[nodes.Outcome]]:
    """Of the first cases of every operator, by operator."""
    paddle.enable_static()
    results: dict[str, list[nodes.Outcome]] = {}
    for case in nodes.cases(leaving_out=SLOW):
        kinds = {n.op_type for n in case.model.graph.node}
        kind = next(iter(kinds))
        if (
            len(kinds) == 1
            and case.model.opset_import[0].version >= reading.OLDEST
            and len(results.get(kind, ())) < 2
            and kind in rows.TABLE
        ):
            results.setdefault(kind, []).append(nodes.outcome(case))
    paddle.disable_static()
    return results


def test_the_first_cases_of_every_operator_pass(outcomes: dict[str, list[nodes.Outcome]]) -> None:
    wrong = [o for several in outcomes.values() for o in several if o.what in (nodes.DIFFERS, nodes.REFUSED)]
    assert not wrong
    passed = {kind for kind, several in outcomes.items() if any(o.what == nodes.PASSED for o in several)}
    assert len(passed) >= 150


def test_the_table_has_the_operators_that_it_promises() -> None:
    import onnx

    standard = {s.name for s in onnx.defs.get_all_schemas() if s.domain == ""}
    assert len(rows.TABLE) >= 180
    assert set(rows.TABLE) - standard == set()
    assert all(since >= 1 and function.__doc__ != "" for table in rows.TABLE.values() for since, function in table)


@pytest.mark.parametrize(("opset", "since"), [(9, 1), (12, 1), (13, 13), (23, 13)])
def test_a_row_holds_from_its_version_on(opset: int, since: int) -> None:
    versions = dict(rows.TABLE["Softmax"])
    assert rows.lookup("Softmax", opset) is versions[since]
    assert rows.lookup("Nothing", opset) is None
