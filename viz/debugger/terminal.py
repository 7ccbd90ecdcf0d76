"""A session at the prompt: cells are read from stdin, one line each, and answered on stdout."""

from __future__ import annotations

import sys

from .notebook import Notebook


def interact(book: Notebook) -> int:
    """Read and answer cells until ``quit`` or the end of the input; the exit code."""
    print(book.opening or book.here())
    while not book.finished:
        sys.stdout.write(f"In [{book.number}]: ")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            print()
            break
        if line.strip():
            _, reply = book.execute(line.rstrip("\n"))
            if reply.text:
                print(reply.text)
    return 0
