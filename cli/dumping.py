"""The dump of a model: what ``gradtool dump`` and ``gradtool backward --dump`` write."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradtool import __version__
from gradtool.engine.view.graph import GraphView
from gradtool.models.program_model import ProgramModel
from gradtool.viz import dump

from .files import make_folder


def dump_files(
    model: ProgramModel, part: Any, graph: GraphView, folder: str, stamp: str = "", also: Sequence[str] = ()
) -> dict[str, str]:
    """Path -> text; the folder is made when it is missing. *also* are files that the manifest lists as well."""
    make_folder(folder)
    facts = {
        "files": also,
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


def gradients_file(arrays: Mapping[str, Any]) -> bytes:
    """Gradients by the name of what they belong to, as an ``.npz`` file; the same bytes for the same arrays."""
    file = io.BytesIO()
    np.savez(file, **{name: np.asarray(array) for name, array in arrays.items()})  # type: ignore[arg-type]
    return file.getvalue()
