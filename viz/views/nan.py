"""View of the births of NaN and infinity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from gradtool.engine.answers.birth import DATA, Birth
from gradtool.engine.answers.events import UPDATE
from gradtool.engine.answers.nan import NanStory
from gradtool.engine.answers.why.folding import WHOLE, fold_names
from gradtool.engine.core import source
from gradtool.engine.core.wording import NOTHING, command_line, count, remove_pass, shape
from gradtool.engine.kinds.names import Names, place, runs_data
from gradtool.engine.questions.nan import Births
from gradtool.engine.view.graph import BACKWARD, FORWARD

from ...engine.core.identity import identity
from .view import Table, View

_MARKS = {"BIRTH": "bad", "CLEAN": "good", "PART": "warn", "absorbed": "warn", "intended": "warn"}


def view(answer: Births, as_table: bool = False) -> View:
    """Show where the first NaN or infinity was born.

    Args:
        as_table: a table even where there is nothing in it.
    """
    about, story, names = answer.about, answer.story, answer.names
    data = {
        "model": about.file,
        "mode": about.mode,
        "clean": answer.clean,
        "findings": answer.findings,
        "births": [_data(b, names) for b in story.births],
        "absorbed": [_data(b, names) for b in story.absorbed],
        "intended": [_data(b, names) for b in story.intended],
        "carriers": story.carriers,
        "victims": [names.display(v) for v in story.victims],
        "checked": story.checked,
        "unchecked": story.unchecked,
        "steps": story.steps,
        "pass": answer.number,
        "scope": about.scope.data(),
    }
    next_ = [
        command_line("gradtool", "stats", *about.words),
        command_line("gradtool", "graph", *about.words, "--pairs"),
    ]
    if answer.number is not None and story.births and story.births[0].part == DATA:
        next_.insert(0, command_line("gradtool", "nan", *remove_pass(about.words)))
    if story.births and story.births[0].part in (FORWARD, BACKWARD):
        next_.insert(0, command_line("gradtool", "graph", "--where", names.operator(story.births[0]), *about.words))
    table = _table(story, names)
    shown = table if table.rows or as_table else None
    return View("nan", data, ["\n".join(_lines(answer))], next_, shown, _MARKS, "births")


def _place(loc: source.Location) -> str:
    if not loc:
        return ""
    code, line = loc[0]
    text = source.text(code, line)
    return source.short(loc) + (f"   {text}" if text else "")


def search_note(story: NanStory, number: int | None) -> str:
    """Return which backward passes were searched."""
    return count(max(story.steps, 1), "backward pass") if number is None else f"backward pass {number}"


def _headline(answer: Births) -> str:
    """Return the line about a search that found nothing, with what was searched."""
    story, scope = answer.story, answer.about.scope
    seen = search_note(story, answer.number) if story.steps else "forward only"
    if answer.clean:
        return f"CLEAN  no finding · {seen}"
    if scope.ended:
        return f"PART   no finding {scope.words}"
    checked = " in what was checked" if story.unchecked else ""
    return f"PART   no finding{checked} · {seen}"


def _lines(answer: Births) -> list[str]:
    story, names, number = answer.story, answer.names, answer.number
    if not story.births:
        lines = [_headline(answer)]
    else:
        lines = [*birth_lines(story, names)]
        lines += [f"   also born  {text}" for text in _alike(story.births[1:], names)]
        if number is not None:
            more = "; what was there before was born earlier" if story.births[0].part == DATA else ""
            lines.append(f"   searched   backward pass {number} and what it is computed from{more}")
    lines.append(f"   forward    {_part(story, FORWARD)}")
    if story.steps:
        lines.append(f"   backward   {_part(story, BACKWARD)}")
    if story.checked[UPDATE]:
        lines.append(f"   update     {_part(story, UPDATE)}")
    lines += [f"   absorbed   {one_line(b, names)}: {_why_absorbed(b)}" for b in story.absorbed]
    lines += [f"   intended   {one_line(b, names)}: {b.cause}" for b in story.intended]
    lines += [f"   unchecked  {text}" for text in story.unchecked]
    return lines


def birth_lines(story: NanStory, names: Names) -> Iterator[str]:
    """All that is known of the birth to look at."""
    first = story.births[0]
    part = "came in" if first.part == DATA else first.part
    bad = f"{first.kind} {first.count}/{first.total}"
    yield f"BIRTH  {part}  {names.operator(first)}   {names.tensor(first)}  {bad}   {_place(first.loc)}".rstrip()
    layer = names.layer(first.origin, first.type)
    if layer:
        yield f"   layer      {layer}"
    if first.inside:
        yield f"   inside     {names.describe_place(first.inside)}"
    elif first.nth > 1:
        yield f"   inside     call {first.nth} of {first.type.removesuffix('_grad')} by this line"
    yield f"   cause      {first.cause}{_forward_note(first, story)}"
    if first.masked_by is not None:
        by, loc = first.masked_by
        yield f"   masked     {by} ({source.short(loc)}) does not use these elements, but 0·∞ is NaN all the same"
    if first.advice:
        yield f"   advice     {first.advice}"
    if first.turned is not None:
        yield f"   turned     NaN at {first.turned[0]} ({source.short(first.turned[1])})"
    yield f"   carriers   {_carriers(story, names)}"
    if first.step > 1:
        yield f"   step       {first.step}: the steps before were clean"


def _forward_note(birth: Birth, story: NanStory) -> str:
    if birth.part != BACKWARD or birth.kind not in ("nan", "inf"):
        return ""
    forward = [b for b in (*story.births, *story.absorbed) if b.part in (FORWARD, DATA)]
    return "" if forward else " (the forward value is finite)"


def _alike(births: Sequence[Birth], names: Names) -> Iterator[str]:
    """Births in a few words; those of one line and kind together, with the layers that they are in."""
    kinds: dict[Any, list[Birth]] = {}
    for b in births:
        alone = b.inside or not b.loc
        kinds.setdefault(identity(b) if alone else (b.kind, b.part, b.type, b.slot, b.loc[0], b.shape), []).append(b)
    for alike in kinds.values():
        first, several = alike[0], len(alike) > 1
        layers = [*dict.fromkeys(filter(None, (names.layer(b.origin, b.type) for b in alike)))]
        text = one_line(replace(first, count=max(b.count for b in alike)), names, several)
        text += f", {len(alike)} times" if several else ""
        yield text + (f", in {fold_names(layers)}" if layers else "")


def one_line(birth: Birth, names: Names, several: bool = False) -> str:
    """A birth in a few words; of *several* that are alike without a name that only one of them has."""
    where = source.short(birth.loc)
    tensor, operator = (birth.slot, birth.type) if several else (names.tensor(birth), names.operator(birth))
    of = operator if tensor == operator else f"{tensor} of {operator}"
    text = f"{birth.kind} {birth.count}/{birth.total} in {of}"
    text += f", {names.describe_place(birth.inside)}" if birth.inside else ""
    return f"{text} ({where})" if where else text


def _carriers(story: NanStory, names: Names) -> str:
    text = count(story.carriers, "later op")
    if story.victims:
        victims = [names.display(v).removesuffix("@GRAD") for v in story.victims]
        number = f" for {len(victims)} tensors" if len(victims) > WHOLE else ""
        text += f"; no finite gradient{number}: {fold_names(victims)}"
    return text


def _part(story: NanStory, part: str) -> str:
    births = sum(b.part in ((part, DATA) if part == FORWARD else (part,)) for b in story.births)
    state = "clean" if not births else count(births, "birth")
    rest = "not all: see below" if story.unchecked else "0 unchecked"
    return f"{state} ({count(story.checked[part], 'tensor')} checked, {rest})"


def _table(story: NanStory, names: Names) -> Table:
    headings = [
        "verdict",
        "part",
        "op",
        "layer",
        "tensor",
        "kind",
        "bad",
        "shape",
        "inside",
        "source",
        "cause",
        "advice",
    ]
    table = Table(headings)
    for verdict, births in (("birth", story.births), ("absorbed", story.absorbed), ("intended", story.intended)):
        for b in births:
            row = [
                verdict,
                b.part,
                names.operator(b),
                names.layer(b.origin, b.type) or NOTHING,
                names.tensor(b),
                b.kind,
            ]
            row += [f"{b.count}/{b.total}", shape(b.shape), names.describe_place(b.inside) or NOTHING]
            table.rows.append([*row, source.short(b.loc) or NOTHING, b.cause, b.advice or NOTHING])
    return table


def _data(birth: Birth, names: Names) -> dict[str, Any]:
    return {
        "kind": birth.kind,
        "part": birth.part,
        "operator": names.operator(birth),
        "layer": names.layer(birth.origin, birth.type) or None,
        "type": birth.type,
        "slot": birth.slot,
        "tensor": names.tensor(birth),
        "count": birth.count,
        "elements": birth.total,
        "shape": list(birth.shape),
        "dtype": birth.dtype,
        "source": place(birth.loc),
        "step": birth.step,
        "inside": runs_data(names.runs(birth.inside)),
        "nth": birth.nth,
        "cause": birth.cause,
        "advice": birth.advice or None,
        "masked_by": _other(birth.masked_by),
        "turned_nan_at": _other(birth.turned),
        "reached_loss": birth.loss,
    }


def _other(operator: tuple[str, source.Location] | None) -> dict[str, Any] | None:
    return None if operator is None else {"type": operator[0], "source": place(operator[1])}


def _why_absorbed(birth: Birth) -> str:
    """Return why it did not spread."""
    if birth.scale is None:
        return "reached neither the loss nor a gradient"
    return f"too large at a loss scale of {birth.scale:g}, the update was skipped"
