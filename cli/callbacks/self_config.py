"""Callback of ``gradtool self config``."""

from __future__ import annotations

from typing import Any

import click

from gradtool.viz.views import settings as shown

from .. import configuration
from ..configuration import effective
from ..configuration import schema as schemas
from ..context import Output


def run(context: click.Context, values: dict[str, Any]) -> None:
    """Run the command."""
    commands = values.pop("commands")
    schema = values.pop("schema")
    all_ = values.pop("all_")
    if schema:
        Output.picture_output(values).text(schemas.text())
        return
    out = Output.take(values)
    found = configuration.settings_of(context)
    out.emit(shown.view(effective.files(found), effective.settings(found, commands, all_), effective.tables(found)))
