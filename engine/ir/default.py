"""The programs that operators go to when none is named, and the guards that change them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ..core import state
from ..core.errors import UsageError, expect_type
from .program import Block, Program


class _Default(state.ScopedSetting[Program]):
    """A default program: one for the process, where no guard names another."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._made: Program | None = None
        self._making = threading.Lock()

    def program(self) -> Program:
        entry = self.own()
        program = entry.value if entry is not None else self.get()
        if program is None:
            with self._making:
                program = self._made = self._made or Program()
        return program

    def switch(self, program: Program) -> Program:
        """Use *program* from now on; returns the one before."""
        before = self.program()
        if not self.replace(program):
            self._made = program
        return before


_main = _Default("gradtool_main_program")
_startup = _Default("gradtool_startup_program")


def default_main_program() -> Program:
    """The program that operators are appended to."""
    return _main.program()


def default_startup_program() -> Program:
    """The program that initialises parameters."""
    return _startup.program()


def current_block() -> Block:
    return default_main_program().current_block()


def switch_main_program(program: Program) -> Program:
    """Append operators to *program* from now on; returns the program used before."""
    return _main.switch(program)


def switch_startup_program(program: Program) -> Program:
    """Append initialisers to *program* from now on; returns the program used before."""
    return _startup.switch(program)


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Append operators made inside to *main_program*, initialisers to *startup_program* (or the current one).

    Raises:
        ArgumentTypeError: an argument is no Program.
    """
    expect_type(main_program, Program, "main_program", "paddle.static.program_guard")
    expect_type(startup_program, (Program, type(None)), "startup_program", "paddle.static.program_guard")
    with ExitStack() as guards:
        guards.enter_context(_main.enter(main_program))
        if startup_program is not None:
            guards.enter_context(_startup.enter(startup_program))
        yield


@contextmanager
def append_to(block: Block) -> Iterator[None]:
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
