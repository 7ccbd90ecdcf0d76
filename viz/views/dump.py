"""The files of a dump, and what is shown of them."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradtool import __version__
from gradtool.engine.answers.diff.outline import Outline
from gradtool.engine.core.wording import command_line
from gradtool.engine.kinds.about import ModelGraph
from gradtool.engine.questions.dump import Dumped

from .. import dump
from .view import Table, View


def files(
    graph: ModelGraph,
    folder: str,
    gradients: Mapping[str, Any] | None = None,
    stamp: str = "",
    outline: Outline | None = None,
) -> dict[str, str | bytes]:
    """Path -> content.

    Args:
        outline: the graph as ``gradtool diff`` reads it.
        gradients: of one run, by the names of what they belong to.
        stamp: stands before every name.
    """
    also: dict[str, str | bytes] = {}
    if gradients is not None:
        also[f"{stamp}{dump.GRADIENTS}"] = _arrays(gradients)
    facts = {**graph.facts, "schema": dump.SCHEMA, "gradtool": __version__, "files": [*also]}
    contents = {**dump.texts(graph.view, graph.locations, facts, stamp, outline=outline), **also}
    return {os.path.join(folder, name): content for name, content in contents.items()}


def view(answer: Dumped, folder: str, contents: Mapping[str, str | bytes]) -> View:
    """The files that were written."""
    sizes = {path[len(folder) :].lstrip("/\\"): _size(content) for path, content in contents.items()}
    table = Table(["file", "bytes"], [[name, str(size)] for name, size in sizes.items()], order=("file…",))
    operators = answer.graph.facts["operators"]
    counts = f"{operators['forward']} forward ops · {operators['backward']} backward ops"
    head = f"dump  {answer.about.name} · {counts} → {folder}"
    graph_file = next(name for name in sizes if name.endswith(".dot"))
    drawn = command_line("neato", "-n2", "-Tsvg", f"{folder.rstrip('/')}/{graph_file}", "-O")
    return View("dump-files", {"model": answer.about.file, "files": sizes}, [head, table], [drawn])


def stamp() -> str:
    """The local time without colons, which are not allowed in every file system."""
    return next(dump.stamps())


def _size(content: str | bytes) -> int:
    return len(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))


def _arrays(arrays: Mapping[str, Any]) -> bytes:
    """An ``.npz`` file; the same bytes for the same arrays."""
    file = io.BytesIO()
    np.savez(file, **{name: np.asarray(array) for name, array in arrays.items()})  # type: ignore[arg-type]
    return file.getvalue()
