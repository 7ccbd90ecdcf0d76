"""Assertions about the gradients of a loss; public as ``gradtool.testing``.

A claim that does not hold raises an :class:`AssertionError` that says which parameter, which operator and which line,
and what would mend it. Its traceback ends in the test.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ParamSpec

from gradtool.engine.answers import python_questions
from gradtool.engine.answers.gradcheck import OK, WRONG, LeafCheck
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.folding import fold_names
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core import source
from gradtool.engine.core.command_errors import CommandError, ModelError
from gradtool.engine.core.errors import GradtoolError, UsageError
from gradtool.engine.core.notes import SILENT
from gradtool.engine.core.wording import count
from gradtool.engine.questions.backward import Backward
from gradtool.engine.questions.nan import Births
from gradtool.engine.questions.why import Why
from gradtool.viz import views
from gradtool.viz.views.view import to_lines

from . import golden, losses

_P = ParamSpec("_P")
_MOST = 8
"""Causes that a failure tells in full."""


def _claim(check: Callable[_P, str]) -> Callable[_P, None]:
    """An assertion made of a function that says what is wrong; the frames of both stay out of the traceback."""

    @functools.wraps(check)
    def check_claim(*args: _P.args, **kwargs: _P.kwargs) -> None:
        __tracebackhide__ = True
        error: Exception | None = None
        try:
            wrong = check(*args, **kwargs)
        except ModelError as refused:
            error = refused.__cause__ if isinstance(refused.__cause__, Exception) else UsageError(refused.message)
        except CommandError as refused:
            error = UsageError(f"{check.__name__}: {refused.message}.", hint=refused.hint)
        except GradtoolError as refused:
            error = refused.with_traceback(None)
        else:
            error = AssertionError(wrong) if wrong else None
        if error is not None:
            raise error from None

    return check_claim


@_claim
def assert_all_parameters_get_gradients(
    loss: Any, *, except_: str | Sequence[str] = (), feed: Mapping[str, Any] | None = None, zero: bool = False
) -> str:
    """Every parameter of the model behind *loss* gets a gradient that is neither None, nor zero, nor NaN or infinite.

    Parameters that are frozen on purpose (``stop_gradient=True``, ``trainable=False``) need none. What belongs to the
    model is what the test holds and the loss was computed from, with all parameters of these layers, and what the test
    made and has no name.

    Args:
        loss: a Tensor that the test or its fixtures computed, the loss Variable of a static program, or a function
            that computes a loss.
        except_: names and patterns of parameters that need none: ``"teacher.*"``.
        feed: arrays by name for a static program; what it was run with last, else random numbers.
        zero: let gradients pass that are there and zero.

    Raises:
        AssertionError: a parameter gets none: where its path is cut, the line, and what would mend it.
        UsageError: *except_* names no parameter, or nothing was noted about the Tensor (a ValueError).

    >>> from gradtool import paddle
    >>> w = paddle.create_parameter([2], "float32", name="w")
    >>> assert_all_parameters_get_gradients(lambda: (w * 2).sum())
    """
    __tracebackhide__ = True
    patterns = [except_] if isinstance(except_, str) else list(except_)
    with (
        losses.request_for(loss, feed, graph_will_do=True) as (_, request),
        losses.open_model(request, **Why.needs) as model,
    ):
        case = model.case(Why())
        subjects, answers = case.subjects(), case.answers()
        selection = model.selection()
        spared = {*map(selection.display_name, selection.select("except_", patterns, SILENT, parameters_only=True))}
    lacking = [a for a in (_remove_spared(a, spared) for a in answers if _lacks(a, zero)) if a is not None]
    return _parameters(lacking, len(subjects))


def _lacks(answer: Answer, zero: bool) -> bool:
    """Return whether the subject of an answer gets no useful gradient, and nobody froze it."""
    if answer.verdict.is_intended:
        return False
    if answer.verdict is Verdict.NOT_FINITE:
        return True
    return not answer.has_gradient and not (zero and answer.verdict.is_zero)


def _remove_spared(answer: Answer, spared: set[str]) -> Answer | None:
    """The answer about those of its tensors that are not spared; None if all are."""
    names = [name for name in (answer.name, *answer.also) if name not in spared]
    return replace(answer, name=names[0], also=tuple(names[1:])) if names else None


def _parameters(lacking: Sequence[Answer], asked: int) -> str:
    if not asked:
        return "the loss has no parameter, and no other tensor takes a gradient"
    if not lacking:
        return ""
    lost = sum(1 + len(a.also) for a in lacking)
    lines = [f"{lost} of {count(asked, 'parameter')} without a gradient to learn from"]
    for answer in lacking[:_MOST]:
        lines += ["", *answer.lines()]
    rest = [name for answer in lacking[_MOST:] for name in (answer.name, *answer.also)]
    if rest:
        lines += ["", f"and {count(len(rest), 'more parameter')}: {fold_names(rest)}"]
    return "\n".join(lines)


@_claim
def assert_no_nan(loss: Any, *, feed: Mapping[str, Any] | None = None) -> str:
    """Neither the loss, nor what backward reads, nor any gradient is NaN or infinite.

    Args:
        loss: as for :func:`assert_all_parameters_get_gradients`.
        feed: likewise.

    Raises:
        AssertionError: a number is not finite: the operator that made the first one, its line, the cause, and what
            would mend it.
        UsageError: nothing was noted about the Tensor (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 4.0], stop_gradient=False)
    >>> assert_no_nan(lambda: paddle.sqrt(x).sum())
    """
    __tracebackhide__ = True
    with losses.request_for(loss, feed) as (holder, request):
        return _births(holder.births_of(request))


def _births(births: Births) -> str:
    if not births.story.births:
        return ""
    return "\n".join(["a number is not finite", "", *to_lines(views.view_of(births))])


@_claim
def assert_gradcheck(
    function: Any,
    inputs: Any = None,
    *,
    feed: Mapping[str, Any] | None = None,
    order: int = 1,
    seed: int = 0,
    unchecked: bool = False,
) -> str:
    """The gradients of *function* agree with differences of its values.

    Args:
        function: takes *inputs* and returns a Tensor, or several: the ``apply`` of a PyLayer, a Layer, any function.
            Without *inputs*, a function that computes a loss, or the loss Variable of a static program.
        inputs: a Tensor or a sequence of arguments; those with ``stop_gradient=False`` are checked. Without them, all
            parameters behind the loss are.
        feed: arrays by name for a static program.
        order: 2 checks gradients of gradients, too.
        seed: of the random directions and weights.
        unchecked: let gradients pass that cannot be checked, such as those at a kink of the function.

    Raises:
        AssertionError: a gradient is wrong, or could not be checked: the worst element, and what is likely wrong.
        ArgumentTypeError: *function* is a Tensor, whose computation is over, or nothing in it takes a gradient (a
            TypeError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    >>> assert_gradcheck(lambda x: (x * x).sum(), x)
    """
    __tracebackhide__ = True
    current = losses.current()
    with contextlib.nullcontext() if current is None else current.aside():
        entries = python_questions.gradcheck(function, inputs, feed, order=order, seed=seed).entries
    wrong = [e for e in entries if e.status == WRONG]
    open_ = [] if unchecked else [e for e in entries if e.status not in (OK, WRONG)]
    if not entries:
        return "nothing was checked: no parameter and no input takes a gradient"
    if not wrong and not open_:
        return ""
    told = [f"{len(wrong)} wrong"] * bool(wrong) + [f"{len(open_)} not checked"] * bool(open_)
    return "\n".join([f"of {count(len(entries), 'gradient')}: {', '.join(told)}", *map(_check, [*wrong, *open_])])


def _check(entry: LeafCheck) -> str:
    order = f" of order {entry.order}" if entry.order > 1 else ""
    lines = [f"{entry.name or 'the input'}{order}: {entry.status}"]
    if entry.status == WRONG:
        lines[0] += f", {entry.analytic:.6g} along a direction, by differences {entry.numeric:.6g}"
    if entry.index is not None and entry.element is not None:
        at = ", ".join(map(str, entry.index))
        lines.append(f"  worst element [{at}]: {entry.element[0]:.6g}, by differences {entry.element[1]:.6g}")
    lines += [f"  {entry.cause}"] if entry.cause else []
    lines += [f"  look at {entry.suspect}"] if entry.suspect else []
    if entry.loc:
        lines.append(f"  {source.short(entry.loc)}    {source.text(*entry.loc[0])}".rstrip())
    return "\n".join(["", *lines])


@_claim
def assert_graph_matches(loss: Any, file: str | os.PathLike[str], *, no_grad: Sequence[str] = ()) -> str:
    """The forward and backward graph of *loss* is the one that *file* keeps as text.

    Names of operators, files and lines count for nothing. ``pytest --gradtool-update`` writes the file.

    Args:
        loss: as for :func:`assert_all_parameters_get_gradients`.
        file: ``fc.gt.txt``, as seen from the folder of the test.
        no_grad: names and patterns of tensors at which gradients are cut.

    Raises:
        AssertionError: the graphs differ, and in what; or there is no such file.
        GoldenError: the file holds no graph (a ValueError).
        UsageError: nothing was noted about the Tensor (a ValueError).
    """
    __tracebackhide__ = True
    outer = losses.current()
    with losses.request_for(loss) as (_, request), losses.open_model(request) as model:
        outline = model.outline(Backward(no_grad=tuple(no_grad)))
    return golden.compare(outline, golden.path(file, outer), update=outer is not None and outer.update)
