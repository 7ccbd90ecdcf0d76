"""Trace under way in this thread: it turns tensors into variables, and knows whether gradients are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtool.engine.core.state import tracing

if TYPE_CHECKING:
    from ..tracing import Trace

__all__ = ["current", "tracing"]


def current() -> Trace | None:
    """The trace under way, or None."""
    trace: Any = tracing.get()
    return trace  # type: ignore[no-any-return]
