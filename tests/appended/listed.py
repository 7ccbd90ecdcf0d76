"""The types of Paddle's registry: their slots, and which of them gradtool has, lacks, or is not going to have."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import Slot, parse_slots

from . import families


class Listed(NamedTuple):
    """A type of the registry."""

    type: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    on_cpu: bool
    """Whether Paddle has a kernel of it for the CPU that it lists under this name."""


@cache
def types() -> dict[str, Listed]:
    """Every type that Paddle 3.1.1 has a forward for, by name (``record.py``)."""
    read = {}
    text = Path(__file__).with_name("registry.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        slots, _, cpu = line.replace("~", "").partition(" | ")
        type_, _, rest = slots.partition(":")
        before, _, after = rest.partition("->")
        read[type_] = Listed(type_, parse_slots(before), parse_slots(after), cpu == "cpu")
    return read


def have() -> list[str]:
    """Those that can be appended."""
    return [t for t in types() if registry.find(t) is not None]


def reasons() -> dict[str, str]:
    """Those that are not going to come -> why."""
    return {t: why for t in types() if (why := families.reason(t)) is not None and registry.find(t) is None}


def lack() -> list[str]:
    """Those that are to come."""
    return [t for t in types() if registry.find(t) is None and families.reason(t) is None]
