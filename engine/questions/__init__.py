"""Questions about models, a file each: their options, how they are answered, and the answers."""

from __future__ import annotations

import importlib
from typing import Any, Final

QUESTIONS: Final = {
    "backward": "backward.Backward",
    "flow": "flow.Flow",
    "fusion": "fusion.Fusion",
    "gradcheck": "gradcheck.Gradcheck",
    "gradients": "gradients.Gradients",
    "graph": "picture.Drawn",
    "nan": "nan.Nan",
    "operators": "program.Operators",
    "over_time": "over_time.OverTime",
    "profile": "profile.Profile",
    "saved": "saved.Saved",
    "stats": "stats.Stats",
    "where": "where.Where",
    "why": "why.Why",
}
"""The method of :class:`~gradtool.engine.kinds.model.Model` that asks a question -> file and class of the question."""


def question_class(name: str) -> Any:
    """Return the class of the question that a method of models asks."""
    file, _, kind = QUESTIONS[name].partition(".")
    return getattr(importlib.import_module(f".{file}", __name__), kind)
