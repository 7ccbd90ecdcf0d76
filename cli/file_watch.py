"""Checking again whenever a file changes, until Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import click

_MORE = (".toml", ".npz", ".npy")
"""What settings and arrays are called, beside models and their values."""

_NOT_ENTERED = frozenset({"__pycache__", "node_modules", "site-packages"})

EVERY = 0.5
"""Seconds between two looks at the files."""

Stamps = dict[str, tuple[int, int]]


def check_again(
    words: Sequence[str],
    folders: Sequence[str],
    apart: Collection[str] = (),
    check: Callable[[Sequence[str]], int] | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Carry out a command line now and after every change, each time in a process of its own.

    Args:
        words: the command line without ``--watch``.
        folders: where files may change; files that are named count as well.
        apart: files that do not count: what the command line itself writes.
        check: carries out a command line and gives its exit code.
        wait: lets time pass.

    Returns:
        The exit code of the last time, when Ctrl-C ends it.
    """
    code = 0
    check = check or _run_process
    try:
        while True:
            before = dict(_stamps(folders, apart))
            code = check(words)
            changed = ""
            while not changed:
                wait(EVERY)
                changed = _difference(before, dict(_stamps(folders, apart)))
            click.echo(f"\n{changed}: checking again\n", err=True)
    except KeyboardInterrupt:
        return code


def _run_process(words: Sequence[str]) -> int:
    call = [sys.executable, "-P", "-m", "gradtool", *words]
    return subprocess.run(call, env={**os.environ, "GRADTOOL_CHECK_WATCH": "0"}).returncode


def _stamps(folders: Iterable[str], apart: Collection[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Times and sizes of the files below."""
    not_these = {os.path.abspath(file) for file in apart}
    for file in _files(folders):
        try:
            status = os.stat(file)
        except OSError:
            continue  # it went meanwhile
        if os.path.abspath(file) not in not_these:
            yield os.path.normpath(file), (status.st_mtime_ns, status.st_size)


def _files(folders: Iterable[str]) -> Iterator[str]:
    from gradtool.engine.importers import endings, saved_program

    watched = (*endings(), *saved_program.VALUES, *_MORE)
    for folder in folders:
        if os.path.isfile(folder):
            yield folder
        for at, inner, files in os.walk(folder):
            inner[:] = [f for f in inner if f[0] != "." and f not in _NOT_ENTERED]
            yield from (os.path.join(at, file) for file in files if file.lower().endswith(watched))


def _difference(before: Stamps, after: Stamps) -> str:
    """Return the files that changed, in words; empty if none did."""
    changed = sorted(f for f in {*before, *after} if before.get(f) != after.get(f))
    if not changed:
        return ""
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"{changed[0]}{more} changed"
