"""Show what backends have compiled and kept in the user's cache folder, or delete it."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options


@click.command("cache")
@click.argument("action", required=False, type=click.Choice(["clear"]))
@output_options
def command(**values: Any) -> None:
    """The code that backends have compiled and kept: how many files, how large, where; clear deletes it.

    \b
    gradtool cache
    gradtool cache clear

    What is deleted is compiled again when it is next needed; results are the same. A folder that you have named
    yourself (JAX_COMPILATION_CACHE_DIR) is left alone.
    """
    out = Output.take(values)
    from gradtool.viz.views import cache

    out.emit(cache.view(values["action"] == "clear"))
