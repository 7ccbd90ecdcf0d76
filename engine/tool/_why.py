"""``gradtool.why``: why a gradient is None or zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gradtool.engine.answers.why.answers import Answers
from gradtool.engine.answers.why.of_journal import NamedTensor
from gradtool.engine.answers.why.program_case import BackwardArguments, ProgramCase
from gradtool.engine.answers.why.tensor_case import TensorCase
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.source import NOWHERE
from gradtool.engine.eager.journal import Journal, current, keep_journal
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.executor.executor import Executor
from gradtool.engine.executor.scope import global_scope
from gradtool.engine.ir import roles
from gradtool.engine.ir.variable import Variable

_HERE = "gradtool.why"


@contextmanager
def watching() -> Iterator[Journal]:
    """Note what happens in dynamic mode inside the ``with`` block, so that :func:`why` can explain it.

    The tape holds what gradients flow through and nothing else. Noted here are detached copies, calls under ``no_grad``
    and values that went to NumPy. Operators cost about three times as much inside.

    >>> import gradtool
    >>> from gradtool import paddle
    >>> with gradtool.watching():
    ...     w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    ...     loss = (w * w).detach().sum()
    ...     gradtool.why(loss, w)[0].verdict.value
    'detached'
    """
    with keep_journal() as journal:
        yield journal


def why(
    target: Any,
    var: Any = None,
    *,
    parameter_list: Sequence[Variable] | None = None,
    no_grad_set: Iterable[Any] = (),
    feed: Mapping[str, Any] | None = None,
    contributions: bool = False,
) -> Answers:
    """Why tensors have no gradient, or a zero one.

    Args:
        target: the loss: a Variable of a static program without backward part, or a Tensor that was computed inside
            :func:`watching`.
        var: a Variable or Tensor, or a list of them; by default every parameter whose gradient is None or zero, one
            answer per cause.
        parameter_list, no_grad_set: what ``append_backward`` would be given, as variables; of tensors, *no_grad_set*
            names those that count as constants.
        feed: of a program, what to run it with. Gradients that are there are looked at then; without it the answers
            are about the graph alone.
        contributions: tell what each use of *var* adds to its gradient.

    Returns:
        A list of answers with ``verdict``, ``location``, ``path`` and more; printing shows all of it, a notebook a
        table.

    Raises:
        ArgumentTypeError: *target* or *var* is neither Variable nor Tensor (a TypeError).
        UsageError: the tensor was computed outside :func:`watching`, or the program has its backward part already (a
            ValueError).

    >>> import gradtool
    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [4, 3])
    ...     h = paddle.static.nn.fc(x, 2, name="fc")
    ...     answer = gradtool.why(paddle.mean(h.detach()), h.block.var("fc.w_0"))[0]
    >>> answer.verdict.value
    'detached'
    """
    listed = list(var) if isinstance(var, (list, tuple)) else [var]
    asked = None if var is None else listed
    case: Any
    if isinstance(target, Variable):
        case = _of_program(target, asked, parameter_list, no_grad_set, feed)
    elif isinstance(target, Tensor):
        case = _of_tensor(target, asked, list(no_grad_set))
    else:
        raise ArgumentTypeError(
            f"{_HERE}: 'target' must be a Variable or a Tensor, but received {type(target).__name__}."
        )
    if asked is None:
        return Answers(case.answers())
    return Answers(case.answer(s, contributions=contributions) for s in case.subjects())


def _of_program(
    loss: Variable,
    asked: list[Any] | None,
    parameter_list: Sequence[Variable] | None,
    no_grad_set: Iterable[Any],
    feed: Mapping[str, Any] | None,
) -> ProgramCase:
    _check(asked, Variable)
    program = loss.block.program
    if any(op.role & roles.BACKWARD for op in program.global_block().ops):
        raise UsageError(
            f"{_HERE}: the program of '{loss.name}' has its backward part already.",
            hint="ask before append_backward, or use the command gradtool why, which takes it out",
        )
    listed = None if parameter_list is None else {str(getattr(v, "name", v)) for v in parameter_list}
    stopped = list(no_grad_set)

    def run(fetch: Sequence[Variable]) -> Sequence[Any]:
        copy = fetch[0].block.program if fetch else program
        return Executor().run(copy, feed=dict(feed or {}), fetch_list=list(fetch), scope=global_scope())

    return ProgramCase(
        loss, BackwardArguments(listed, stopped, NOWHERE), run=None if feed is None else run, chosen=asked
    )


def _of_tensor(loss: Tensor, asked: list[Any] | None, constants: list[Tensor]) -> TensorCase:
    _check(asked, Tensor)
    journal = current()
    if journal is None:
        raise UsageError(
            f"{_HERE}: nothing was noted about the tensor '{loss.name}'.",
            hint="compute it inside 'with gradtool.watching():' and ask there, or use the command gradtool why",
        )
    tensors = {t: NamedTensor(t, t.name, t.loc) for t in (*journal.tensors(), *(asked or ()))}
    return TensorCase(journal, loss, loss.name, list(tensors.values()), constants, asked)


def _check(asked: list[Any] | None, kind: type) -> None:
    for v in asked or ():
        if not isinstance(v, kind):
            raise ArgumentTypeError(
                f"{_HERE}: 'var' must be a {kind.__name__}, as 'target' is, but received {type(v).__name__}."
            )
