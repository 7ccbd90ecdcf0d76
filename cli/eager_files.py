"""Pictures and dumps of a recorded graph, as files of the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gradtool.engine.view.from_tape import TapeGraph
from gradtool.engine.view.graph import BACKWARD, BOTH, FORWARD
from gradtool.models.errors import CommandError
from gradtool.models.wording import command_line
from gradtool.viz import dump
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.render import dot

from .files import make_folder

PARTS = {"fwd": FORWARD, "bwd": BACKWARD, "both": BOTH}


def dot_text(graph: TapeGraph, path: str, part: str, again: list[str]) -> str:
    """What ``--dot`` writes to *path*."""
    file = path.replace("\\", "/").rsplit("/", 1)[-1]
    made = command_line("gradtool", "backward", *again, "--dot", file)
    return dot.render(mirror(graph.view.only(PARTS[part])), file=file, command=made)


def dump_files(graph: TapeGraph, model: str, folder: str, stamp: str = "", also: Sequence[str] = ()) -> dict[str, str]:
    """Path -> text; the folder is made when it is missing. *also* are files that the manifest lists as well."""
    make_folder(folder)
    facts = {**dump.tape_facts(graph, model), "files": also}
    texts = dump.texts(graph.view, graph.locations, facts, stamp)
    return {os.path.join(folder, name): text for name, text in texts.items()}


def refuse_selectors(options: Mapping[str, Any]) -> None:
    """``--params`` and ``--no-grad`` change nothing that was recorded.

    Raises:
        CommandError: one of them was given.
    """
    for option in ("params", "no_grad"):
        if options[option]:
            raise CommandError(
                f"--{option.replace('_', '-')}: a recorded graph is shown as a whole", "gradtool backward takes it"
            )
