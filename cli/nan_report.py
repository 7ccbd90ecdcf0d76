"""What ``gradtool nan`` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradtool.engine import source
from gradtool.engine.answers.nan import DATA, Birth, NanStory
from gradtool.engine.ir.operator import Operator
from gradtool.engine.view import BACKWARD, FORWARD, OP, op_names

from .context import command_line
from .discovery import Model
from .eager_model import EagerModel
from .views import NOTHING, Report, Table, count, shape


@dataclass
class Names:
    """What operators and tensors of a model are called.

    Attributes:
        operators: by operator of a program, by recorded call (its gradient operator), by key of a recorded call.
        written: by the same: slot -> the name of what is written there.
        tensors: names for people, by the names that a run knows.
        arrays: the arrays of tensors that have a name.
    """

    operators: dict[Any, str] = field(default_factory=dict)
    written: dict[Any, dict[str, str]] = field(default_factory=dict)
    tensors: dict[str, str] = field(default_factory=dict)
    arrays: list[tuple[Any, str]] = field(default_factory=list)

    @classmethod
    def of(cls, model: Model | EagerModel | None) -> Names:
        """The names in *model*, as the other commands give them."""
        if isinstance(model, EagerModel):
            return cls._recorded(model)
        if model is None:
            return cls()
        operators: dict[Any, str] = dict(op_names(model.program.global_block().ops))
        paths = {p.name: getattr(p, "layer_path", None) or p.name for p in model.program.all_parameters()}
        return cls(operators, tensors=paths)

    @classmethod
    def _recorded(cls, model: EagerModel) -> Names:
        from gradtool.viz import from_tape

        names = cls(
            tensors={e.name: e.shown for e in model.entries if e.tensor._name is not None},
            arrays=[(e.tensor.array, e.shown) for e in model.entries],
        )
        graph = from_tape.graph([model.loss], title=model.name, named=model.named)
        by_id = graph.view.by_id()
        for n in graph.view.nodes:
            if n.kind == OP:
                node = graph.nodes[n.id]
                key = node if n.part == BACKWARD else node.key
                names.operators[key] = n.name
                names.written[key] = {slot: by_id[tensor].name for slot, tensor in graph.writes[n.id]}
        return names

    def operator(self, birth: Birth) -> str:
        """``sqrt_grad.0``, or the type where the operator is in no graph that is left."""
        found = None if isinstance(birth.origin, np.ndarray) else self.operators.get(birth.origin)
        return found if found is not None and self._is(birth, found) else birth.type

    def _is(self, birth: Birth, name: str) -> bool:
        """Whether a call that was not recorded does not merely have the key of another one."""
        return not isinstance(birth.origin, int) or name.rpartition(".")[0] == birth.type

    def tensor(self, birth: Birth) -> str:
        """The name of the bad tensor, or its slot."""
        if isinstance(birth.origin, np.ndarray):
            found = next((name for array, name in self.arrays if array is birth.origin), None)
            return found or birth.name or birth.slot
        if not isinstance(birth.origin, Operator) and self._is(birth, self.operators.get(birth.origin, "")):
            found = self.written.get(birth.origin, {}).get(birth.slot)
            if found is not None:
                return found
        return self.shown(birth.name) if birth.name is not None else birth.slot

    def shown(self, name: str) -> str:
        """A tensor's or gradient's name in the words of the model."""
        base, at, rest = name.partition("@")
        return self.tensors.get(base, base) + at + rest


def report(story: NanStory, name: str, mode: str, names: Names, again: Sequence[str], form: str) -> Report:
    """The answer of ``gradtool nan``."""
    data = {
        "model": name,
        "mode": mode,
        "clean": story.clean,
        "births": [_data(b, names) for b in story.births],
        "absorbed": [_data(b, names) for b in story.absorbed],
        "intended": [_data(b, names) for b in story.intended],
        "carriers": story.carriers,
        "victims": [names.shown(v) for v in story.victims],
        "checked": story.checked,
        "unchecked": story.unchecked,
        "steps": story.steps,
    }
    next_ = [command_line("gradtool", "stats", *again), command_line("gradtool", "program", *again, "--pairs")]
    if form in ("tsv", "markdown"):
        return Report("nan", data, [_table(story, names)], next_)
    return Report("nan", data, ["\n".join(_lines(story, names))], next_)


def passes(n: int) -> str:
    """``1 backward pass``, ``2 backward passes``."""
    return f"{n} backward pass{'' if n == 1 else 'es'}"


def _place(loc: source.Location) -> str:
    if not loc:
        return ""
    code, line = loc[0]
    text = source.text(code, line)
    return source.short(loc) + (f"   {text}" if text else "")


def _lines(story: NanStory, names: Names) -> list[str]:
    if story.clean:
        seen = passes(story.steps) if story.steps else "forward only"
        lines = [f"CLEAN  no finding · {seen}"]
    else:
        first = story.births[0]
        part = "came in" if first.part == DATA else first.part
        lines = [
            f"BIRTH  {part}  {names.operator(first)}   {names.tensor(first)}  {first.kind} {first.count}/{first.total}"
            f"   {_place(first.loc)}".rstrip()
        ]
        lines.append(f"   cause      {first.cause}{_forward_note(first, story)}")
        if first.masked_by is not None:
            by, loc = first.masked_by
            lines.append(
                f"   masked     {by} ({source.short(loc)}) does not use these elements, but 0·∞ is NaN all the same"
            )
        if first.advice:
            lines.append(f"   advice     {first.advice}")
        if first.turned is not None:
            lines.append(f"   turned     NaN at {first.turned[0]} ({source.short(first.turned[1])})")
        lines.append(f"   carriers   {_carriers(story, names)}")
        if first.step > 1:
            lines.append(f"   step       {first.step}: the steps before were clean")
        lines += [f"   also born  {_one_line(b, names)}" for b in story.births[1:]]
    lines.append(f"   forward    {_part(story, FORWARD)}")
    if story.steps:
        lines.append(f"   backward   {_part(story, BACKWARD)}")
    lines += [f"   absorbed   {_one_line(b, names)}: reached neither the loss nor a gradient" for b in story.absorbed]
    lines += [f"   intended   {_one_line(b, names)}: {b.cause}" for b in story.intended]
    lines += [f"   unchecked  {text}" for text in story.unchecked]
    return lines


def _forward_note(birth: Birth, story: NanStory) -> str:
    if birth.part != BACKWARD or birth.kind not in ("nan", "inf"):
        return ""
    forward = [b for b in (*story.births, *story.absorbed) if b.part in (FORWARD, DATA)]
    return "" if forward else " (the forward value is finite)"


def _one_line(birth: Birth, names: Names) -> str:
    where = source.short(birth.loc)
    tensor, operator = names.tensor(birth), names.operator(birth)
    of = operator if tensor == operator else f"{tensor} of {operator}"
    text = f"{birth.kind} {birth.count}/{birth.total} in {of}"
    return f"{text} ({where})" if where else text


def _carriers(story: NanStory, names: Names) -> str:
    text = count(story.carriers, "later op")
    if story.victims:
        text += f"; no finite gradient: {', '.join(names.shown(v).removesuffix('@GRAD') for v in story.victims)}"
    return text


def _part(story: NanStory, part: str) -> str:
    births = sum(b.part in ((part, DATA) if part == FORWARD else (part,)) for b in story.births)
    state = "clean" if not births else count(births, "birth")
    return f"{state} ({count(story.checked[part], 'tensor')} checked, {len(story.unchecked)} unchecked)"


def _table(story: NanStory, names: Names) -> Table:
    table = Table(["verdict", "part", "op", "tensor", "kind", "bad", "shape", "source", "cause", "advice"])
    for verdict, births in (("birth", story.births), ("absorbed", story.absorbed), ("intended", story.intended)):
        for b in births:
            row = [verdict, b.part, names.operator(b), names.tensor(b), b.kind, f"{b.count}/{b.total}", shape(b.shape)]
            table.rows.append([*row, source.short(b.loc) or NOTHING, b.cause, b.advice or NOTHING])
    return table


def _data(birth: Birth, names: Names) -> dict[str, Any]:
    return {
        "kind": birth.kind,
        "part": birth.part,
        "operator": names.operator(birth),
        "type": birth.type,
        "slot": birth.slot,
        "tensor": names.tensor(birth),
        "count": birth.count,
        "elements": birth.total,
        "shape": list(birth.shape),
        "dtype": birth.dtype,
        "source": place(birth.loc),
        "step": birth.step,
        "cause": birth.cause,
        "advice": birth.advice or None,
        "masked_by": _other(birth.masked_by),
        "turned_nan_at": _other(birth.turned),
        "reached_loss": birth.loss,
    }


def place(loc: source.Location) -> Mapping[str, Any] | None:
    """File, line and text of a location for JSON; None where it is not known."""
    if not loc:
        return None
    file, _, line = source.short(loc).rpartition(":")
    return {"file": file, "line": int(line), "text": source.text(*loc[0])}


def _other(found: tuple[str, source.Location] | None) -> dict[str, Any] | None:
    return None if found is None else {"type": found[0], "source": place(found[1])}
