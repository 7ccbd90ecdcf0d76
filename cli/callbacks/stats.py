"""Callback of ``gradtool stats``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.questions.over_time import OverTime, Training
from gradtool.engine.questions.stats import Stats
from gradtool.engine.request.request import Request
from gradtool.viz.views import stats

from ..context import Output
from ..files import Content, make_folder, write_all
from ..meshes import ask_on_replicas
from ..queries import ask, find_exit_code, must_be_one

_OF_ONE_DEVICE = ("by", "worst", "histogram", "tensorboard", "steps")

"""Options that do not go with --mesh."""


def run(values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    mesh = values.pop("mesh")
    if mesh is not None:
        return ask_on_replicas(mesh, {**values, "params": (), "no_grad": ()}, out, _OF_ONE_DEVICE)
    if values["steps"] is not None:
        return _show_training(values, out)
    folder, form = values.pop("tensorboard"), _form(out)
    if folder is not None or form is not None:
        what = "--tensorboard" if folder is not None else f"a file {form}"
        raise CommandError(f"{what} holds the steps of a training", "add --steps N")
    exit_code = values.pop("exit_code")
    values["by"] = values["by"] or "parameter"
    question = Stats.take(values)
    code = partial(find_exit_code, exit_code=exit_code)
    return ask(question, Request.take(values), out, stats.view, code, exit_code, explained=True)


def _show_training(values: dict[str, Any], out: Output) -> int:
    """The answer over the steps of a training."""
    from gradtool.viz.views import over_time

    exit_code, folder = values.pop("exit_code"), values.pop("tensorboard")
    for option in ("worst", "histogram", "feed"):
        if values.pop(option):
            raise CommandError(f"--{option} is about one backward pass", "omit --steps")
    question = OverTime.take(values)
    request = Request.take(values)
    must_be_one(request, "--steps")
    answer = question.ask(request, out)
    also = {} if folder is None else _event_file(answer, folder)
    form = _form(out)
    if form is None:
        out.emit(over_time.view(answer), also)
    else:
        _write(answer, form, out, also)
    return find_exit_code(answer, exit_code)


def _form(out: Output) -> str | None:
    """The ending of the file that is asked for, if it is one that only trainings have."""
    if out.format in ("csv", "svg"):
        return f".{out.format}"
    ending = os.path.splitext(out.file or "")[1].lower()
    return ending if out.format == "text" and ending in (".csv", ".svg", ".parquet") else None


def _write(answer: Training, form: str, out: Output, also: Mapping[str, Content]) -> None:
    """Write the answer in a form that is no view."""
    from gradtool.viz.over_time.forms import FORMS

    content = FORMS[form](answer)
    if isinstance(content, str):
        out.text(content, also)
    else:
        assert out.file is not None  # its ending says the form
        write_all({**also, out.file: content})


def _event_file(answer: Training, folder: str) -> dict[str, Content]:
    """Path -> contents of the event file."""
    from gradtool.viz.over_time.event_files import NAME, event_file

    content = event_file(answer)
    make_folder(folder)
    return {os.path.join(folder, NAME): content}
