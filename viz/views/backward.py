"""View of a table of gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from gradtool.engine.answers import numbers
from gradtool.engine.answers.why.statistics import LABEL as STATISTICS
from gradtool.engine.answers.why.verdicts import BY_STRUCTURE
from gradtool.engine.core.wording import NOTHING, command_line, count, drop_lines, finite, number, remove_pass, shape
from gradtool.engine.kinds import origins
from gradtool.engine.kinds.gradients import GradientRow, GradientTable

from .view import Table, View, failure_lines, other_losses, to_json

VALUE_HEADINGS = ("‖g‖", "max |g|", "zeros", "not finite")

_KINDS = {"static": "program", "eager": "tape"}


def view(answer: GradientTable) -> View:
    """Every parameter or leaf with its gradient or the reason why not."""
    findings = count(answer.findings, "finding")
    others, others_data = other_losses(answer.about, "backward")
    blocks: list[str | Table] = [_head(answer), _table(answer), _summary(answer, findings, others)]
    if answer.recomputed is not None:
        blocks.insert(1, answer.recomputed.line())
    return View(
        "backward", _data(answer, others_data), blocks, _next(answer), marks={findings: "bad"}, records="parameters"
    )


def _head(answer: GradientTable) -> str:
    about, loss = answer.about, answer.loss
    text = (
        f"{_KINDS.get(about.mode, about.mode)}  {about.name} · {about.mode} · {count(answer.forward, 'forward op')} → "
        f"{count(answer.backward, 'backward op')} · loss {loss.name} {list(loss.shape)} {loss.dtype}"
    )
    text = text if loss.value is None else f"{text} = {number(loss.value)}"
    return " · ".join(filter(None, [text, origins.title(answer.origins)]))


def _table(answer: GradientTable) -> Table:
    """A row for each parameter or leaf."""
    columns = [(headings, cells) for headings, cells in _columns(answer) if headings]
    table = Table([*chain(*[headings for headings, _ in columns])], order=order(answer.row), judged="status")
    for row in answer.rows:
        table.rows.append([*chain(*[cells(row) for _, cells in columns])])
    table.tones = tones(answer.rows, answer.wrong, answer.status)
    return table


def order(first: str) -> Sequence[str]:
    """Return the columns of a table of gradients whose first column is called so, the least important first."""
    least = ["tensor", "from op", "from", "gradient", "max |g|", "not finite", "zeros", "source…", "shape", "status…"]
    return [*least, f"{first}…", "‖g‖", "source"]


def tones(
    rows: Sequence[GradientRow],
    wrong: Collection[str],
    status: Callable[[GradientRow], str] = attrgetter("status"),
) -> dict[int, str]:
    """By row, what its status means: a finding, something to know, or that all is well with values that were looked at.

    Args:
        wrong: the names for people of the rows that findings are about.
        status: what is said of a row.
    """
    return {
        i: "bad" if row.shown in wrong else _tone(row, status(row))
        for i, row in enumerate(rows)
        if row.lacking or row.values is not None or row.shown in wrong
    }


def _tone(row: GradientRow, status: str) -> str:
    data = row.facts.get("is_parameter") is False and row.facts.get("trainable") is False
    if data or status.startswith(_MEANT):
        return "dim"
    return "good" if status == numbers.OK else "warn"


_MEANT = ("frozen", "not in", STATISTICS, BY_STRUCTURE)
"""Beginnings of what someone wanted, or what cannot be otherwise."""


def _columns(answer: GradientTable) -> list[tuple[Sequence[str], Callable[[GradientRow], Iterable[str]]]]:
    """Headings, none for what this answer does not have, with the cells under them."""
    return [
        ([answer.row], lambda row: [row.shown]),
        (["tensor"] if answer.two_names else [], lambda row: [row.name]),
        (["shape"], lambda row: [shape(row.shape)]),
        (["gradient"] if answer.named_gradients else [], lambda row: [row.gradient or NOTHING]),
        (["from op"], lambda row: [row.operator or NOTHING]),
        (VALUE_HEADINGS if answer.computed else [], value_cells),
        *origin_columns(answer),
        (["status", "source"], lambda row: [answer.status(row), row.source or NOTHING]),
    ]


def origin_columns(answer: GradientTable) -> list[tuple[Sequence[str], Callable[[GradientRow], Iterable[str]]]]:
    """Return columns for what ``.grad`` held after backward, and for what an optimizer used, where these differ; and
    who gave it.
    """
    held = any(row.held is not None for row in answer.rows)
    used = any(row.used is not None for row in answer.rows)
    given_by = any(row.given_by for row in answer.rows)
    return [
        (["‖.grad‖"] if held else [], lambda row: [_grad_norm(row)]),
        (["‖g‖ used"] if used else [], lambda row: [_grad_norm(row) if row.used is None else number(row.used.norm)]),
        (["from"] if given_by else [], lambda row: [row.given_by or NOTHING]),
    ]


def _grad_norm(row: GradientRow) -> str:
    """The norm of ``.grad``: that of the gradient where they are the same."""
    numbers = row.held or row.values
    return NOTHING if numbers is None else number(numbers.norm)


def value_cells(row: GradientRow) -> list[str]:
    """The cells under :data:`VALUE_HEADINGS`."""
    if row.values is None:
        return [NOTHING] * len(VALUE_HEADINGS)
    g = row.values
    return [number(g.norm), number(g.largest), f"{g.zeros}/{g.elements}", str(g.nonfinite)]


def _summary(answer: GradientTable, findings: str, others: Sequence[str]) -> str:
    """``2 of 3 parameters get a gradient · --no-grad my_fc.b_0 removed 1 gradient``."""
    text = count_arrived(answer) + values_note(answer.rows_to_count, answer.computed)
    if answer.no_grad:
        names = ", ".join(answer.shown_no_grad[:3]) + (", …" if len(answer.no_grad) > 3 else "")
        text += f" · --no-grad {names} removed {count(answer.removed, 'gradient')}"
    if answer.given is not None:
        text += f" · as {answer.given.at} asks"
    text += f" · --params skips {answer.skip_count}" if answer.skip_count else ""
    text = text if findings.startswith("0 ") else f"{text} · {findings}"
    return "\n".join([text, *others, *drop_lines(answer.about.dropped), *failure_lines(answer.failure)])


def count_arrived(answer: GradientTable) -> str:
    """``2 of 3 parameters get a gradient``: in the words of ``why``, whatever else there is in the table."""
    verb = "gets" if len(answer.rows_to_count) == 1 else "get"
    return f"{answer.gradient_count} of {count_expected(answer)} {verb} a gradient"


def count_expected(answer: GradientTable) -> str:
    """``3 parameters``: what a gradient is expected of."""
    name, n = row_name(answer), len(answer.rows_to_count)
    return f"{n} {answer.rows_}" if n != 1 and name == answer.row else count(n, name)


def row_name(answer: GradientTable) -> str:
    """Return the name of a row where rows are counted: ``parameter`` where all of them are."""
    return "parameter" if all(row.facts.get("is_parameter") for row in answer.rows_to_count) else answer.row


def values_note(rows: Sequence[GradientRow], computed: bool) -> str:
    """Return the note about values of gradients that follows their number."""
    if not computed:
        return " (values not looked at: --run)"
    counts = Counter(r.status for r in rows if r.has_gradient)
    return "".join(f" · {counts[state]} {state}" for state in (*numbers.NOT_FINITE, numbers.ZERO) if counts[state])


def next_commands(rows: Sequence[GradientRow], words: Sequence[str], loss: float | None = None) -> list[str]:
    """The commands that explain gradients with such values; of a *loss* that is not finite, too."""
    next_ = []
    wild = any(r.has_gradient and r.status in numbers.NOT_FINITE for r in rows)
    if wild or (loss is not None and finite(loss) is None):
        next_.append(command_line("gradtool", "nan", *words))
    zero = next((r.shown for r in rows if r.has_gradient and r.status == numbers.ZERO), None)
    return next_ if zero is None else [*next_, command_line("gradtool", "why", zero, *words)]


def _next(answer: GradientTable) -> list[str]:
    words = answer.words
    pairs = command_line("gradtool", "graph", *words, "--pairs")
    next_ = next_commands(answer.rows, words, answer.loss.value) if answer.computed else []
    if answer.failure is not None:
        next_.insert(0, command_line("gradtool", "why", *remove_pass(words)))
    subject = next((a.name for a in answer.answers if a.finding), answer.first_cut)
    if subject is not None and len(next_) < 2:
        next_ = [*dict.fromkeys([*next_, command_line("gradtool", "why", subject, *words)])]
    if answer.computed:
        return [*next_, pairs, command_line("gradtool", "graph", "--dump", "graphs", *words)]
    return [*next_, command_line("gradtool", "backward", *words, *answer.checkpoint_words, "--run"), pairs]


def _data(answer: GradientTable, others: list[dict[str, Any]]) -> dict[str, object]:
    loss = answer.loss
    return {
        "model": answer.about.file,
        "mode": answer.about.mode,
        "loss": {
            "name": loss.name,
            "shape": list(loss.shape),
            "dtype": loss.dtype,
            "value": None if loss.value is None else finite(loss.value),
        },
        "operators": {"forward": answer.forward, "backward": answer.backward, "left_out": answer.left_out},
        "parameters": [{**r.data(), **r.origin(), "status": answer.status(r)} for r in answer.rows],
        "pairs": answer.pairs,
        "no_grad": answer.no_grad,
        "params": answer.params,
        "removed_by_no_grad": answer.removed,
        "given": None if answer.given is None else answer.given.data(),
        "recomputed": None if answer.recomputed is None else answer.recomputed.data(),
        "findings": answer.findings,
        "others": others,
        "passes": [o.data() for o in answer.origins],
        "failure": None if answer.failure is None else answer.failure.data(),
    }


def pairs_alone(answer: GradientTable, form: str) -> str:
    """Exactly the list that ``append_backward`` returns, in the form that ``--format`` names."""
    if form == "json":
        return to_json({"pairs": answer.pairs}, "only-grads")
    if form == "tsv":
        return "".join(f"{p}\t{g}\n" for p, g in answer.pairs)
    return f"[{', '.join(f'({p}, {g})' for p, g in answer.pairs)}]\n"
