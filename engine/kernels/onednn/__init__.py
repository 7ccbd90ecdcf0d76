"""NumPy with oneDNN's convolutions: the kernels that frameworks use on CPUs, called through its C interface.

``library.py`` finds and declares the interface, ``primitive.py`` makes what oneDNN compiles for sizes and layouts, and
``products.py`` says which convolutions are computed by it. Everything else is NumPy's.
"""

from __future__ import annotations

import numpy

from ..backend import Backend
from ..choice import backend


def make() -> Backend:
    """The backend.

    Raises:
        BackendError: oneDNN is not installed, or is older than its third version.
    """
    from .library import Library
    from .products import register

    backend("numpy")  # its overrides are asked next
    register(Library())
    return Backend("onednn", numpy, ("onednn", "numpy"))
