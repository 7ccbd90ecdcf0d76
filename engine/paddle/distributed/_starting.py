"""Starting processes: one, which is this one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from gradtool.engine.core.errors import UnsupportedError


class Spawned:
    """A function that has run.

    Attributes:
        processes: none.
    """

    processes: tuple[()] = ()

    def join(self, timeout: float | None = None) -> bool:
        """True: it has ended."""
        return True


def spawn(
    func: Callable[..., Any],
    args: Iterable[Any] = (),
    nprocs: int = -1,
    join: bool = True,
    daemon: bool = False,
    **options: Any,
) -> Spawned:
    """Call *func*, in this process, so that what it computes can be looked at.

    Args:
        nprocs: 1, or -1 for as many as there are devices, which is one.

    Raises:
        UnsupportedError: more processes are asked for (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.distributed.spawn(print, args=("trained",)).join()
    trained
    True
    """
    if nprocs not in (-1, 1):
        raise UnsupportedError(
            f"paddle.distributed.spawn: {nprocs} processes are asked for, and gradtool computes in one.",
            hint="set nprocs=1",
        )
    func(*args)
    return Spawned()


def launch() -> NoReturn:
    """Start a script in several processes.

    Raises:
        UnsupportedError: always: gradtool runs scripts itself (a ValueError).
    """
    raise UnsupportedError(
        "paddle.distributed.launch starts processes on several devices, and gradtool computes in one.",
        hint="give the script to gradtool itself: gradtool backward train.py -- its arguments",
    )
