"""NumPy with oneDNN's convolutions: the kernels that frameworks use on CPUs, called through its C interface.

``products.py`` says which convolutions are computed by it and ``poolings.py`` which maxima, ``loading.py`` loads it for
the first of them, ``library.py`` finds and declares its interface, ``compiling.py`` and ``primitive.py`` make what it
compiles for sizes and layouts. Everything else is NumPy's, and plans that run often are compiled as those of the
reference are.

It is what computes where nobody has chosen and the extra is installed. That follows from the names in the folders of
packages; the library itself is loaded when the first convolution comes that is large enough.
"""

from __future__ import annotations

from functools import cache

import numpy

from ..backend import CHOSEN, Backend
from ..choice import reference, when_hot
from . import poolings, products, wheel
from .loading import ONEDNN


class ConvolvingBackend(Backend):
    """NumPy, with convolutions by oneDNN where that can be loaded."""

    @property
    def remark(self) -> str:
        failure = ONEDNN.failure()
        if failure is None:
            return "convolutions are oneDNN's, which differ from NumPy's in their last digits"
        return f"convolutions are NumPy's, since oneDNN cannot be used here ({failure.message})"


def make() -> Backend:
    """The backend, asked for by name.

    Raises:
        BackendError: oneDNN is not installed, or is older than its third version.
    """
    failure = ONEDNN.failure()
    if failure is not None:
        raise failure
    return when_hot(_own(), CHOSEN)


def find_backend() -> Backend | None:
    """The backend, if the extra is installed; nothing is loaded."""
    return _own() if wheel.folder() is not None else None


@cache
def _own() -> Backend:
    reference()  # its overrides are asked next
    products.register()
    poolings.register()
    return ConvolvingBackend("onednn", numpy, ("onednn", "numpy"))
