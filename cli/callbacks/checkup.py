"""Callback of ``gradtool checkup``."""

from __future__ import annotations

from typing import Any

import click

from gradtool.engine.request.request import Request
from gradtool.viz.report import checkup
from gradtool.viz.report.findings import Noting, apply_rules

from .. import configuration
from ..context import Output
from ..errors import CLEAN, ENGINE
from ..queries import find_exit_code_of_loss


def run(context: click.Context, values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    exit_code, feed = values.pop("exit_code"), values.pop("feed")
    policy = subject = None
    if configuration.settings_of(context).sources:
        from .. import check_selection

        policy, subject = check_selection.read_policy(context), check_selection.find_subject(context, values, feed)
    request, feed = (Request.take(values), feed) if subject is None else (subject.request(), subject.feed)
    told = apply_rules(request, feed, Noting(out), policy)
    screen = checkup.view(told, request)
    out.emit(screen)
    if told.failed:
        return ENGINE
    return find_exit_code_of_loss(screen.data["findings"], told.others) if exit_code else CLEAN
