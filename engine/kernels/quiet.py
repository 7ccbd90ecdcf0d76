"""Silence for kernels: infinities and NaN are results, not warnings.

``numpy.errstate`` builds its state anew each time, which costs as much as a small operator. Where NumPy's own context
variable can be had, the state is made once and set: ``token = hush(IGNORED)``, and ``unhush(token)`` afterwards.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np


def error_state(module: str) -> tuple[Callable[[Any], Any], Callable[[Any], object], Any]:
    """The functions that set and reset NumPy's error state, and the state in which all is ignored.

    Args:
        module: where NumPy keeps the context variable; without it, NumPy's public functions serve.
    """
    try:
        variable = importlib.import_module(module)._extobj_contextvar
        with np.errstate(all="ignore"):
            return variable.set, variable.reset, variable.get()
    except (ImportError, AttributeError, LookupError):
        return (lambda state: np.seterr(**state)), (lambda before: np.seterr(**before)), {"all": "ignore"}


hush, unhush, IGNORED = error_state("numpy._core.umath")
