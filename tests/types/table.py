"""The recorded table, the differences that are decided, and what gradtool gives."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path

import gradtool
from gradtool import paddle

from .calls import SHORT, kinds_of
from .decided import Cell
from .dynamic import REFUSED, outcome

HERE = Path(__file__).parent
DECIDED = HERE / "decided.json"
RECORDED: dict[str, list[str]] = json.loads((HERE / "recorded.json").read_text(encoding="utf-8"))["calls"]


def cells(call: str) -> list[Cell]:
    """A call with operands of all types, in dynamic mode."""
    return [cell(call, types) for types in kinds_of(call)]


@cache
def cell(call: str, types: tuple[str, ...]) -> Cell:
    """Return what a call with operands of these types gives in dynamic mode, and what Paddle gave."""
    gradtool.paddle.disable_static()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Cell(call, tuple(SHORT[t] for t in types), _theirs(call)[types], outcome(paddle, call, types))


@cache
def _theirs(call: str) -> dict[tuple[str, ...], str]:
    """Return what Paddle gave, by the types of the operands."""
    given = " ".join(RECORDED[call]).replace("!", REFUSED).split()
    return dict(zip(kinds_of(call), given, strict=True))


def decided() -> dict[tuple[str, tuple[str, ...]], str]:
    """What gradtool gives in the cells whose difference is decided."""
    table = json.loads(DECIDED.read_text(encoding="utf-8"))
    return {
        (call, tuple(types.split(","))): ours
        for call, row in table.items()
        for ours, several in row.items()
        for types in several.split()
    }
