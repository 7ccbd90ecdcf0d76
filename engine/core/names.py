"""Names of gradient variables and unique names: the only file that knows suffixes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

GRAD: Final = "@GRAD"
EMPTY: Final = "@EMPTY@"

_RECOMPUTED = ".subprog_"
_PREFIX = re.compile(r"^(?:grad/)+")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_PART = re.compile(r"@RENAME@block\d+@\d+$")


def grad(var_name: str) -> str:
    """The gradient variable of *var_name*: ``w`` -> ``w@GRAD``."""
    return var_name + GRAD


def part(grad_name: str, block: int, index: int) -> str:
    """The *index*-th summand of a gradient that several operators contribute to."""
    return f"{grad_name}@RENAME@block{block}@{index}"


def is_part(name: str) -> bool:
    """Return whether *name* is such a summand (and not a gradient of one)."""
    return "@RENAME@" in name and not name.endswith(GRAD)


def plain(grad_name: str) -> str:
    """Return the name of a gradient without the marks of calls and summands.

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


def loop_entry_name(name: str, number: int) -> str:
    """The value that *name* had before a loop overwrote it, saved because it is used afterwards."""
    return f"{name}@BEFORE@{number}"


def name_of_recomputation(name: str, segment: int) -> str:
    """Return the name of the value that backward computes again for *name*; segments count from the last."""
    return f"{name}{_RECOMPUTED}{segment}"


def is_recomputed(name: str) -> bool:
    """Return whether :func:`name_of_recomputation` made the name, and it is no gradient of such a value."""
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
    """Return whether :func:`old_version` made the name for a value of the forward part.

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


_OUTPUT: Final = ".tmp"
"""What the outputs of a layer are counted under, behind its name."""


class UniqueNames:
    """One counter per key: ``fc_0``, ``fc_1``, ``relu_0``, …

    Most layers have one output, ``relu_7.tmp_0``, counted under ``relu_7.tmp``. A million of them would need a million
    counters that all stand at one: :meth:`output` holds them as ranges of numbers of layers.

    Attributes:
        counts: the counters, but those of layers in *outputs*; change it through the methods, and read
            :meth:`every_count`.
        outputs: by a layer's key the numbers of layers with one output, as begin, end, begin, end, ….
    """

    __slots__ = ("counts", "journal", "outputs", "prefix")

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counts: dict[str, int] = {}
        self.outputs: dict[str, list[int]] = {}
        self.journal: list[str] | None = None
        """The keys counted since someone began to note them, to be able to take names back."""

    def __call__(self, key: str) -> str:
        number = self.counts.get(key)
        if number is None:
            number = self._default_count(key)
        self.counts[key] = number + 1
        if self.journal is not None:
            self.journal.append(key)
        return f"{self.prefix}{key}_{number}"

    def output(self, key: str) -> str:
        """The name of the next layer's one output: ``names(f"{names(key)}.tmp")``.

        >>> names = UniqueNames()
        >>> names.output("relu"), names.output("relu"), names("relu_0.tmp")
        ('relu_0.tmp_0', 'relu_1.tmp_0', 'relu_0.tmp_1')
        """
        counts = self.counts
        number = counts.get(key, 0)
        counter = f"{key}_{number}.tmp"
        if self.prefix or self.journal is not None or counter in counts or key.endswith(_OUTPUT):
            return self(f"{self(key)}{_OUTPUT}")
        counts[key] = number + 1
        ranges = self.outputs.get(key)
        if ranges is None:
            self.outputs[key] = [number, number + 1]
        elif ranges[-1] == number:
            ranges[-1] = number + 1
        elif ranges[-1] < number:
            ranges += [number, number + 1]
        else:  # the counter of layers was set back
            return self(counter)
        return f"{counter}_0"

    def _default_count(self, counter: str) -> int:
        """Return the count of a counter that is missing in *counts*: one if its layer is in one of the ranges."""
        if not (self.outputs and counter.endswith(_OUTPUT)):
            return 0
        key, _, number = counter.removesuffix(_OUTPUT).rpartition("_")
        ranges = self.outputs.get(key)
        if ranges is None or not _NUMBER.fullmatch(number):
            return 0
        return bisect_right(ranges, int(number)) % 2

    def every_count(self) -> dict[str, int]:
        """All counters, sorted by key."""
        counts = dict(self.counts)
        for key, ranges in self.outputs.items():
            for begin, end in zip(ranges[::2], ranges[1::2], strict=True):
                for number in range(begin, end):
                    counts.setdefault(f"{key}_{number}{_OUTPUT}", 1)
        return dict(sorted(counts.items()))

    def copy(self) -> UniqueNames:
        new = UniqueNames(self.prefix)
        new.become(self)
        return new

    def become(self, other: UniqueNames) -> None:
        """Go on counting where *other* stands."""
        self.counts = dict(other.counts)
        self.outputs = {key: list(ranges) for key, ranges in other.outputs.items()}

    def raise_to(self, key: str, count: int) -> None:
        """Let the counter of *key* stand at *count* at least."""
        self.counts[key] = max(self.counts.get(key, self._default_count(key)), count)

    def take_back(self, keys: Iterable[str]) -> None:
        """Set the counters of *keys*, which the journal noted, back by one for each time that they stand in it."""
        for key in keys:
            self.counts[key] -= 1

    def begin_anew(self) -> None:
        """Count from the beginning."""
        self.counts = {}
        self.outputs = {}
