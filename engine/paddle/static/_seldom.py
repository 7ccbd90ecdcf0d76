"""Names of ``paddle.static`` that few programs ask for, and the modules that define them.

They stand here and not in the table that every start reads (``_names.py``).
"""

from __future__ import annotations

import importlib
from typing import Any

MODULES: dict[str, str] = {
    "gradtool.engine.executor.compiled": "BuildStrategy CompiledProgram ExecutionStrategy",
    "gradtool.engine.ir.operator": "Operator",
    "gradtool.engine.ir.variable": "Parameter",
    "gradtool.paddle.fluid._saving": "is_persistable load_vars save_vars",
    "gradtool.paddle.static._averages": "ExponentialMovingAverage",
    "gradtool.paddle.static._devices": "device_guard",
    "gradtool.paddle.static._metrics": "accuracy auc",
    "gradtool.paddle.static._weight_norm": "WeightNormParamAttr",
}


def __getattr__(name: str) -> Any:
    for module, names in MODULES.items():
        if name in names.split():
            return getattr(importlib.import_module(module), name)
    raise AttributeError(name)
