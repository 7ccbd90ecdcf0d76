"""The recorded table, the differences that are decided, and what gradtool gives."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path

import gradtool

from .calls import SHORT, kinds_of
from .decided import Cell
from .dynamic import REFUSED, outcome

HERE = Path(__file__).parent
DECIDED = HERE / "decided.json"
RECORDED: dict[str, list[str]] = json.loads((HERE / "recorded.json").read_text(encoding="utf-8"))["calls"]


@cache
def cells(call: str) -> list[Cell]:
    """A call with operands of all types, in dynamic mode."""
    theirs = " ".join(RECORDED[call]).replace("!", REFUSED).split()
    rows = []
    gradtool.disable_static()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for types, cell in zip(kinds_of(call), theirs, strict=True):
            rows.append(Cell(call, tuple(SHORT[t] for t in types), cell, outcome(gradtool, call, types)))
    return rows


def decided() -> dict[tuple[str, tuple[str, ...]], str]:
    """What gradtool gives in the cells whose difference is decided."""
    table = json.loads(DECIDED.read_text(encoding="utf-8"))
    return {
        (call, tuple(types.split(","))): ours
        for call, row in table.items()
        for ours, several in row.items()
        for types in several.split()
    }
