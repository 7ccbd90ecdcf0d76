"""View of a report that was written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from gradtool.engine.core.wording import command_line

from ..document.blocks import Document
from .view import Table, View


def view(document: Document, files: Mapping[str, str], written: Mapping[str, str], words: Sequence[str]) -> View:
    """The files that were written.

    Args:
        files: form -> path.
        written: path -> content.
        words: those that load the model again.
    """
    table = Table(["form", "file", "bytes"], order=("file…",))
    for form, path in files.items():
        table.rows.append([form, path, str(len(written[path].encode("utf-8", "backslashreplace")))])
    facts = " · ".join(f"{name} {text}" for name, text in document.facts if not name.startswith("note"))
    data = json.loads(document.json)
    del data["schema"]
    next_ = [command_line("gradtool", "why", *words), command_line("gradtool", "graph", *words, "-o", "graph.html")]
    return View("report", data, [facts, table], next_, table)
