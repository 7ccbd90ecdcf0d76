"""Callback of ``gradtool diff``."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.wording import command_line
from gradtool.engine.questions.diff import Diff
from gradtool.engine.request.request import Request
from gradtool.viz.views import diff

from ..commands.diff import PICTURES
from ..context import Output
from ..meshes import ask_on_replicas
from ..queries import find_exit_code

_OF_TWO = ("checkpoints", "values", "resources", "backend", "against", "write_golden")

"""Options that are about two sides."""


def run(values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    mesh = values.pop("mesh")
    if mesh is not None:
        return ask_on_replicas(mesh, values, out, _OF_TWO)
    sides, file, exit_code = values.pop("sides"), values.pop("write_golden"), values.pop("exit_code")
    form = _picture(out)
    question = Diff.take(values := {**values, "picture": form is not None})
    answer = question.ask(sides, Request.take({**values, "model": sides[-1]}), out)
    files = {file: answer.golden} if file is not None else {}
    if form is None:
        out.emit(diff.view(answer), files)
    else:
        words = [*sides, *question.words, "--format", form]
        out.text(diff.picture(answer, form, command_line("gradtool", "diff", *words)), files)
    return find_exit_code(answer, exit_code)


def _picture(out: Output) -> str | None:
    """The form of the picture that is asked for, by --format or the ending of the file; None for a text."""
    if out.format in PICTURES:
        return out.format
    ending = (out.file or "").rpartition(".")[2].lower()
    return ending if ending in PICTURES and out.format == "text" else None
