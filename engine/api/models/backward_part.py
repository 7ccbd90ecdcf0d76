"""Making the backward part that several commands look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from gradtool.engine.answers.why.of_program import ProgramReasons, explain
from gradtool.engine.answers.why.reasons import FROZEN
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.autodiff.backward import append_backward
from gradtool.engine.autodiff.checkpoints import Choice
from gradtool.engine.ir import roles
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.variable import Parameter, Variable

from .errors import CommandError
from .notes import Notes
from .program_model import ProgramModel
from .recomputing import Recomputed, made
from .rows import Row, gradient_places, status
from .selectors import Selectors
from .wording import count


@dataclass
class BackwardPart:
    """The result of ``append_backward``, with reasons.

    Attributes:
        pairs: exactly what it returned.
        rows: every parameter, in order of creation, then other tensors asked for.
        forward, backward: numbers of operators.
        removed: how many parameters have no gradient because of ``--no-grad``.
        left_out: how many because they are not among ``--params``.
        recomputed: what ``--checkpoints`` lets be computed again, if it was given.
    """

    pairs: list[tuple[Variable, Variable]]
    rows: list[Row]
    forward: int
    backward: int
    no_grad: list[Variable]
    params: list[Variable] | None
    removed: int
    left_out: int
    recomputed: Recomputed | None = None


def append(
    model: ProgramModel,
    params: tuple[str, ...],
    no_grad: tuple[str, ...],
    out: Notes,
    callbacks: list[Callable[..., Any]] | None = None,
    recompute: Callable[[list[Variable]], Choice | None] = lambda stopped: None,
    budget: int | None = None,
) -> BackwardPart:
    """Append the backward part of the model's loss under a parameter list and a no-grad set.

    Args:
        recompute: gives the checkpoints, if there are to be any, from what the no-grad set holds.
        budget: what the checkpoints were chosen for.

    Raises:
        CommandError: a selector selects nothing.
        GradtoolError: the engine refused.
    """
    block = model.program.global_block()
    selectors = Selectors(model.program, model.named)
    asked = selectors.select("--params", params, out, parameters_only=True) if params else None
    stopped = selectors.select("--no-grad", no_grad, out)
    before = list(block.ops)
    reasons = explain(before, [model.the_loss], stopped)
    plain = explain(before, [model.the_loss]) if stopped else reasons
    choice = recompute(stopped)
    kept = choice.checkpoints if choice is not None else []
    found = model.call(
        append_backward,
        model.the_loss,
        parameter_list=asked,
        no_grad_set=stopped,
        callbacks=callbacks,
        checkpoints=kept,
    )
    pairs = found[0] if kept else found
    old = set(before)
    new = [op for op in block.ops if op not in old]
    added = sum(roles.is_backward(op.role) for op in new)
    parameters = list(model.program.all_parameters())
    listed: list[Variable] = [*parameters, *(v for v in asked or () if v not in set(parameters))]
    rows = _rows(listed, pairs, reasons, asked, block.ops)

    def reached(found: ProgramReasons, v: Variable) -> bool:
        return found.of_variable(v).verdict is Verdict.OK

    return BackwardPart(
        pairs,
        rows,
        len(block.ops) - added,
        added,
        stopped,
        asked,
        removed=sum(reached(plain, v) and not reached(reasons, v) for v in listed),
        left_out=sum(r.status.startswith(_NOT_ASKED) for r in rows),
        recomputed=made(choice, new, budget) if choice is not None else None,
    )


_NOT_ASKED = "not in --params"


def _rows(
    listed: list[Variable],
    pairs: list[tuple[Variable, Variable]],
    reasons: ProgramReasons,
    asked: list[Variable] | None,
    ops: list[Operator],
) -> list[Row]:
    returned = dict(pairs)
    places = gradient_places(ops)
    rows = []
    for v in listed:
        gradient = returned.get(v)
        if gradient is not None:
            rows.append(Row(v, gradient, places.get(gradient), "ok"))
            continue
        reason = reasons.of_variable(v)
        text = status(reason)
        if reason.verdict is Verdict.OK:
            if asked is not None and v not in set(asked):
                text = f"{_NOT_ASKED}, still computed"
            elif isinstance(v, Parameter) and not v.trainable:
                text = f"{FROZEN}, still computed"
            gradient = v.block.vars.get(v.grad_name)
        rows.append(Row(v, gradient, places.get(gradient) if gradient is not None else None, text))
    return rows


def summary(part: BackwardPart) -> str:
    """``2 of 3 parameters get a gradient · --no-grad my_fc.b_0 removed 1 gradient``."""
    got = sum(r.ok for r in part.rows)
    text = f"{got} of {count(len(part.rows), 'parameter')} get{'s' if len(part.rows) == 1 else ''} a gradient"
    if part.no_grad:
        names = ", ".join(v.name for v in part.no_grad[:3]) + (", …" if len(part.no_grad) > 3 else "")
        text += f" · --no-grad {names} removed {count(part.removed, 'gradient')}"
    if part.left_out:
        text += f" · --params leaves out {part.left_out}"
    return text


def callbacks(texts: tuple[str, ...], model: ProgramModel) -> list[Callable[..., Any]] | None:
    """The functions that ``--callbacks MOD:FN`` names; ``:FN`` is a function of the model file."""
    if not texts:
        return None
    return [_callback(text, model) for text in texts]


def _callback(text: str, model: ProgramModel) -> Callable[..., Any]:
    from . import loader
    from .errors import unknown

    where, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier():
        raise CommandError(f"--callbacks {text}: expected MODULE:FUNCTION or FILE.py:FUNCTION")
    if where:
        module = ModuleType("__gradtool_callbacks__")
        loader.run_file(where, module.__dict__)
        namespace: dict[str, Any] = module.__dict__
    else:
        namespace = model.namespace
    function = namespace.get(name)
    if not callable(function):
        raise unknown(
            f"function for --callbacks in {where or model.name}:", name, [n for n in namespace if n[:1] != "_"]
        )
    found: Callable[..., Any] = function
    return found
