"""What rows of the tables raise, and what becomes of it."""

from __future__ import annotations


class Lacking(Exception):
    """An operator, or a form of it, that gradtool has no kernel for: it becomes a stand-in."""


class Malformed(Exception):
    """What no ONNX model may hold: the file is refused."""
