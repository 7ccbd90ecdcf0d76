"""Errors that rows of the tables raise, and what becomes of them."""

from __future__ import annotations


class Lacking(Exception):
    """An operator, or a form of it, that gradtool has no kernel for: it becomes a stand-in."""


class Malformed(Exception):
    """Error for what no ONNX model may hold: the file is refused."""
