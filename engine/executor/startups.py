"""Reasons why a persistable variable has no value: the programs that initialize it, and when each of them ran."""

from __future__ import annotations

import sys

from ..core import source
from ..core.source import Location
from ..ir import default
from ..ir.program import Program
from ..ir.variable import Variable

_NAMED = 3
"""Variables of a longer list that are named."""
_DEFAULT = "the default startup program"
_RUN_DEFAULT = "exe.run(paddle.static.default_startup_program())"


def note_run(program: Program) -> None:
    """Note that *program* runs now, and with how many operators, where it has grown since it last ran."""
    count = len(program.global_block().ops)
    if not program.ran or program.ran[-1][0] != count:
        program.ran.append((count, source.site(sys._getframe(1))))


def explain_missing(variable: Variable) -> tuple[str, str]:
    """Return why a persistable *variable* has no value, as the rest of a sentence, and what to do about it."""
    startups = variable.block.program.startups
    maker = next(((p, i) for p in startups if (i := _initializer(p, variable.name)) is not None), None)
    if maker is None:
        return (
            "no startup program initializes it",
            "load its value (paddle.static.load, set_state_dict), or make the variable with an initializer",
        )
    program, place = maker
    if program is default.default_startup_program():
        name, run = _DEFAULT, _RUN_DEFAULT
    else:
        name, run = f"the startup program that was in use {_line(variable.made_at)}", "exe.run(that startup program)"
    if not program.ran:
        return _never_ran(program, name, run, variable)
    count, site = program.ran[-1]
    ran = _line(source.locate(site))
    if place >= count:
        return _came_later(program, name, run, ran, variable)
    return f"{name} ran {ran}, but this scope has no value of it", f"run it in this scope: {run}"


def _never_ran(program: Program, name: str, run: str, variable: Variable) -> tuple[str, str]:
    """Return the reason where *program* has not run: another one may have, in its place."""
    candidates = [*variable.block.program.startups, default.default_startup_program()]
    other = next((p for p in candidates if p is not program and p.ran), None)
    if other is None:
        return f"{name}, which initializes it, has not run", f"run the startup program first: {run}"
    ran = _line(source.locate(other.ran[-1][1]))
    which = _DEFAULT if other is default.default_startup_program() else "another startup program"
    return (
        f"{which} ran {ran}, but {name} initializes it, and that has not run",
        f"run it, too: {run}; or give program_guard and minimize(startup_program=…) the one that you run",
    )


def _came_later(program: Program, name: str, run: str, ran: str, variable: Variable) -> tuple[str, str]:
    """Return the reason where *program* ran before *variable* was added to it."""
    later = program.global_block().ops[program.ran[-1][0] :]
    added = [n for op in later for n in op.output_arg_names]
    names = ", ".join(added[:_NAMED]) + (", …" if len(added) > _NAMED else "")
    variables = "1 variable" if len(added) == 1 else f"{len(added)} variables"
    adder = _adder(variable.made_at)
    return f"{name} ran {ran}, before {adder} added {variables} to it ({names})", f"run it after that: {run}"


def _initializer(startup: Program, name: str) -> int | None:
    """Return the place of the operator that gives a variable its first value."""
    return next((i for i, op in enumerate(startup.global_block().ops) if name in op.output_arg_names), None)


def _line(location: Location) -> str:
    place = source.short(location)
    return f"at {place}" if place else "before"


def _adder(location: Location) -> str:
    """Return what people call the call of a line that made a variable: ``minimize at train.py:8``."""
    text = source.text(*location[0]) if location else ""
    return f"{'minimize' if '.minimize(' in text else 'the program'} {_line(location)}"
