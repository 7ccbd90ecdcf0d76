"""Options that say which rules of the gate are applied: those of ``check``, and of a sweep of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def rule_options(kind: type[click.Option] = click.Option, where: str = "") -> Callable[[F], F]:
    """``--select`` and ``--ignore``.

    Args:
        kind: of options, for a command that needs them rarely.
        where: follows "rules" in the help, for a command of which they concern a part.
    """
    codes = f"Apply these rules{where}: GT103, GT1, detached, ALL."
    select = click.option("--select", cls=kind, multiple=True, metavar="CODE", help=codes)
    ignore = click.option("--ignore", cls=kind, multiple=True, metavar="CODE", help=f"Skip these rules{where}.")
    return lambda command: select(ignore(command))
