"""The report of the gate in the form that other answers have."""

from __future__ import annotations

from gradtool.engine.gate.report import Report

from ..gate import json, render
from .view import View


def view(report: Report) -> View:
    """Return the findings as ``gradtool check`` prints them; the data is that of ``--format json``."""
    return View("check", json.data(report), [render(report, "full").rstrip("\n")], [])
