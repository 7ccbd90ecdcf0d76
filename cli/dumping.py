"""The dump of a model: what ``gradtool dump`` and ``gradtool backward --dump`` write."""

from __future__ import annotations

import os
from typing import Any

from gradtool import __version__
from gradtool.engine.view import GraphView
from gradtool.viz import dump

from .discovery import Model
from .files import make_folder


def dump_files(model: Model, part: Any, graph: GraphView, folder: str, stamp: str = "") -> dict[str, str]:
    """Path -> text; the folder is made when it is missing."""
    make_folder(folder)
    facts = {
        "schema": dump.SCHEMA,
        "mode": "static",
        "gradtool": __version__,
        "model": model.name,
        "loss": model.loss.name if model.loss is not None else None,
        "operators": {"forward": part.forward, "backward": part.backward},
        "pairs": [[p.name, g.name] for p, g in part.pairs],
    }
    texts = dump.files(model.program, graph, facts, stamp)
    return {os.path.join(folder, name): text for name, text in texts.items()}
