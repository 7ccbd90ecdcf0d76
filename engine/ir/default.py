"""The programs that operators go to when none is named, and the guards that change them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..core import state
from ..core.errors import UsageError, expect_type
from .program import Block, Program

_main: ContextVar[Program | None] = ContextVar("gradtool_main_program", default=None)
_startup: ContextVar[Program | None] = ContextVar("gradtool_startup_program", default=None)


def default_main_program() -> Program:
    """The program that operators are appended to."""
    found = _main.get()
    if found is None:
        found = Program()
        _main.set(found)
    return found


def default_startup_program() -> Program:
    """The program that initialises parameters."""
    found = _startup.get()
    if found is None:
        found = Program()
        _startup.set(found)
    return found


def current_block() -> Block:
    return default_main_program().current_block()


def switch_main_program(program: Program) -> Program:
    """Append operators to *program* from now on; returns the program used before."""
    before = default_main_program()
    _main.set(program)
    return before


def switch_startup_program(program: Program) -> Program:
    """Append initialisers to *program* from now on; returns the program used before."""
    before = default_startup_program()
    _startup.set(program)
    return before


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Append operators made inside to *main_program*, initialisers to *startup_program* (or the current one).

    Raises:
        ArgumentTypeError: an argument is no Program.
    """
    expect_type(main_program, Program, "main_program", "paddle.static.program_guard")
    expect_type(startup_program, (Program, type(None)), "startup_program", "paddle.static.program_guard")
    main = _main.set(main_program)
    startup = _startup.set(startup_program) if startup_program is not None else None
    try:
        yield
    finally:
        _main.reset(main)
        if startup is not None:
            _startup.reset(startup)


@contextmanager
def inside(block: Block) -> Iterator[None]:
    """Append operators made inside to *block* of its program."""
    program = block.program
    before, program.current_block_idx = program.current_block_idx, block.idx
    try:
        yield
    finally:
        program.current_block_idx = before


@contextmanager
def fresh_programs() -> Iterator[tuple[Program, Program]]:
    """New empty default programs for the code inside; yields them."""
    main, startup = Program(), Program()
    with program_guard(main, startup):
        yield main, startup


class EmptyScopeName(UsageError, AssertionError):
    """A name scope without a name (Paddle raises AssertionError)."""


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Mark operators made inside with ``op_namescope``; a name repeated within a program becomes ``/a_1/``.

    Raises:
        ArgumentTypeError: *prefix* is no string (a TypeError).
        EmptyScopeName: it is empty, or None in static mode (an AssertionError).
    """
    expect_type(prefix, (str, type(None)), "prefix", "paddle.static.name_scope")
    if not prefix and state.in_static_mode():
        raise EmptyScopeName("name_scope: the prefix must not be empty.", hint="name the part of the model")
    program = default_main_program()
    outer = state.name_scope()
    key = (outer, prefix or "")
    count = program.scope_names.get(key, 0)
    program.scope_names[key] = count + 1
    name = prefix or ""
    with state.entered_scope(f"{outer}{name}_{count}/" if count else f"{outer}{name}/"):
        yield
