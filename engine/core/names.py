"""Names of gradient variables and unique names: the only file that knows suffixes."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Final

GRAD: Final = "@GRAD"
EMPTY: Final = "@EMPTY@"

_RECOMPUTED = ".subprog_"
_PREFIX = re.compile(r"^(?:grad/)+")
_PART = re.compile(r"@RENAME@block\d+@\d+$")


def grad(var_name: str) -> str:
    """The gradient variable of *var_name*: ``w`` -> ``w@GRAD``."""
    return var_name + GRAD


def part(grad_name: str, block: int, index: int) -> str:
    """The *index*-th summand of a gradient that several operators contribute to."""
    return f"{grad_name}@RENAME@block{block}@{index}"


def is_part(name: str) -> bool:
    """Whether *name* is such a summand (and not a gradient of one)."""
    return "@RENAME@" in name and not name.endswith(GRAD)


def plain(grad_name: str) -> str:
    """What a gradient is called before calls and summands are told apart.

    >>> plain("grad/grad/w@GRAD@RENAME@block0@1")
    'w@GRAD'
    """
    return _PART.sub("", _PREFIX.sub("", grad_name))


def dense(grad_name: str) -> str:
    """The dense gradient that weight decay makes of one of selected rows."""
    return f"{grad_name}@NEWGRAD@"


def again(grad_name: str, call: int) -> str:
    """The gradient name that the *call*-th backward call uses when the plain one is taken."""
    return "grad/" * call + grad_name


def old_version(name: str, version: int) -> str:
    """The value that *name* had before its next write, kept for a gradient that needs it."""
    return f"{name}@VERSION@{version}"


def before_loop(name: str, number: int) -> str:
    """The value that *name* had before a loop overwrote it, saved because it is used afterwards."""
    return f"{name}@BEFORE@{number}"


def recomputed(name: str, segment: int) -> str:
    """What backward computes again for the forward variable *name*; segments count from the last."""
    return f"{name}{_RECOMPUTED}{segment}"


def is_recomputed(name: str) -> bool:
    """Whether :func:`recomputed` made the name, and it is no gradient of such a value."""
    return _RECOMPUTED in name and not name.endswith(GRAD)


def original(name: str) -> str:
    """The forward variable that a recomputed one is a copy of.

    >>> original("h.subprog_0")
    'h'
    """
    return name.partition(_RECOMPUTED)[0]


def segment(name: str) -> int | None:
    """The segment that a recomputed variable belongs to; None for others.

    >>> segment("h.subprog_3")
    3
    """
    number = name.partition(_RECOMPUTED)[2].partition("@")[0]
    return int(number) if number.isdigit() else None


def is_saved(name: str) -> bool:
    """Whether :func:`old_version` made the name for a value of the forward part.

    >>> is_saved("h@VERSION@1"), is_saved("h@VERSION@1@GRAD"), is_saved("h@GRAD@VERSION@1")
    (True, False, False)
    """
    return "@VERSION@" in name and GRAD not in name


def forward(name: str) -> str:
    """The forward variable of a gradient variable: strips ``grad/`` prefixes and all from ``@GRAD`` on.

    >>> forward("grad/grad/w@GRAD@RENAME@block0@1")
    'w'
    """
    return _PREFIX.sub("", name).partition(GRAD)[0]


class UniqueNames:
    """One counter per key: ``fc_0``, ``fc_1``, ``relu_0``, …"""

    __slots__ = ("counts", "journal", "prefix")

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.journal: list[str] | None = None
        """The keys counted since someone began to note them, to be able to take names back."""

    def __call__(self, key: str) -> str:
        number = self.counts[key]
        self.counts[key] = number + 1
        if self.journal is not None:
            self.journal.append(key)
        return f"{self.prefix}{key}_{number}"

    def copy(self) -> UniqueNames:
        new = UniqueNames(self.prefix)
        new.counts.update(self.counts)
        return new
