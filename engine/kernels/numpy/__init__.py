"""The NumPy backend: always there, the reference that others are compared with."""

from __future__ import annotations

import numpy

from ..backend import Backend
from . import gradients, rows, ufuncs


def make() -> Backend:
    """The backend, with its overrides registered."""
    ufuncs.register()
    gradients.register()
    rows.register()
    return Backend("numpy", numpy, ("numpy",))
