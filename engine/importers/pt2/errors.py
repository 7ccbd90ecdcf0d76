"""Errors that rows of the tables raise, and what becomes of them."""

from __future__ import annotations


class Missing(Exception):
    """An operator, or a form of it, that gradtool has no kernel for: it becomes a stand-in."""


class Unsound(Exception):
    """Error for what no exported program may hold: the file is refused."""
