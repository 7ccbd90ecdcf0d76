"""Run a model once and print everything that is wrong with its gradients."""

from __future__ import annotations

from typing import Any

import click

from .. import configuration, gating
from ..asking import exit_option, find_exit_code_of_loss
from ..computing import add_backend_options
from ..context import Output, add_model_options, feed_option, output_options
from ..errors import CLEAN, ENGINE
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
    out = Output.take(values)
    from gradtool.engine.request.request import Request
    from gradtool.viz.report import checkup
    from gradtool.viz.report.findings import Noting, apply_rules

    exit_code, feed = values.pop("exit_code"), values.pop("feed")
    policy = subject = None
    if configuration.settings_of(context).sources:
        policy, subject = gating.read_policy(context), gating.find_subject(context, values, feed)
    request, feed = (Request.take(values), feed) if subject is None else (subject.request(), subject.feed)
    told = apply_rules(request, feed, Noting(out), policy)
    screen = checkup.view(told, request)
    out.emit(screen)
    if told.failed:
        return ENGINE
    return find_exit_code_of_loss(screen.data["findings"], told.others) if exit_code else CLEAN
