"""Silence for kernels: infinities and NaN are results, not warnings.

``numpy.errstate`` builds its state anew each time, which costs as much as a small operator. Where NumPy's own context
variable can be had, the state is made once and set.
"""

from __future__ import annotations

import importlib
from contextvars import ContextVar, Token
from typing import Any

import numpy as np


def _state_of_numpy() -> tuple[ContextVar[Any], Any]:
    """The variable that holds NumPy's error state, and the state in which all is ignored."""
    try:
        variable = importlib.import_module("numpy._core.umath")._extobj_contextvar
        with np.errstate(all="ignore"):
            return variable, variable.get()
    except (ImportError, AttributeError, LookupError):
        return ContextVar("gradtool_no_error_state"), None


_variable, _ignored = _state_of_numpy()


def hush() -> Any:
    """Ignore floating-point errors from here on; returns what :func:`unhush` takes."""
    if _ignored is not None:
        return _variable.set(_ignored)
    return np.seterr(all="ignore")


def unhush(before: Any) -> None:
    """Treat floating-point errors as before :func:`hush`."""
    if isinstance(before, Token):
        _variable.reset(before)
    else:
        np.seterr(**before)
