"""Options that say which rules of the gate are applied: those of ``check``, and of a sweep of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def rule_options(prefix: str = "") -> Callable[[F], F]:
    """``--select`` and ``--ignore``.

    Args:
        prefix: what the help begins with, for a command of which they concern a part.
    """
    codes = f"{prefix}Rules to apply: GT103, GT1, detached, ALL."
    select = click.option("--select", multiple=True, metavar="CODE", help=codes)
    ignore = click.option("--ignore", multiple=True, metavar="CODE", help=f"{prefix}Rules to leave out.")
    return lambda command: select(ignore(command))
