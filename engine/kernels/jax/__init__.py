"""The JAX backend: the definitions' own kernels over ``jax.numpy``, compiled by XLA for CPUs, GPUs and TPUs.

A plan becomes one compiled function for each set of shapes (``compilation.py``). What cannot be compiled, the reference
computes between compiled parts (``host_operators.py`` says what and why). docs/jax.md explains how it fits together.
"""

from __future__ import annotations

import os

from ...core.errors import BackendError
from ..backend import Backend
from ..choice import PRECISION


def make() -> Backend:
    """The backend.

    Raises:
        BackendError: JAX is not installed.
    """
    try:
        import jax
    except ImportError as error:
        raise BackendError("backend 'jax' needs JAX", hint="pip install 'gradtool[jax]'") from error
    jax.config.update("jax_enable_x64", True)  # float64 and int64 are what programs say
    # float32 means float32, also where less is faster
    jax.config.update("jax_default_matmul_precision", os.environ.get(PRECISION) or "highest")
    from .xla_kernels import connect

    return connect()
