"""Callback of ``gradtool sweep``."""

from __future__ import annotations

import os
from typing import Any

from gradtool.engine.kinds.run_notes import points_done
from gradtool.engine.request.limits import LOADING
from gradtool.engine.request.request import Request
from gradtool.engine.sweeps import axes
from gradtool.engine.sweeps.at_points import AtPoints
from gradtool.engine.sweeps.sweep import SweepInterrupted, Swept
from gradtool.viz.sweeps.forms import FORMS, must_be_there
from gradtool.viz.views import sweep

from ..context import Output
from ..errors import CLEAN, ENGINE, FAILED, INTERRUPTED

_DATA = (".npz", ".npy", ".parquet", ".zarr")

"""Endings of files of arrays: a shell puts those that it finds for --over feeds/*.npz among the models."""


def run(values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    words, over = list(values.pop("models")), list(values.pop("over"))
    if over:
        feeds = [word for word in words if os.path.splitext(word)[1].lower() in _DATA]
        words, over = [word for word in words if word not in feeds], over + feeds
    models = axes.models(words, values.pop("patterns"))
    request = Request.take({**{name: values.pop(name) for name in LOADING}, "model": models[0]})
    results = values["results"]
    _must_be_a_form(out)
    try:
        swept = AtPoints(over=over, set=values.pop("settings"), **values).ask(models, request, points_done)
    except SweepInterrupted as stop:
        kept = f"; they are in {results}, and --resume goes on with them" if results not in (None, "-") else ""
        out.note(f"interrupted after {len(stop.swept.rows)} of {stop.swept.points} points{kept}")
        _show(stop.swept, out)
        return INTERRUPTED
    if swept.torn:
        out.note(f"{results}: its last line was cut short and is dropped; that point is asked again")
    if swept.known:
        out.note(f"{swept.known} of {swept.points} points were in {results}")
    if results != "-" or out.file not in (None, "-"):  # rows stand alone, so that another program can read them
        _show(swept, out)
    if swept.findings:
        return FAILED
    return ENGINE if swept.failed_rows else CLEAN


def _form(out: Output) -> str | None:
    """The ending of the form that is asked for, if it is one that only sweeps have."""
    if out.format in ("jsonl", "csv", "svg", "html"):
        return f".{out.format}"
    ending = os.path.splitext(out.file or "")[1].lower()
    return ending if out.format == "text" and ending in (".jsonl", ".csv", ".svg", ".html", ".parquet") else None


def _must_be_a_form(out: Output) -> None:
    """Raise for a form that cannot be written before hours go into its rows."""
    form = _form(out)
    if form is not None:
        must_be_there(form)


def _show(swept: Swept, out: Output) -> None:
    form = _form(out)
    if form is None:
        out.emit(sweep.view(swept))
        return
    content = FORMS[form](swept)
    if isinstance(content, str):
        out.text(content)
    else:
        out.binary(content)
