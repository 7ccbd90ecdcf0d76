"""The NumPy backend: always there, the reference that others are compared with."""

from __future__ import annotations

import numpy

from ..backend import Backend
from ..memory import keep_freed_memory
from ..threads import follow_environment
from ..waiting import wait_briefly
from . import (
    activations,
    depthwise,
    gradients,
    layer_norm,
    normalizations,
    ordering,
    pooling,
    products,
    recurrent,
    reductions,
    rows,
    shapes,
    softmax,
    ufuncs,
)


def make() -> Backend:
    """The backend, with its overrides registered.

    Raises:
        UsageError: the environment asks for what is no number of threads.
    """
    keep_freed_memory()
    wait_briefly()
    follow_environment()
    products.register()
    depthwise.register()
    pooling.register()
    ufuncs.register()
    activations.register()
    gradients.register()
    reductions.register()
    softmax.register()
    layer_norm.register()
    normalizations.register()
    ordering.register()
    shapes.register()
    rows.register()
    recurrent.register()
    return Backend("numpy", numpy, ("numpy",))
