"""Steps of optimizers."""

from __future__ import annotations

from typing import Any

from ..writing import OnnxCall
from .rows import writes


@writes("sgd")
def _sgd(c: OnnxCall) -> Any:
    c.only("MasterParam")
    step = c.w.node("Mul", c["Grad"], c["LearningRate"])
    return {"ParamOut": c.w.node("Sub", c["Param"], step)}
