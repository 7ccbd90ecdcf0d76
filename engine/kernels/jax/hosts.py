"""Several hosts: processes that compute one program together, each with devices of its own."""

from __future__ import annotations

import os

import jax

from ...core.errors import BackendError

COORDINATOR, PROCESSES, PROCESS = "GRADTOOL_COORDINATOR", "GRADTOOL_PROCESSES", "GRADTOOL_PROCESS"


def connect() -> bool:
    """Meet the other processes, if the environment speaks of them; whether it does.

    ``GRADTOOL_COORDINATOR=host:port`` is the address where the process of number 0 listens, ``GRADTOOL_PROCESSES`` how
    many there are and ``GRADTOOL_PROCESS`` the number of this one; ``GRADTOOL_COORDINATOR=auto`` leaves all of that to
    JAX, which knows the schedulers of clusters.

    Raises:
        BackendError: the environment says it by halves, or the others do not come.
    """
    address = os.environ.get(COORDINATOR)
    if not address:
        return False
    try:
        if address == "auto":
            jax.distributed.initialize()
        else:
            jax.distributed.initialize(address, int(os.environ[PROCESSES]), int(os.environ[PROCESS]))
    except KeyError as missing:
        raise BackendError(
            f"{COORDINATOR} is set, but {missing.args[0]} is not",
            hint=f"{PROCESSES} says how many processes there are, {PROCESS} which one this is, from 0",
        ) from None
    except (ValueError, RuntimeError) as error:
        raise BackendError(f"the processes of {COORDINATOR}={address} do not come together: {error}") from error
    return True
