"""View of settings: values, and where they come from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .view import Table, View

Row = Mapping[str, Any]


def view(files: Sequence[str], settings: Sequence[Row], tables: Sequence[Row]) -> View:
    """The answer of ``gradtool self config``.

    Args:
        files: those that were read, the stronger one first.
        settings: options: command, option, value, origin.
        tables: of the gate: table, key, value, origin.
    """
    data = {"files": list(files), "settings": list(settings), "tables": list(tables)}
    blocks: list[str | Table] = [
        f"read: {', '.join(files)}" if files else "no file: neither gradtool.toml nor [tool.gradtool]"
    ]
    options = Table(["command", "option", "value", "from"], order=("value…",))
    options.rows += [[r["command"], r["option"], _format(r["value"]), r["origin"]] for r in settings]
    others = Table(["table", "key", "value", "from"], order=("value…",))
    others.rows += [[r["table"], r["key"], _format(r["value"]), r["origin"]] for r in tables]
    blocks += [table for table in (options, others) if table.rows]
    if not settings:
        blocks.append("every option is as gradtool has it")
    return View("config", data, blocks, ["gradtool self config --all", "gradtool self config --schema"])


def _format(value: Any) -> str:
    return "–" if value is None else json.dumps(value, ensure_ascii=False)
