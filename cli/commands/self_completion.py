"""Print the script that lets a shell complete commands, options, files and names."""

from __future__ import annotations

from typing import Any

import click

from gradtool.engine.core.command_errors import PackageNeeded

from ..context import Output, output_options
from ..help_pages import Command
from ..main import cli


@click.command("self completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
@output_options
def command(shell: str, **values: Any) -> None:
    """Print the script that completes gradtool's commands in SHELL.

    \b
    bash        gradtool self completion bash >> ~/.bashrc
    zsh         gradtool self completion zsh >> ~/.zshrc
    fish        gradtool self completion fish > ~/.config/fish/completions/gradtool.fish
    powershell  gradtool self completion powershell >> $PROFILE
    """
    out = Output.take(values)
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise PackageNeeded(f"this version of click completes nothing in {shell}", "pip install --upgrade click")
    out.text(kind(cli, {}, "gradtool", "_GRADTOOL_COMPLETE").source() + "\n")
