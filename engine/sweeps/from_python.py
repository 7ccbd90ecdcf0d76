"""``gradtool.sweep``: one question at many points, in Python."""

from __future__ import annotations

import os
from typing import Any

from ..core.command_errors import raise_for_python
from ..loading.from_python import request_of
from ..request.limits import LOADING
from . import axes
from .at_points import AtPoints
from .sweep import Swept


def sweep(question: str, *models: str | os.PathLike[str], **words: Any) -> Swept:
    """Ask one question at many points: ``sweep("stats", "model.py", rows="data.npz:64", seeds=range(3))``.

    Args:
        question: ``"nan"``, ``"stats"``, ``"why"``, ``"gradcheck"``, ``"check"``, ``"backward"`` or ``"saved"``.
        models: what :func:`load` takes, or patterns of files.
        words: the options of ``gradtool sweep``: what :func:`load` takes beside the model, and the fields of
            :class:`~gradtool.engine.sweeps.at_points.AtPoints`.

    Returns:
        What the command shows. ``rows`` has an object of JSON's types for each point, in their order.

    Raises:
        UsageError: what is asked for cannot be; every point refuses the question; or client and workers differ (a
            ValueError).
        KeyboardInterrupt: Ctrl-C was pressed; its ``swept`` has the rows that there are.

    Every point loads its model anew, and nothing of the running program changes.
    """
    who = "gradtool.sweep"
    loading = {name: words.pop(name) for name in LOADING if name in words}
    asked = AtPoints(question=question, **words)
    with raise_for_python(who):
        names = [os.fspath(model) for model in models]
        patterns = [name for name in names if "*" in name]
        chosen = axes.models([name for name in names if "*" not in name], patterns)
        return asked.ask(chosen, request_of(who, chosen[0], **loading))
