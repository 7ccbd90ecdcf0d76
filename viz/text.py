"""Names as people see them: on one line, and not too long."""

from __future__ import annotations


def printable(name: str) -> str:
    r"""*name* on one line: control characters become visible escapes such as ``\n``."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name)


def shortened(name: str, longest: int) -> str:
    """*name*, its middle replaced by ``…`` when it is longer than *longest*."""
    if len(name) <= longest:
        return name
    head = (longest - 1) * 2 // 3
    return f"{name[:head]}…{name[-(longest - 1 - head) :]}"
