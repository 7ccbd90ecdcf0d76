"""What is shown of operators and where they come from."""

from __future__ import annotations

from gradtool.engine.core import source
from gradtool.models.questions.where import Places
from gradtool.models.wording import NOTHING, command_line, count

from .view import Table, View

_WHOLE = 6
"""Operators that are shown with all that is known; of more than that there is a table."""


def view(answer: Places) -> View:
    """The operators, each with its source, its pair and its operands; many of them as a table."""
    about, spots = answer.about, answer.spots
    data = {"model": about.name, "asked": answer.what, "operators": [s.data() for s in spots]}
    table = Table(["op", "part", "pair", "layer", "source", "code"])
    for s in spots:
        code = source.text(*s.location[0]) if s.location else ""
        table.rows.append([s.name, s.part, s.pair or NOTHING, s.layer or NOTHING, source.short(s.location), code])
    next_ = [command_line("gradtool", "program", *about.words, "--pairs")]
    if len(spots) > _WHOLE:
        return View("where", data, [count(len(spots), "operator"), table], next_, table)
    lines: list[str] = []
    shown = None
    for s in spots:
        lines += [
            f"{s.name}   {s.part}"
            + (f"   ↔ {s.pair}" if s.pair else "")
            + (f"   in {s.layer}" if s.layer else "")
            + (f"   inside {' · '.join(s.inside)}" if s.inside else "")
        ]
        if s.location != shown:
            lines += [f"  {line}" for line in s.excerpt]
            if len(s.location) > 1:
                lines += ["  called by", *(f"    {line.strip()}" for line in s.stack[:-2])]
        shown = s.location
        for side, operands in (("reads", s.inputs), ("makes", s.outputs)):
            for o in operands:
                lines.append(f"  {side}  {o.slot:<8} {o.tensor}  {o.spec}" + (f"  {o.note}" if o.note else ""))
        lines.append("")
    return View("where", data, ["\n".join(lines[:-1])], next_, table)
