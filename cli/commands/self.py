"""Look after gradtool itself: settings, caches, completion, manual pages, samples, versions."""

from __future__ import annotations

import click

from ..help_pages import Command


@click.command("self", cls=Command)
@click.pass_context
def command(context: click.Context, /) -> None:
    """Look after gradtool itself.

    \b
    gradtool self version
    gradtool self samples copy all .
    gradtool self completion bash >> ~/.bashrc
    """
    click.echo(context.get_help())
