"""Random numbers that are not gradtool's: those of Python's ``random`` and of ``numpy.random`` are seeded, too.

A data loader that shuffles, or a script that draws its data with NumPy, is then the same in every run, and two answers
about it are the same bytes. Neither module is imported for that: what is there is seeded, and what comes is when it
comes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from ..core import state
from .imports import guard_imports

Seeder = Callable[[Any, int], Callable[[], None]]


def _seed_python(module: Any, seed: int) -> Callable[[], None]:
    state = module.getstate()
    module.seed(seed)
    return lambda: module.setstate(state)


def _seed_numpy(module: Any, seed: int) -> Callable[[], None]:
    state = module.get_state()
    module.seed(seed % 2**32)
    return lambda: module.set_state(state)


_SEEDERS: Final[dict[str, Seeder]] = {"random": _seed_python, "numpy.random": _seed_numpy}
"""Module -> seeds it, and gives what makes it go on as it was before."""


def _seed(seeder: Seeder, seed: int, restorers: list[Callable[[], None]], module: Any) -> None:
    restorers.append(seeder(module, seed))


@contextmanager
def seed_modules(seed: int) -> Iterator[None]:
    """Inside, both modules draw the same numbers in every run; afterwards they go on as before."""
    restorers: list[Callable[[], None]] = []
    with guard_imports() as guard:
        for name, seeder in _SEEDERS.items():
            if name in sys.modules:
                restorers.append(seeder(sys.modules[name], seed))
            else:
                guard.awaited[name] = partial(_seed, seeder, seed, restorers)
        try:
            yield
        finally:
            guard.awaited.clear()
            for restore in restorers:
                restore()


@contextmanager
def shift_seeds(by: int) -> Iterator[None]:
    """Inside, every seed that a program asks for is another one, so that what it does at random comes out otherwise."""
    modules: list[Any] = [sys.modules[name] for name in _SEEDERS if name in sys.modules]
    before = [module.seed for module in modules]

    def other(seed: Callable[..., None]) -> Callable[..., None]:
        def seed_otherwise(a: Any = None, *rest: Any, **named: Any) -> None:
            seed(a + by if isinstance(a, int) else a, *rest, **named)

        return seed_otherwise

    for module, seed in zip(modules, before, strict=True):
        module.seed = other(seed)
    state.random.shift += by
    try:
        yield
    finally:
        state.random.shift -= by
        for module, seed in zip(modules, before, strict=True):
            module.seed = seed
