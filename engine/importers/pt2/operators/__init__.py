"""Operators of ATen, a file for each family, each a table of rows (:mod:`.rows`)."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
