"""What tests have to themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradtool.engine.core import state
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.ir import default


@contextmanager
def clean() -> Iterator[None]:
    """Empty programs, an empty scope, and random numbers from the beginning."""
    state.random.reset(0)
    with default.fresh_programs(), scope_guard(Scope()):
        yield
