"""The node tests of the ONNX standard, as the package onnx makes them: which of them gradtool passes."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError, GradtoolError
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.importers.onnx.narrow_types import CARRIERS
from gradtool.engine.importers.onnx.operators import rows
from gradtool.engine.importers.onnx.reading import read
from gradtool.engine.ops.stand_in import StandIn
from gradtool.paddle.utils import unique_name

PASSED, DIFFERS, REFUSED, LACKING, TYPES = "passed", "differs", "refused", "no kernel", "no such type"


class Outcome(NamedTuple):
    """What became of a case: one of the five words above, and why."""

    name: str
    kind: str
    what: str
    why: str = ""


def cases(leaving_out: Collection[str] = ()) -> list[Any]:
    """The cases of the standard's own operators, in the order of their names.

    Args:
        leaving_out: modules of cases that are not made.
    """
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if leaving_out:
            for module in pkgutil.iter_modules(node.__path__):
                if module.name not in leaving_out and not module.ispkg:
                    importlib.import_module(f"{node.__name__}.{module.name}")
            every = list(node._NodeTestCases)
        else:
            every = node.collect_testcases(None)
    own = [c for c in every if all(o.domain in ("", "ai.onnx") for o in c.model.opset_import)]
    return sorted(own, key=lambda c: str(c.name))


def outcome(case: Any) -> Outcome:
    """Read the model of a case, run it on the inputs, and compare."""
    kind = case.name.removeprefix("test_")
    kinds = {n.op_type for n in case.model.graph.node}
    kind = next(iter(kinds)) if len(kinds) == 1 else kind
    with warnings.catch_warnings(), scope_guard(Scope()), unique_name.guard(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = _ran(case, kind)
            for first in (1, 0):
                if result.what == LACKING and "computed" in result.why and len(case.model.graph.input) > first:
                    result = _ran(case, kind, first)
            return result
        except FileFormatError as error:
            text = str(error).replace("\n", " ")
            return Outcome(
                case.name, kind, TYPES if "element type" in text or "gradtool feeds" in text else REFUSED, text
            )
        except GradtoolError as error:
            return Outcome(case.name, kind, REFUSED, f"{type(error).__name__}: {error}".replace("\n", " "))


def _ran(case: Any, kind: str, first: int | None = None) -> Outcome:
    """Run a case.

    Args:
        first: this operand and those behind it are initializers, as exporters write axes and sizes.
    """
    from onnx import ModelProto, numpy_helper

    described = ModelProto.FromString(case.model.SerializeToString())
    if first is not None:
        for value, array in list(zip(described.graph.input, case.data_sets[0][0], strict=True))[first:]:
            described.graph.initializer.append(numpy_helper.from_array(_array(array), value.name))
        del described.graph.input[first:]
    model = read(described.SerializeToString(), case.name, Path("."))
    stands = [op for b in model.program.blocks for op in b.ops if isinstance(op.op, StandIn)]
    if stands:
        why = "; ".join(stands[0].op.absent.texts())  # type: ignore[attr-defined]
        return Outcome(case.name, kind, TYPES if "element type" in why else LACKING, why)
    executor = paddle.static.Executor()
    fed = [i.name for i in described.graph.input]
    for inputs, outputs in case.data_sets:
        feed = {n: _carried(_array(a)) for n, a in zip(fed, inputs, strict=False)}
        results = executor.run(model.program, feed=feed, fetch_list=list(model.outputs)) if model.outputs else []
        expected = [a for o in outputs for a in (o if isinstance(o, list) else [o])]
        for got, want in zip(results, expected, strict=True):
            why = _difference(np.asarray(got), _array(want), case)
            if why:
                return Outcome(case.name, kind, DIFFERS, why)
    return Outcome(case.name, kind, PASSED)


def _array(value: Any) -> Any:
    from onnx import TensorProto, numpy_helper

    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


_UNITS = {"bfloat16": 2**-7, "float16": 2**-10}
"""Of the last place of types in which whoever computes rounds at other places than the standard's own functions."""

_DRAWN = ("bernoulli", "training_dropout")


def _carried(want: Any) -> Any:
    """Expected elements in the type that keeps them here."""
    carrier = CARRIERS.get(_STANDARD.get(want.dtype.name, want.dtype.name))
    return want.astype(carrier) if carrier else want


_STANDARD = {
    "float8_e4m3fn": "float8e4m3fn",
    "float8_e4m3fnuz": "float8e4m3fnuz",
    "float8_e5m2": "float8e5m2",
    "float8_e5m2fnuz": "float8e5m2fnuz",
    "float8_e8m0fnu": "float8e8m0",
    "float4_e2m1fn": "float4e2m1",
}
"""Names of ml_dtypes -> names of the standard."""


def _difference(got: Any, want: Any, case: Any) -> str:
    want = _carried(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if any(n in case.name for n in _DRAWN):
        return ""  # random numbers: another stream is as right
    want_type = want.dtype.name
    if want.dtype.kind in "fV":
        got, want = got.astype("float64"), want.astype("float64")
    rtol = max(case.rtol, _UNITS.get(want_type, 0))
    if not np.allclose(got, want, rtol=rtol, atol=max(case.atol, 1e-6), equal_nan=True):
        return f"the largest difference is {np.nanmax(np.abs(got.astype('float64') - want.astype('float64')))}"
    return ""


def outcomes(pattern: str = "") -> Iterator[Outcome]:
    """What becomes of all cases whose name holds *pattern*."""
    paddle.enable_static()
    try:
        for case in cases():
            if pattern in case.name:
                yield outcome(case)
    finally:
        paddle.disable_static()


def table() -> int:
    """How many operators have a row."""
    return len(rows.TABLE)
