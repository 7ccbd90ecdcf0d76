"""View of gradients of targets by inputs."""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.engine.core.wording import NOTHING, command_line, count, shape
from gradtool.engine.kinds.derivatives import Derivatives
from gradtool.engine.kinds.gradients import GradientRow

from .backward import VALUE_HEADINGS, next_commands, order, tones, value_cells, values_note
from .view import Table, View


def view(answer: Derivatives) -> View:
    """Every input with its gradient, or None with the reason."""
    about, rows = answer.about, answer.rows
    ran = any(r.values is not None for r in rows)
    named = ", ".join(f"{name} {shape(dims)}" for name, dims in answer.targets)
    head = f"gradients  {about.name} · {about.mode} · {count(answer.added, 'new op')} · of {named}"
    verb = "gets" if len(rows) == 1 else "get"
    last = f"{sum(r.has_gradient for r in rows)} of {count(len(rows), 'input')} {verb} a gradient"
    last += values_note(rows, ran)
    next_ = next_commands(rows, about.words) if ran else [command_line("gradtool", "gradients", *about.words, "--run")]
    next_.append(command_line("gradtool", "graph", about.words[0], "--pairs"))
    data = {
        "model": about.file,
        "mode": about.mode,
        "targets": [name for name, _ in answer.targets],
        "inputs": [r.data() for r in rows],
        "new_ops": answer.added,
    }
    return View("gradients", data, [head, _table(rows, ran), last], next_, records="inputs")


def _table(rows: Sequence[GradientRow], ran: bool) -> Table:
    columns = VALUE_HEADINGS if ran else ()
    table = Table(["input", "shape", "gradient", "from op", *columns, "status", "source"])
    table.order, table.judged, table.tones = order("input"), "status", tones(rows, ())
    for row in rows:
        cells = [row.shown, shape(row.shape), str(row.gradient if row.has_gradient else None), row.operator or NOTHING]
        table.rows.append([*cells, *(value_cells(row) if ran else []), row.status, row.source or NOTHING])
    return table
