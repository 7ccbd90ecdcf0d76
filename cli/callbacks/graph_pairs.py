"""Callback of ``gradtool graph --pairs``."""

from __future__ import annotations

from typing import Any

from .graph_text import print_operators


def run(values: dict[str, Any]) -> None:
    """Run the command."""
    print_operators(values, lambda view, answer, as_table: view.pairs(answer))
