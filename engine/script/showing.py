"""What a model prints, where something asks several questions of it and each of them runs it anew: shown once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar

_run: ContextVar[set[str] | None] = ContextVar("gradtool_models_run", default=None)
"""What has run already of what is shown once; None where every run is shown."""

_muted: ContextVar[bool] = ContextVar("gradtool_model_muted", default=False)


@contextlib.contextmanager
def once() -> Iterator[None]:
    """Inside, of each model the first run alone is shown."""
    token = _run.set(set())
    try:
        yield
    finally:
        _run.reset(token)


@contextlib.contextmanager
def run_of(model: str) -> Iterator[None]:
    """Inside, *model* runs."""
    run = _run.get()
    if run is None or model not in run:
        if run is not None:
            run.add(model)
        yield
        return
    with muted():
        yield


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Inside, nothing is shown of what a model prints: its run is over, and readers call parts of it again."""
    token = _muted.set(True)
    try:
        yield
    finally:
        _muted.reset(token)


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Around code of the user's: what it prints now has been seen, or passes."""
    if not _muted.get():
        yield
        return
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield
