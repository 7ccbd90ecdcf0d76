"""Paddle's public names, which of them gradtool has, and why it lacks the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from gradtool import paddle
from gradtool.paddle import _absent, _recorded

from .record import FILE

NOT_YET = Path(__file__).with_name("not_yet.txt")
"""What gradtool lacks and is going to have: a name with its namespace on each line, in order."""


class Space(NamedTuple):
    """A namespace.

    Attributes:
        names: what Paddle has in it.
        have: those of them that gradtool has.
        reasons: why it is not going to have some, by name.
    """

    path: str
    names: list[str]
    have: set[str]
    reasons: dict[str, str]

    @property
    def lack(self) -> list[str]:
        """The names that gradtool is going to have and has not."""
        return [f"{self.path}.{n}" for n in self.names if n not in self.have and n not in self.reasons]


def recorded() -> dict[str, list[str]]:
    """Paddle's names by namespace."""
    spaces: dict[str, list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.endswith(":"):
            spaces[line[:-1]] = []
        else:
            spaces[[*spaces][-1]].append(line.strip())
    return spaces


def spaces() -> list[Space]:
    """Every namespace, compared."""
    return [Space(path, names, ours(path) & {*names}, reasons(path)) for path, names in recorded().items()]


def reasons(path: str) -> dict[str, str]:
    """Why names of that namespace are not to come."""
    package = f"gradtool.{path}"
    return {name: why for (home, name), why in _absent.reasons().items() if home == package}


def ours(path: str) -> set[str]:
    """The names that gradtool has in that namespace, without those that stand there to say why they are missing."""
    owner: Any = paddle
    for part in path.split(".")[1:]:
        if part not in dir(owner):
            return set()
        owner = getattr(owner, part)
    return {n for n in dir(owner) if not isinstance(getattr(owner, n, None), _recorded.NotHere)}


def lacking() -> list[str]:
    """What gradtool is going to have and has not, with namespaces."""
    return [name for space in spaces() for name in space.lack]


def not_yet() -> list[str]:
    """The same as it is written down."""
    return NOT_YET.read_text(encoding="utf-8").splitlines()


def renew() -> None:
    """Write it down."""
    NOT_YET.write_text("".join(f"{name}\n" for name in lacking()), encoding="utf-8")
