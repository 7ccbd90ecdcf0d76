"""A script of verbs, carried out without a prompt."""

from __future__ import annotations

from collections.abc import Iterable

from .notebook import Notebook


def run_script(book: Notebook, lines: Iterable[str], batch: bool) -> int:
    """Carry out *lines*; the exit code, 1 if one of them failed and *batch* is set.

    Args:
        batch: stop at the first line that fails.
    """
    failed = False
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        print(f"In [{book.number}]: {text}")
        _, reply = book.execute(text)
        if reply.text:
            print(reply.text)
        failed = failed or reply.failed
        if book.finished or (failed and batch):
            break
    return int(failed and batch)
