"""View of the models that come with gradtool."""

from __future__ import annotations

from collections.abc import Sequence

from .view import Table, View

Row = tuple[str, str, str]
"""A sample: its name, what is the matter with it, what to ask about it first."""


def list_samples(rows: Sequence[Row]) -> View:
    """All samples, with the command to try on each."""
    table = Table(["sample", "about", "try"], list(rows), order=("try", "about…"))
    blocks: list[str | Table] = [f"{name}\n  {about}\n  {command}" for name, about, command in rows]
    next_ = ["gradtool self samples copy all .", f"gradtool self samples show {rows[0][0]}"]
    return View("samples", _data(rows, []), [*blocks, ""], next_, table)


def list_copied(rows: Sequence[Row], files: Sequence[str]) -> View:
    """Samples that have been written as *files*."""
    return View("samples", _data(rows, files), [f"wrote {', '.join(files)}"], [command for _, _, command in rows][:3])


def _data(rows: Sequence[Row], files: Sequence[str]) -> dict[str, object]:
    entries = [{"name": name, "about": about, "command": command} for name, about, command in rows]
    return {"samples": entries, "files": [*files]}
