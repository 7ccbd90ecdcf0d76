"""Files under another name until they are complete, and what is left of them when a process was killed.

The name says who writes it: ``.gradtool-PLACE-PID-START-RANDOM``. PLACE stands for one boot of one machine, and within
it for one namespace of process numbers, so that another machine that shares the folder, or another container, is never
taken for this one; PID and START (the time when the process began) say which process of it. What a process leaves that
is gone goes with the next write into that folder. Where the system does not tell all this (``/proc``, as on Linux),
nothing is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
_NAME = re.compile(r"\.gradtool-(?P<place>[0-9a-f]{12})-(?P<pid>[1-9]\d{0,9})-(?P<start>\d{1,20})-[0-9a-f]{16}")
_NOWHERE = "0" * 12
_ENDED = ("Z", "X")
"""States of a process that has ended and was not asked how, yet."""


def fresh_name() -> str:
    """A name for a file that this process writes, which no other file has."""
    start = _start(os.getpid()) or "0"
    return f".gradtool-{_place() or _NOWHERE}-{os.getpid()}-{start}-{os.urandom(8).hex()}"


def sweep(folder: str) -> None:
    """Remove from *folder* what processes of this machine that are gone have left there unfinished."""
    place = _place()
    if place is None:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            told = _NAME.fullmatch(entry.name) if entry.name.startswith(".gradtool-") else None
            if told is not None and told["place"] == place and _is_gone(int(told["pid"]), told["start"]):
                with contextlib.suppress(OSError):  # somebody else was faster, or may not
                    os.unlink(entry.path)


def _is_gone(pid: int, start: str) -> bool:
    """Return whether the process of that number that began then has ended; False when that cannot be told."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    now = _start(pid)
    return now is not None and now != start


def _start(pid: int) -> str | None:
    """Return when the process began, in the system's own count; "" when it has ended; None when that is not known."""
    try:
        told = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    state, *numbers = told.rpartition(")")[2].split()  # before it stands the program's name, which may hold anything
    return "" if state in _ENDED else numbers[18]


@cache
def _place() -> str | None:
    """Return an identifier of this boot of this machine; None where the system gives none."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("utf-8")
        processes = os.readlink(_PROC / "self/ns/pid")
    except OSError:
        return None
    return hashlib.sha256(f"{boot}{processes}{socket.gethostname()}".encode()).hexdigest()[: len(_NOWHERE)]
