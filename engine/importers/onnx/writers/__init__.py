"""Writers of operators as nodes of ONNX: a file for each family, a row for each operator.

A row is a function of a :class:`..writing.OnnxCall`; it gives the name of its result, or of several by their slots.
"""

import importlib
import pkgutil

from .rows import TABLE

__all__ = ["TABLE"]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
