"""Every row of the table gives what PyTorch gave, and the same to the last bit in dynamic and in static mode.

Gradients of gradients agree between the modes to the accuracy of float64 and no further: dynamic mode has then recorded
the first gradient as several operators where the program has one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn import functional as F
from tests.torch_values.rows import Row
from tests.torch_values.table import ROWS

RECORDED = json.loads(Path(__file__).with_name("values.json").read_text(encoding="utf-8"))

each_row = pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])


def flat(result: Any) -> list[Any]:
    return [e for r in result for e in flat(r)] if isinstance(result, (list, tuple)) else [result]


def inputs(row: Row) -> dict[str, Any]:
    """The recorded inputs."""
    return {n: np.array(v["value"], v["dtype"]) for n, v in RECORDED[row.name]["inputs"].items()}


class Run:
    """One row in one mode: the results, and the tensors or variables that it is differentiated by."""

    def __init__(self, row: Row) -> None:
        self.record = RECORDED[row.name]
        self.values = inputs(row)
        self.operands = {n: self.give(n, v, v.dtype.kind == "f" and n not in row.fixed) for n, v in self.values.items()}
        self.leaves = {n: g for n, g in self.operands.items() if not g.stop_gradient}
        self.parameters: dict[str, Any] = {}
        names = {"paddle": paddle, "F": F, "nn": nn, "layer": self.layer}
        self.results = flat(eval(row.ours, names, dict(self.operands)))
        self.leaves |= self.parameters

    def give(self, name: str, value: Any, differentiate: bool) -> Any:
        """The input *name*."""
        raise AssertionError(name)

    def layer(self, layer: nn.Layer, parameters: dict[str, Any], *args: Any) -> Any:
        """What the layer *made* gives when its parameters have these values; they are differentiated in their place."""
        own = {n: p for n, p in layer.named_parameters() if not p.stop_gradient}
        assert set(own) == set(parameters)
        for path, tensor in parameters.items():
            (name,) = (n for n, g in self.operands.items() if g is tensor)
            self.load(own[path], self.values[name])
            self.parameters[name] = own[path]
        return layer(*args)

    def load(self, parameter: Any, value: Any) -> None:
        """Give a parameter its value."""
        raise AssertionError(parameter)


class Dynamic(Run):
    def give(self, name: str, value: Any, differentiate: bool) -> Any:
        return paddle.to_tensor(value, stop_gradient=not differentiate)

    def load(self, parameter: Any, value: Any) -> None:
        parameter.set_value(value)

    def gradients(self, roots: Sequence[Any], starts: Sequence[Any], again: bool) -> list[Any]:
        starts = [paddle.to_tensor(np.asarray(s, r.numpy().dtype)) for s, r in zip(starts, roots, strict=True)]
        return paddle.grad(roots, [*self.leaves.values()], starts, create_graph=again, allow_unused=True)

    def arrays(self, tensors: Sequence[Any]) -> list[Any]:
        return [None if t is None else t.numpy() for t in tensors]


class Static(Run):
    def __init__(self, row: Row) -> None:
        self.loaded: dict[str, Any] = {}
        super().__init__(row)

    def give(self, name: str, value: Any, differentiate: bool) -> Any:
        variable = paddle.static.data(name, list(value.shape), str(value.dtype))
        variable.stop_gradient = not differentiate
        return variable

    def load(self, parameter: Any, value: Any) -> None:
        self.loaded[parameter.name] = value

    def gradients(self, roots: Sequence[Any], starts: Sequence[Any], again: bool) -> list[Any]:
        seeds = []
        for start, root in zip(starts, roots, strict=True):
            name = f"start_{len(self.values)}"
            self.values[name] = np.asarray(start, root.dtype.name)
            seeds.append(paddle.static.data(name, list(root.shape), root.dtype.name))
        return paddle.static.gradients([*roots], [*self.leaves.values()], seeds)

    def arrays(self, variables: Sequence[Any]) -> list[Any]:
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        for name, value in self.loaded.items():
            paddle.static.global_scope().find_var(name).get_tensor().set(value, paddle.CPUPlace())
        arrays = iter(exe.run(feed=self.values, fetch_list=[v for v in variables if v is not None]))
        return [None if v is None else next(arrays) for v in variables]


def everything(run: Dynamic | Static, again: bool = True) -> dict[str, list[Any]]:
    """Results, gradients, and with *again* gradients of gradients, as arrays."""
    record, values = run.record, list(run.results)
    again = again and "second" in record
    lengths = {"results": len(values)}
    if "first" in record:
        roots = [r for r in run.results if not r.stop_gradient and r.dtype.name.startswith(("float", "complex"))]
        first = run.gradients(roots, record["weights"], again)
        values += first
        lengths["first"] = len(first)
    if again:
        pairs = [(g, a) for g, a in zip(first, record["along"], strict=True) if g is not None and not g.stop_gradient]
        second = [None] * len(first)
        if pairs:
            second = run.gradients([g for g, _ in pairs], [a for _, a in pairs], again=False)
        values += second
        lengths["second"] = len(second)
    arrays = iter(run.arrays(values))
    return {part: [next(arrays) for _ in range(n)] for part, n in lengths.items()}


def dynamic(row: Row, again: bool = True) -> dict[str, list[Any]]:
    paddle.disable_static()
    try:
        return everything(Dynamic(row), again)
    finally:
        paddle.enable_static()


pytestmark = pytest.mark.usefixtures("wide")


@each_row
def test_values_and_gradients_are_those_of_torch(row: Row) -> None:
    values, record = dynamic(row), RECORDED[row.name]
    for part, ours in values.items():
        assert len(ours) == len(record[part])
        for mine, theirs in zip(ours, record[part], strict=True):
            expected = 0.0 if theirs is None else np.array(theirs)
            if theirs is not None and mine is not None:
                assert mine.shape == expected.shape
            np.testing.assert_allclose(0.0 if mine is None else mine, expected, rtol=1e-5, atol=1e-9, err_msg=part)


@pytest.mark.sampled(3)
@each_row
def test_dynamic_mode_is_static_mode_bit_for_bit(row: Row) -> None:
    now, then = dynamic(row, again=False), everything(Static(row), again=False)
    assert now.keys() == then.keys()
    for part, ours in now.items():
        for mine, theirs in zip(ours, then[part], strict=True):
            assert (mine is None) == (theirs is None), part
            if mine is not None:
                assert mine.dtype == theirs.dtype
                assert mine.shape == theirs.shape
                assert mine.tobytes() == theirs.tobytes(), part


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", [row for row in ROWS if "second" in RECORDED[row.name]], ids=lambda row: row.name)
def test_gradients_of_gradients_are_equal_in_both_modes(row: Row) -> None:
    now, then = dynamic(row), everything(Static(row))
    for mine, theirs in zip(now["second"], then["second"], strict=True):
        gradient, expected = (0.0 if g is None else g for g in (mine, theirs))  # None says that nothing depends
        np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-13)


def test_the_table_is_the_recorded_one() -> None:
    assert RECORDED["torch version"].startswith("2.13.0")
    assert {n: r["torch"] for n, r in RECORDED.items() if n != "torch version"} == {
        row.name: row.theirs for row in ROWS
    }


def test_the_rows_have_distinct_names_and_their_inputs_are_the_recorded_ones() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        recorded = inputs(row)
        for name, value in row.values().items():
            np.testing.assert_allclose(recorded[name], value, rtol=1e-12)
