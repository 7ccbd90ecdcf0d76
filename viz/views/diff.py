"""View of the differences of two graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Final

from gradtool.engine.answers.diff.divergence import Distance, Divergence, Parting
from gradtool.engine.answers.diff.outline import Outline
from gradtool.engine.answers.diff.structure import Change
from gradtool.engine.core.source import short
from gradtool.engine.core.wording import NOTHING, command_line, count, finite, number, shape, size
from gradtool.engine.questions.diff import Differences
from gradtool.engine.questions.resources import Resources

from .view import Table, View

_FIRST: Final = 5
"""Operators that are shown of those that differ by themselves."""

_MARKS: Final = {"added": "+", "removed": "-", "cut": "✂", "connected": "+"}
_STYLES: Final = {"+": "good", "-": "bad", "✂": "bad", "~": "warn"}


def view(answer: Differences) -> View:
    """The changes, then what follows from them."""
    before, after, found = answer.before, answer.after, answer.difference
    data: dict[str, Any] = {
        "findings": answer.findings,
        "before": _side(before),
        "after": _side(after),
        "changes": [c.data() for c in found.changes],
        "effects": [c.data() for c in found.effects],
        "others": [
            {"loss": o.loss, "changes": [c.data() for c in o.changes], "effects": [c.data() for c in o.effects]}
            for o in answer.others
        ],
        "not_compared": answer.not_compared or None,
    }
    head = (
        f"{before.title} → {after.title} · {_numbers(before.forward, after.forward)} forward ops · "
        f"{_numbers(before.backward, after.backward)} backward ops"
    )
    blocks: list[str | Table] = [head]
    if found.changes:
        blocks.append(_table(found.changes))
    if found.effects:
        blocks += ["what follows from it:", _table(found.effects)]
    for other in answer.others:
        if other.changes:
            blocks += [f"behind {other.loss}:", _table(other.changes)]
    blocks.append(_summary([*found.changes, *(c for o in answer.others for c in o.changes)]))
    same = [o.loss for o in answer.others if not o.changes]
    if same:
        blocks.append(f"nothing {'more' if found.changes else 'else'} behind {', '.join(same)}")
    if answer.not_compared:
        blocks.append(answer.not_compared)
    if answer.values is not None:
        blocks += _values(answer.values, answer.backward_pass)
        data["values"] = _values_data(answer.values, answer.backward_pass)
    if answer.resources is not None:
        blocks += ["one step takes:", _resources(*answer.resources)]
        data["resources"] = {
            side: asdict(taken) for side, taken in zip(("before", "after"), answer.resources, strict=True)
        }
    more = [c for o in answer.others for c in (*o.changes, *o.effects)]
    table = _table([*found.changes, *found.effects, *more])
    further = [command_line(*words) for words in answer.further]
    return View("diff", data, blocks, further, table, records="changes", in_blocks=True)


PICTURES: Final = ("svg", "html")
"""Forms that show a picture."""


def picture(answer: Differences, form: str, command: str = "") -> str:
    """The second graph with what only the first one has, as one picture.

    Args:
        form: one of :data:`PICTURES`.
        command: what the picture says it was made by.
    """
    from ..forms import NAMED, Drawable
    from ..side_by_side import focus_changes, merge

    assert answer.graphs is not None
    view, colouring = merge(*answer.graphs, answer.difference)
    shown = view if NAMED[form].whole else focus_changes(view, colouring)
    drawn = NAMED[form].draw(Drawable(shown, colour=lambda: colouring, command=command))
    assert isinstance(drawn, str)
    return drawn


def _resources(before: Resources, after: Resources) -> Table:
    """Return what one step takes on each side, and the ratio of after to before."""
    table = Table(["", "before", "after", "times"])
    rows: tuple[tuple[str, Any, Any, Callable[[Any], str]], ...] = (
        ("operators", before.operators, after.operators, str),
        ("kept for backward", before.kept, after.kept, size),
        ("most at one time", before.peak, after.peak, size),
        ("time", before.seconds, after.seconds, lambda seconds: f"{1000 * seconds:.3g} ms"),
    )
    for name, was, now, shown in rows:
        times = NOTHING if not was else "1" if was == now else f"{now / was:.3g}"
        table.rows.append([name, shown(was), shown(now), times])
    return table


def _side(outline: Outline) -> dict[str, Any]:
    return {
        "name": outline.title,
        "mode": outline.mode,
        "loss": outline.loss,
        "operators": {"forward": outline.forward, "backward": outline.backward},
        "parameters": len(outline.parameters()),
    }


def _numbers(before: int, after: int) -> str:
    return str(before) if before == after else f"{before} → {after}"


def _table(changes: Sequence[Change]) -> Table:
    table = Table(["", "change", "layer", "before", "after"], styles=_STYLES, order=("layer", "change…"))
    for c in changes:
        mark = _MARKS.get(c.kind, "~")
        table.rows.append([mark, c.text, c.layer or NOTHING, c.source or NOTHING, c.source_after or NOTHING])
    return table


def _summary(changes: Sequence[Change]) -> str:
    return count(len(changes), "change") if changes else "no differences"


def _values(values: Divergence, number: int | None) -> list[str | Table]:
    """The first operators that differ by themselves, how far it spreads, and the gradients."""
    unmatched = f" · {count(values.unmatched, 'operator')} on one side only" if values.unmatched else ""
    unknown = f" · {count(values.unknown, 'value')} not held" if values.unknown else ""
    if values.empty:
        until = "" if number is None else f" up to backward pass {number}"
        return [f"values: {count(values.compared, 'value')} compared, the same to the bit{until}{unmatched}{unknown}"]
    which = "" if number is None else f" in backward pass {number}"
    told = f"values{which}: {len(values.partings)} of {count(values.compared, 'value')} differ{unmatched}{unknown}"
    first = Table(["first to differ", "part", "differ", "relative", "ulps", "layer", "before", "after"])
    first.order = ("layer", "part", "ulps", "relative", "before…", "after…", "first to differ…", "before")
    for p in values.first[:_FIRST]:
        name = p.before if p.before == p.after else f"{p.before} → {p.after}"
        first.rows.append(
            [name, p.part, *_size(p.apart), p.layer or NOTHING, short(p.loc) or NOTHING, short(p.loc_after) or NOTHING]
        )
    blocks: list[str | Table] = [told]
    if first.rows:
        blocks.append(first)
    if len(values.first) > _FIRST:
        blocks.append(f"and {len(values.first) - _FIRST} more that differ by themselves")
    blocks.append(_gradients(values))
    return blocks


def _size(p: Distance) -> list[str]:
    if p.shapes is not None:
        return [" → ".join(map(shape, p.shapes)), NOTHING, NOTHING]
    return [f"{p.differing}/{p.elements}", number(p.relative), NOTHING if p.ulps is None else str(p.ulps)]


def _gradients(values: Divergence) -> str:
    apart = {name: far for name, far in values.gradients.items() if far is None or far}
    if not apart:
        return f"gradients: all {len(values.gradients)} the same"
    worst = max((far for far in apart.values() if far is not None), default=None)
    said = f", at most {number(worst)} relative" if worst is not None else ""
    return f"gradients: {len(apart)} of {len(values.gradients)} differ{said}"


def _values_data(values: Divergence, number: int | None) -> dict[str, Any]:
    return {
        "pass": number,
        "compared": values.compared,
        "differing": len(values.partings),
        "unmatched": values.unmatched,
        "unknown": values.unknown,
        "first": [_data_of_parting(p) for p in values.first],
        "gradients": [
            {"name": name, "relative": None if far is None else finite(far)} for name, far in values.gradients.items()
        ],
    }


def _data_of_parting(p: Parting) -> dict[str, Any]:
    return {
        "before": p.before,
        "after": p.after,
        "part": p.part,
        "slot": p.slot,
        "layer": p.layer or None,
        "differing": p.apart.differing,
        "elements": p.apart.elements,
        "relative": finite(p.apart.relative),
        "ulps": p.apart.ulps,
        "shapes": None if p.apart.shapes is None else [list(s) for s in p.apart.shapes],
        "source": {"before": short(p.loc) or None, "after": short(p.loc_after) or None},
    }
