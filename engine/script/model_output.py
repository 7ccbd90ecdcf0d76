"""Output of a model, where something asks several questions of it and each of them runs it anew: shown once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from . import streams

_run: ContextVar[set[str] | None] = ContextVar("gradtool_models_run", default=None)
"""What has run already of what is shown once; None where every run is shown."""


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
    streams.forget()
    run = _run.get()
    if run is None or model not in run:
        if run is not None:
            run.add(model)
        yield
        return
    with mute():
        yield


@contextlib.contextmanager
def mute() -> Iterator[None]:
    """Inside, nothing is shown of what a model prints: its run is over, and readers call parts of it again."""
    token = streams.muted.set(True)
    try:
        yield
    finally:
        streams.muted.reset(token)
