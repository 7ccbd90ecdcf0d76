"""``gradtool.why``: why a gradient is None or zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gradtool.engine.answers.why.answers import Answers
from gradtool.engine.answers.why.graph_case import GraphCase
from gradtool.engine.answers.why.of_journal import NamedTensor
from gradtool.engine.answers.why.program_case import BackwardArguments, ProgramCase
from gradtool.engine.answers.why.tensor_case import TensorCase
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.source import NOWHERE
from gradtool.engine.eager.journal import Journal, current, keep_journal
from gradtool.engine.eager.recorded_calls import nodes_behind
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.executor.executor import Executor
from gradtool.engine.executor.scope import global_scope
from gradtool.engine.ir import roles
from gradtool.engine.ir.variable import Variable
from gradtool.engine.recorders import live
from gradtool.paddle.nn import Layer

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
    with keep_journal() as journal, live.listen():
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
    if live.is_foreign(target):
        answered = _ask_foreign(target, asked)
        if answered is not None:
            return answered
        target, asked = (
            live.stand_in(target, differentiated=False),
            None if asked is None else [*map(live.stand_in, asked)],
        )
    case: Any
    if isinstance(target, Variable):
        case = _program_case(target, asked, parameter_list, no_grad_set, feed)
    elif isinstance(target, Tensor):
        case = _case_of_tensor(target, asked, list(no_grad_set))
    else:
        raise ArgumentTypeError(
            f"{_HERE}: 'target' must be a Variable or a Tensor, but received {type(target).__name__}."
        )
    if asked is None:
        return Answers(case.answers())
    return Answers(case.answer(s, contributions=contributions) for s in case.subjects())


def _ask_foreign(loss: Any, asked: list[Any] | None) -> Answers | None:
    """Return what the graph of a framework says; None where somebody listened, and more is known."""
    for v in asked or ():
        if not live.is_foreign(v):
            raise ArgumentTypeError(
                f"{_HERE}: 'var' must be a tensor of PyTorch, as 'target' is, but received {type(v).__name__}."
            )
    journal, tensor = current(), live.stand_in(loss, differentiated=False)
    if journal is not None and journal.knows(tensor, nodes_behind([tensor])):
        return None
    case = GraphCase(live.program().explain_by_graph(loss, live.names_of_callers(), asked), "loss")
    return Answers(case.answers() if asked is None else case.subjects())


def _program_case(
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


def _case_of_tensor(loss: Tensor, asked: list[Any] | None, constants: list[Tensor]) -> TensorCase:
    _check(asked, Tensor)
    journal = current()
    if journal is None:
        raise UsageError(
            f"{_HERE}: nothing was noted about the tensor '{loss.name}'.",
            hint="compute it inside 'with gradtool.watching():' and ask there, or use the command gradtool why",
        )
    names = live.names(live.names_of_callers())
    met = [*journal.tensors()]
    held = [list(v.parameters()) for v in names.values() if isinstance(v, Layer)] if live.is_loaded() else []
    beside = [p for parameters in held if not set(met).isdisjoint(parameters) for p in parameters]
    tensors = {t: NamedTensor(t, _name_of(t, names), t.loc) for t in (*met, *beside, *(asked or ()))}
    return TensorCase(journal, loss, _name_of(loss, names), list(tensors.values()), constants, asked)


def _name_of(t: Tensor, names: Mapping[str, Any]) -> str:
    """Return what the user's program calls a tensor of a running framework's; the tensor's own name of any other."""
    if not live.is_loaded():
        return t.name
    path: str | None = getattr(t, "layer_path", None)
    return path or next((n for n, v in names.items() if v is t), t.name)


def _check(asked: list[Any] | None, kind: type) -> None:
    for v in asked or ():
        if not isinstance(v, kind):
            raise ArgumentTypeError(
                f"{_HERE}: 'var' must be a {kind.__name__}, as 'target' is, but received {type(v).__name__}."
            )
