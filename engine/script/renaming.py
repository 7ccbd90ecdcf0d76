"""The names that a file has for what its program computes."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.program import Program
from ..ir.variable import Variable


def rename(program: Program, names: Mapping[Variable, str]) -> None:
    """Call variables of the main block by *names*, in their order; a name that another one has stays with that."""
    block = program.global_block()
    others = {v.name for b in program.blocks for v in b.vars.values() if v not in names}
    for v, name in names.items():
        if v.block is block and name not in others:
            others.add(name)
            v.name = name
    block.vars = {v.name: v for v in block.vars.values()}
    program.version += 1
