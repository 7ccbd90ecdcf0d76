"""``--mesh``: one step as several devices that share the rows compute it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.request.request import Request

from .context import Output
from .queries import find_exit_code


def ask_on_replicas(mesh: str, values: dict[str, Any], out: Output, foreign: Sequence[str]) -> int:
    """Ask, and show the answer; the exit code.

    Args:
        values: the options of the command, ``sides`` or ``model`` among them.
        foreign: those that do not go with a mesh.

    Raises:
        CommandError: one of these is given, or a second side, or a picture is asked for.
    """
    from gradtool.engine.questions.replicas import Replicas
    from gradtool.viz.views import replicas

    sides, exit_code = values.pop("sides", None) or (values.pop("model"),), values.pop("exit_code")
    others = [f"--{n.replace('_', '-')}" for n in foreign if values.pop(n)]
    if len(sides) > 1:
        others.append("a second side")
    if out.format in ("svg", "html", "csv"):
        others.append(f"--format {out.format}")
    if others:
        raise CommandError(f"--mesh compares one model with itself, and {' and '.join(others)} does not go with it")
    question = Replicas.take({**values, "mesh": mesh})
    answer = question.ask(sides[0], Request.take({**values, "model": sides[0]}), out)
    out.emit(replicas.view(answer), {})
    return find_exit_code(answer, exit_code)
