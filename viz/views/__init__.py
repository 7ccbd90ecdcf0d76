"""Views of answers: a file for each kind, with a function of the answer."""

from __future__ import annotations

import importlib
from typing import Any, Final

from .view import View, add_end

VIEWS: Final = {
    "GradientTable": "backward",
    "Derivatives": "gradients",
    "Listing": "program",
    "Places": "where",
    "Births": "nan",
    "Sizes": "stats",
    "Training": "over_time",
    "Kept": "saved",
    "Costs": "profile",
    "FusedGroups": "fusion",
    "Comparison": "gradcheck",
    "Verdicts": "why",
    "Differences": "diff",
    "OnReplicas": "replicas",
    "CallList": "calls",
    "Flows": "flow",
    "Swept": "sweep",
    "Report": "report_of_gate",
}
"""The class of an answer -> the file with its view."""


def view_of(answer: Any) -> View:
    """The view of an answer, as its command shows it without further options."""
    module = importlib.import_module(f".{VIEWS[type(answer).__name__]}", __name__)
    view: View = module.view(answer)
    about = getattr(answer, "about", None)
    return view if about is None else add_end(view, about.scope.more)
