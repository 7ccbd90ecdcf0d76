"""Show what is kept in the user's cache folder, compiled code and names, or delete it."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options


@click.command("cache")
@click.argument("action", required=False, type=click.Choice(["clear"]))
@output_options
def command(**values: Any) -> None:
    """What is kept for the next process: how many files, how large, where; clear deletes it.

    \b
    gradtool cache
    gradtool cache clear

    That is the code that backends have compiled, and the names in models that a shell offers at Tab. What is deleted
    is made again when it is next needed; results are the same. A folder that you have named yourself
    (JAX_COMPILATION_CACHE_DIR) is left alone.
    """
    out = Output.take(values)
    from gradtool.viz.views import cache

    out.emit(cache.view(values["action"] == "clear"))
