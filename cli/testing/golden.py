"""Graphs that are kept as text beside tests."""

from __future__ import annotations

import os
from pathlib import Path

from gradtool.engine.answers.diff import golden
from gradtool.engine.answers.diff.outline import Outline
from gradtool.engine.answers.diff.structure import difference
from gradtool.engine.files.writing import write_files
from gradtool.engine.questions.diff import Differences
from gradtool.viz import views
from gradtool.viz.views.view import to_lines

from .losses import TestedSession

_written: list[str] = []


def path(file: str | os.PathLike[str], holder: TestedSession | None) -> Path:
    """Return the path of *file*: next to the test, unless the path is a whole one."""
    folder = Path(holder.file).parent if holder is not None and holder.file else Path()
    return folder / file


def compare(outline: Outline, file: Path, *, update: bool) -> str:
    """Return the differences between a graph and the one that *file* keeps; empty if there are none.

    Args:
        update: write the file where there is none, or where it differs, and find no difference.

    Raises:
        GoldenError: the file holds no graph.
        OSError: it cannot be read or written.
    """
    there = file.read_bytes() if file.exists() else None
    if there is None and not update:
        return f"there is no {file.name} to compare the graph with: pytest --gradtool-update writes it"
    if there is not None:
        try:
            kept = golden.read(there, file.name)
        except golden.GoldenError:
            if not update:
                raise
        else:
            found = difference(kept, outline)
            if found.empty:
                return ""
            if not update:
                answer = Differences(kept, outline, found, (file.name, outline.title))
                last = "if this is meant: pytest --gradtool-update"
                return "\n".join(
                    [f"the graph is not that of {file.name}", "", *to_lines(views.view_of(answer)), "", last]
                )
    write_files({str(file): golden.write(outline).encode()})
    _written.append(file.name)
    return ""


def take_written() -> list[str]:
    """The names of the files that were written since this was asked last."""
    names = [*_written]
    _written.clear()
    return names
