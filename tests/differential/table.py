"""The table of functions: a row says how a call of them is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .drawing import Draw

Writing = Callable[[Draw, str], str]


@dataclass(frozen=True)
class Row:
    """One function: what writes a call of it, the modes that have it, how often it is drawn."""

    name: str
    write: Writing
    modes: tuple[str, ...]
    weight: int
    chains: bool


ROWS: dict[str, Row] = {}


def row(
    names: str, within: str = "", modes: str = "eager static", weight: int = 2, chains: bool = True
) -> Callable[[Writing], Writing]:
    """Put functions into the table; ``within`` is the module that they are in.

    ``chains=False`` is for what gives no tensors to go on with or writes more lines than a call.
    """

    def put(write: Writing) -> Writing:
        for short in names.split():
            name = f"{within}.{short}" if within else short
            ROWS[name] = Row(name, write, tuple(modes.split()), weight, chains)
        return write

    return put
