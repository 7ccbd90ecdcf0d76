"""Run a model once and print everything that is wrong with its gradients."""

from __future__ import annotations

from typing import Any

import click

from ..backend_options import add_backend_options
from ..callbacks import call_in_context
from ..context import add_model_options, exit_option, feed_option, output_options
from ..help_pages import Command


@click.command("checkup", cls=Command)
@click.argument("model")
@add_model_options
@add_backend_options
@feed_option
@exit_option()
@output_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Print what is wrong with MODEL's gradients on one screen: the findings of check, and the table.

    \b
    gradtool train.py
    gradtool train.py -- --lr 3

    The file runs once. Files of settings say which rules count and how much, as for check. Findings come first, each
    with the command that digs deeper. Below the table stands what was looked at, and what was not.
    """
    return call_in_context("checkup", context, values)
