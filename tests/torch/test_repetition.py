"""Calls that gradtool has an operator for are repeated by PyTorch: its arguments, and results in gradtool's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool.cli.main import main
from gradtool.engine.answers import profile
from gradtool.engine.core import watch
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.kernels.choice import reference
from gradtool.engine.ops.registry import get_by_type
from gradtool.engine.recorders.pytorch.operators import match
from gradtool.engine.recorders.recorded.repetition import Repetition, repeat_call
from gradtool.engine.runs.bound_kernels import Binding, kernel

from .answers import RUNS


class Framework:
    """A framework of which a call gives its name, its arguments, and its operands doubled."""

    def __init__(self, overload: str, inputs: Sequence[Any], plain: frozenset[str]) -> None:
        self.overload, self.inputs = overload, inputs

    def __call__(self, operands: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
        return [self.overload, list(self.inputs), dict(attrs), [np.asarray(o) * 2 for o in operands]]

    def prepare(self, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        return lambda: self(operands, attrs)

    def aside(self) -> AbstractContextManager[None]:
        return nullcontext()


def tensor(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32))


def repetition(name: str, named: Mapping[str, Any], results: Sequence[Tensor]) -> Repetition | None:
    matched = match(name, named, results)
    assert matched is not None
    return repeat_call(Framework, f"aten::{name}", named, matched, results)


def test_operands_go_where_the_framework_takes_them() -> None:
    b, x, w, out = tensor(1), tensor(2), tensor(3), tensor(4)
    again = repetition("addmm", {"self": b, "mat1": x, "mat2": w, "beta": 1, "alpha": 2}, [out])
    assert again is not None
    [result] = again([np.ones(1), np.ones(2), np.ones(3)]) or []
    assert result == "aten::addmm"
    again._places = [1, 2]
    assert again([np.ones(1), np.ones(2), np.ones(3)]) == [
        [("self", None), ("mat1", None), ("mat2", None)],
        {"beta": 1, "alpha": 2},
    ]


def test_a_tensor_may_stand_twice_and_in_lists() -> None:
    x, out = tensor(1), tensor(2)
    again = repetition("mul", {"self": x, "other": x}, [out])
    assert again is not None
    assert list(again._inputs) == [("self", None), ("other", None)]
    again = repetition("cat", {"tensors": [x, tensor(3), x], "dim": 0}, [tensor(1, 3, 1)])
    assert again is not None
    assert list(again._inputs) == [("tensors", 0), ("tensors", 1), ("tensors", 2)]


def test_what_a_rule_reads_the_shape_of_comes_back() -> None:
    x, out = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((3, 2), np.float32))
    again = repetition("t", {"self": x}, [out])
    assert again is not None
    first, shape = again([x.array]) or []
    assert first == "aten::t"
    assert shape.shape == (0, 2, 3)


def test_a_tensor_that_gradtools_operator_does_not_take_is_not_left_out() -> None:
    x, out = tensor(1), tensor(2)
    matched = match("mul", {"self": x, "other": x}, [out])
    assert matched is not None
    assert repeat_call(Framework, "aten::mul", {"self": x, "other": x, "out": tensor(5)}, matched, [out]) is None


def test_the_kernel_computes_what_the_framework_has_nothing_for() -> None:
    op = get_by_type("scale")
    operands = [np.ones(2, np.float32), None, None]
    binding = Binding(op, op.attributes({"scale": 3.0}), (None,), backend=reference(), again=lambda operands: None)
    np.testing.assert_array_equal(kernel(binding)(*operands)[0], [3, 3])
    binding = Binding(op, op.attributes({"scale": 3.0}), (None,), again=lambda operands: [operands[0] * 5])
    np.testing.assert_array_equal(kernel(binding)(*operands)[0], [5, 5])


def test_profile_times_the_framework_where_it_computed_the_call() -> None:
    x, out = tensor(1, 2), tensor(1, 2)
    again = repetition("relu", {"self": x}, [out])
    assert again is not None
    op = get_by_type("relu")
    call = watch.Computed(op, {}, (x.array,), (out.array,), None, 1, 0.0, reference(), again=again)
    assert profile._computation(call)()[0] == "aten::relu"
    assert profile._computation(replace(call, again=None))().tolist() == [1, 2]


def test_profile_says_what_is_timed_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["stats", "--time", str(RUNS / "r_mlp.torchrun")])
    assert "forward operators are timed in PyTorch where it is installed" in capsys.readouterr().err
