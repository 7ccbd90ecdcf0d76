"""The JAX backend: the definitions' own kernels over ``jax.numpy``, compiled by XLA for CPUs, GPUs and TPUs."""

from __future__ import annotations

from ...core.errors import BackendError
from ..backend import Backend


def make() -> Backend:
    """The backend.

    Raises:
        BackendError: JAX is not installed.
    """
    try:
        import jax
        import jax.numpy
    except ImportError as error:
        raise BackendError("backend 'jax' needs JAX", hint="pip install 'gradtool[jax]'") from error
    jax.config.update("jax_enable_x64", True)  # float64 and int64 are what programs say
    return Backend("jax", jax.numpy, ("jax",))
