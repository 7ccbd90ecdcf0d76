"""Explain the code of an error or of a rule: what it means, why, what to do, an example."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, output_options


@click.command("explain")
@click.argument("code", required=False, metavar="[CODE]")
@output_options
def command(code: str | None, **values: Any) -> None:
    """Explain CODE, as errors (GT-E205) and rules (GT203) show it; without CODE, list the errors.

    The pages come with gradtool: nothing is looked up anywhere.
    """
    out = Output.take(values)
    from gradtool.viz.views import explained

    from ..guide import pages

    known = pages.codes()
    if code is None:
        out.emit(explained.every([(each, pages.page(each).title) for each in known]))
        return
    upper = code.upper()
    full = f"GT-{upper}" if upper.startswith("E") else upper
    if full in known:
        page = pages.page(full)
        out.emit(explained.one(page.code, page.title, page.sections))
    elif upper.startswith(("GT-", "E")):
        from gradtool.engine.core.command_errors import unknown

        raise unknown("code", code, known)
    else:
        from gradtool.viz.views import rules

        out.emit(rules.one(code))
