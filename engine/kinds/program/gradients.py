"""The gradients of a static program: its backward part, made once, and every parameter with its gradient or reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, partial
from typing import Any

from ...answers.numbers import Numbers
from ...answers.why.of_program import ProgramReasons, explain
from ...answers.why.reasons import describe_frozen
from ...answers.why.statistics import LABEL as STATISTICS
from ...answers.why.statistics import find_in_program
from ...answers.why.verdicts import Verdict
from ...autodiff.backward_part import BackwardPart, differentiate, find_start
from ...autodiff.values import Value
from ...core import source
from ...core.notes import Notes
from ...ir import roles
from ...ir.operator import Operator
from ...ir.program import Program
from ...ir.variable import Parameter, Variable
from ...request.options import BackwardOptions, Cuts
from ...view.graph import EdgeView, GraphView
from ..about import ModelGraph
from ..gradients import NOT_ASKED, GivenLists, GradientRow, GradientTable, Loss, makers, status
from . import feeds, recomputing
from .backward_request import Wanted, find_wanted
from .model import ProgramModel


def table(model: ProgramModel, asked: BackwardOptions, notes: Notes) -> GradientTable:
    """The table of gradients; the backward part is appended to the program.

    Raises:
        CommandError: a selector selects nothing.
        GradtoolError: the engine refused.
    """
    block = model.program.global_block()
    # What is asked for.
    lists = find_wanted(model, asked, notes)
    listed, stopped = lists.listed, lists.no_grad
    own = lists.is_of_file
    # The backward part, and what explains where it does not reach.
    loss = model.the_loss
    where = find_start(loss, "paddle.static.append_backward")
    choice = recomputing.choose_checkpoints(model, asked, stopped, notes)
    kept = [] if choice is None else choice.checkpoints
    parameters = model.program.all_parameters()
    statistics = find_in_program(block.ops, parameters)
    part: BackwardPart = model.call(
        differentiate, loss, stopped, listed, checkpoints=kept, callbacks=asked.functions, where=where
    )

    @cache
    def forward() -> list[Operator]:
        added = set(part.ops)
        return [op for op in block.ops if op not in added]

    @cache
    def reasons() -> ProgramReasons:  # asked for where something has no gradient, or is drawn
        return explain(forward(), [loss], stopped, lists.at, part.values)

    # The table.
    subjects = list(dict.fromkeys([*parameters, *(listed or ())]))
    added = sum([roles.is_backward(op.role) for op in part.ops])
    named = [v if isinstance(v, str) else v.name for v in stopped]
    rows = _rows(subjects, part, reasons, lists, statistics)
    paths = any(getattr(v, "layer_path", None) for v in subjects)
    again = [*model.words, *asked.words]
    return GradientTable(
        model.about,
        Loss(loss.name, loss.shape, loss.dtype.name),
        rows,
        "parameter",
        "parameters",
        [[p.name, g.name] for p, g in part.pairs],
        len(block.ops) - added,
        added,
        [] if own else named,
        None if listed is None or own else [v.name for v in listed],
        _count_removed(subjects, reasons(), explain(forward(), [loss], values=part.values))
        if stopped and not own
        else 0,
        computed=False,
        two_names=paths,
        named_gradients=True,
        words=again,
        graph=partial(graph, model, part.pairs, partial(_mark, reasons, rows)),
        shown_no_grad=[] if own else named,
        left_out=model.stripped,
        recomputed=None
        if choice is None
        else recomputing.Recomputed(choice, len(part.recomputed), asked.memory_budget),
        given=GivenLists(source.short(lists.at), None if listed is None else [v.name for v in listed], named)
        if own
        else None,
        checkpoint_words=recomputing.words(asked),
        first_cut=next((r.name for r in rows if r.is_cut), None),
    )


def fetch_list(model: ProgramModel, answer: GradientTable) -> list[Variable]:
    """The variables that :func:`fill` takes the arrays of: the loss, and every gradient in the table."""
    variables = model.program.global_block().vars
    return [model.the_loss, *(variables[r.gradient] for r in answer.rows if r.gradient is not None)]


def fill(answer: GradientTable, arrays: Sequence[Any]) -> None:
    """Put into the table what a run gave for :func:`fetch_list`."""
    loss, *gradients = arrays
    rest = iter(gradients)
    for row in answer.rows:
        if row.gradient is not None:
            answer.arrays[row.subject] = next(rest)
            row.values = Numbers.measure(answer.arrays[row.subject], orders=False)
    answer.loss = dataclasses.replace(answer.loss, value=float(loss.reshape(())))
    answer.computed = True


def evaluate(model: ProgramModel, table: GradientTable, asked: BackwardOptions, notes: Notes) -> GradientTable:
    """Return the table with the values that a run of the program gave."""
    fill(table, feeds.run(model, fetch_list(model, table), asked.feed, notes, asked.backend))
    return table


def draw(model: ProgramModel, cuts: Cuts, notes: Notes) -> ModelGraph:
    """Return the graph for pictures of the program with its backward part; without a loss, of the forward part."""
    return model.differentiate(BackwardOptions(params=cuts.params, no_grad=cuts.no_grad), notes).graph()


def graph(
    model: ProgramModel,
    pairs: Sequence[tuple[Variable, Variable]] = (),
    marks: Callable[[Program, GraphView], GraphView] | None = None,
) -> ModelGraph:
    """Return the graph for pictures of the program as it stands.

    Args:
        pairs: variables and their gradients, for those that were asked for.
        marks: marks in the picture what gets no gradient.
    """
    from ...view.from_program import view

    program = model.program
    ops = [op for block in program.blocks for op in block.ops]
    added = sum(roles.is_backward(op.role) for op in program.global_block().ops)
    facts = {
        "mode": model.mode,
        "model": model.name,
        "loss": None if model.loss is None else model.loss.name,
        "operators": {"forward": len(program.global_block().ops) - added, "backward": added},
        "pairs": [[p.name, g.name] for p, g in pairs],
    }
    drawn = view(program, title=model.name, loss=model.loss, gradients=dict(pairs))
    return ModelGraph(drawn if marks is None else marks(program, drawn), [op.loc for op in ops], facts)


def _mark(
    why: Callable[[], ProgramReasons], rows: Sequence[GradientRow], program: Program, view: GraphView
) -> GraphView:
    """The picture with the reasons in it."""
    from ...answers.why.picture_marks import mark_view

    reasons = why()
    ops = {f"op{i}": op for i, op in enumerate(op for block in program.blocks for op in block.ops)}
    variables = [v for block in program.blocks for v in block.vars.values()]
    id_of = {v: f"v{i}" for i, v in enumerate(variables)}
    variable_of = {i: v for v, i in id_of.items()}
    forward, values = {*reasons.flow.ops}, reasons.flow.values

    def value(edge: EdgeView) -> Value | None:
        op = ops.get(edge.target)
        return values.read(op, variable_of[edge.tensor]) if op in forward else None

    lost = {id_of[r.subject]: r.status.removeprefix("cut: ") for r in rows if r.gradient is None}
    trained = [id_of[r.subject] for r in rows if not r.subject.stop_gradient]
    return mark_view(view, reasons, value, ops.get, lost, trained)


def _count_removed(subjects: Iterable[Variable], reasons: ProgramReasons, plain: ProgramReasons) -> int:
    """Return the number of tensors that have a gradient only without the no-grad set."""

    def is_reached(among: ProgramReasons, v: Variable) -> bool:
        return among.explain_variable(v).verdict is Verdict.OK

    return sum(is_reached(plain, v) and not is_reached(reasons, v) for v in subjects)


def _rows(
    subjects: list[Variable],
    part: BackwardPart,
    reasons: Callable[[], ProgramReasons],
    lists: Wanted,
    statistics: Collection[Variable],
) -> list[GradientRow]:
    returned = dict(part.pairs)
    listed = None if lists.listed is None else set(lists.listed)
    place = source.short(lists.at)
    told: list[tuple[Variable, Variable | None, str]] = []
    for v in subjects:
        gradient, text = returned.get(v), ""
        if gradient is None:
            reason = reasons().explain_variable(v)
            text = STATISTICS if v in statistics else _status(v, reason, listed, place)
            gradient = v.block.vars.get(v.grad_name) if reason.verdict is Verdict.OK else None
        told.append((v, gradient, text))
    made_by = makers(subjects[0].block.program.global_block().ops, [g for _, g, _ in told]) if subjects else {}
    return [row(v, gradient, made_by, text) for v, gradient, text in told]


def row(v: Variable, gradient: Variable | None, made_by: dict[Variable, str], text: str) -> GradientRow:
    """The row of a variable.

    Args:
        made_by: variable -> the name of the operator that makes it.
        text: why it lacks the gradient that was asked for; empty where it does not.
    """
    path = getattr(v, "layer_path", None)
    facts = {
        "layer_path": path,
        "is_parameter": v.is_parameter,
        "trainable": getattr(v, "trainable", None),
    }
    return GradientRow(
        v,
        v.name,
        path or v.name,
        v.shape,
        v.dtype.name,
        None if gradient is None else gradient.name,
        None if gradient is None else made_by.get(gradient),
        text,
        source.short(v.made_at),
        facts,
    )


def _status(v: Variable, reason: Any, listed: set[Variable] | None, place: str) -> str:
    """Why a variable has no gradient among those that are returned.

    Args:
        place: the line that gave the lists, if one did.
    """
    if reason.verdict is Verdict.OK and listed is not None and v not in listed:
        return f"{Verdict.NOT_LISTED.text}, {place}" if place else f"{NOT_ASKED}, still computed"
    if reason.verdict is Verdict.OK and isinstance(v, Parameter) and not v.trainable:
        return f"{describe_frozen()}, still computed"
    return status(reason, place)
