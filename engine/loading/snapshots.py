"""A file's programs and values as it left them, whatever is computed with them afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core import state
from ..executor.scope import global_scope
from ..ir.program import Program
from ..ir.transaction import restore
from ..script.attributes import is_a
from ..script.script_state import Loaded


@contextmanager
def restore_programs(left: Loaded) -> Iterator[None]:
    """Give programs, the scope and random numbers back as they are now."""
    programs = _programs(left)
    if not left.main.global_block().ops and not any(programs):
        with state.keep_state():
            yield
        return
    values = global_scope().values.raw
    before = {name: _copy(value) for name, value in values.items()}
    try:
        with state.keep_state(), restore(*programs):
            yield
    finally:
        values.clear()
        values.update(before)


def _programs(left: Loaded) -> list[Program]:
    """Return the programs of the file: those in use, those that have a name, those of its backward calls."""
    named = [v for v in left.namespace.values() if is_a(v, Program)]
    called = [call.block.program for call in left.calls.every if call.block is not None]
    fed = [program for program, _ in left.calls.fed if isinstance(program, Program)]
    return list(dict.fromkeys([left.main, left.startup, *named, *called, *fed]))


def _copy(value: Any) -> Any:
    return value.copy() if hasattr(value, "copy") else value
