"""Show or delete what gradtool has stored in your cache folder."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options
from ..help_pages import Command


@click.command("self cache", cls=Command)
@click.argument("action", required=False, type=click.Choice(["clear"]))
@output_options
def command(**values: Any) -> None:
    """Show what is stored for the next process: how many files, how large, where. clear deletes it.

    \b
    gradtool self cache
    gradtool self cache clear

    This is the code that backends have compiled, and the names in models that a shell offers at Tab. What is deleted is
    made again when it is needed; results are the same. A folder that you have named yourself
    (JAX_COMPILATION_CACHE_DIR) is not touched.
    """
    out = Output.take(values)
    from gradtool.viz.views import cache

    out.emit(cache.view(values["action"] == "clear"))
