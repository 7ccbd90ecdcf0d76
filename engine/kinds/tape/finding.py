"""A model of dynamic mode: the loss among what a model file left behind, and the tensors that it knows by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gradtool.paddle.nn import Layer

from ...core import state
from ...core.command_errors import CommandError, unknown
from ...core.vocabulary import say
from ...eager.journal import Journal
from ...eager.recorded_calls import leaves_behind, nodes_behind
from ...eager.tape import Place, restore
from ...eager.tensor import Tensor
from ...ir.program import Program
from ...ir.variable import Variable
from ...request.request import Request
from ...script.attributes import is_a
from ...script.effects import explain_missing_loss
from ...script.script_state import USUAL_LOSSES, Loaded
from .model import TapeEntry, TapeModel
from .tensors import TensorNames, constants, entries, names_in


def find(left: Loaded, request: Request) -> TapeModel:
    """The model in what a file left behind.

    Raises:
        CommandError: no loss, several, or an unknown name.
    """
    state.disable_static()
    values = _entries(left.result)
    returned = [v.carrier for v in values if is_a(v, Tensor)]
    others = [v for v in values if v is not None and not is_a(v, (Tensor, Layer, Mapping))]
    if others or (left.result is not None and not returned):
        got = type((others or [left.result])[0]).__name__
        static = any(is_a(v, (Variable, Program)) for v in others)
        raise CommandError(
            f"{left.function}() in {left.name} returned {got}: expected a loss, or a loss and its model",
            "the model is a static program: remove --mode eager" if static else "return the Tensor, not its value",
        )
    named = names_in(left)
    if request.objective.loss is not None:
        loss = _loss_by_name(request.objective.loss, named, returned)
    elif (meant := _target_of_pass(left, request, returned)) is not None:
        loss = meant
    elif returned:
        loss = _choose({_python_name(t, named) or t.name: t for t in returned}, left, request)
    else:
        loss = _choose(named.plain, left, request)
    return _add_siblings(make_model(left, loss, request), left, request)


def _add_siblings(model: TapeModel, left: Loaded, request: Request) -> TapeModel:
    """*model* with those of the other passes of its step."""
    calls = left.calls
    if model.pass_call is None or request.objective.loss is not None or left.live:
        return model
    siblings = []
    for call in calls.step_passes():
        if call is model.pass_call or call.start is None:
            continue
        before, calls.which = calls.which, str(call.number)
        try:
            siblings.append(make_model(left, call.start.loss, request))
        finally:
            calls.which = before
    model.siblings = siblings
    return model


def _target_of_pass(left: Loaded, request: Request, returned: Sequence[Tensor]) -> Tensor | None:
    """Return the tensor that was backpropagated; None where the file says what is meant in another way.

    What was computed after the last pass is no training: the pass is meant, whatever is called ``loss`` by then.
    """
    if request.backward is None and returned:
        return None
    call = left.calls.target_pass()
    if call is None or request.backward is not None or call.how == "backward":
        return None if call is None else call.loss
    usual = next((left.namespace[n] for n in USUAL_LOSSES if is_a(left.namespace.get(n), Tensor)), None)
    if usual is not None:
        return None
    plain = {n: v.carrier for n, v in left.namespace.items() if is_a(v, Tensor) and not n.startswith("__")}
    return None if _candidates(plain) else call.loss


def make_model(left: Loaded, loss: Tensor, request: Request) -> TapeModel:
    """The model whose loss is known."""
    named = names_in(left)
    if left.calls.stopped is not None and left.journal is not None:
        left.journal.cut_after(loss)
    call = left.calls.target_pass()
    call = call if call is not None and call.start is not None and call.start.loss is loss else None
    roots = [loss] if call is None or call.start is None else call.start.differentiated
    nodes = nodes_behind(roots)
    restored = restore(nodes)
    leaves = leaves_behind(roots, nodes)
    return TapeModel(
        left.name,
        loss,
        _python_name(loss, named) or loss.name,
        entries(left, named, nodes, leaves),
        nodes,
        leaves,
        restored,
        left.journal,
        left.live,
        request.words(),
        request.run.seed,
        request,
        constants(nodes, named, left.journal),
        call,
        left.calls.shares.current(left.calls.is_current) if call is not None and left.calls.which is None else {},
        by_graph=left.by_graph,
    )


def entries_in(left: Loaded) -> list[TapeEntry]:
    """The tensors that a file left behind, whether or not a loss was computed of them."""
    return entries(left, names_in(left))


def model_of_loss(loss: Tensor, name: str, journal: Journal, live: bool, words: list[str]) -> TapeModel:
    """The model behind a loss that a running program holds.

    Args:
        name: what the model is called.
        journal: kept while the loss was computed; it knows the parameters.
        live: see ``Model``.
        words: what stands for a file in commands.
    """
    named = TensorNames()
    for p in journal.tensors():
        named.add(getattr(p, "layer_path", None) or p.name, p)
    nodes = nodes_behind([loss])
    restored = restore(nodes)
    leaves = leaves_behind([loss], nodes)
    left = Loaded(name, {}, Program(), Program(), journal=journal)
    tensors = entries(left, named, nodes, leaves)
    return TapeModel(
        name,
        loss,
        loss.name,
        tensors,
        nodes,
        leaves,
        restored,
        journal,
        live,
        words,
        constants=constants(nodes, named, journal),
    )


def _entries(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [] if result is None else [result]


# -- the loss ---------------------------------------------------------------------------------------------------------


def _loss_by_name(name: str, named: TensorNames, returned: Iterable[Tensor]) -> Tensor:
    by_path = named.by_path
    if name in by_path:
        return by_path[name]
    for t in (*by_path.values(), *returned):
        if t._name == name:
            return t
    likely = [n for n, t in by_path.items() if t.node is not None]
    raise unknown("loss", name, [*likely, *(n for n in by_path if n not in likely)])


def _python_name(t: Tensor, named: TensorNames) -> str | None:
    names = named.names_of(t)
    return next((n for n in names if n in USUAL_LOSSES), names[0] if names else None)


def _candidates(named: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The named tensors of which one may be the loss."""
    return {n: t for n, t in named.items() if t.node is not None and t.dtype.is_floating and t.spec.count == 1}


def _choose(named: Mapping[str, Tensor], left: Loaded, request: Request) -> Tensor:
    one = _candidates(named)
    for name in USUAL_LOSSES:
        if name in one:
            return one[name]
    usual = [named[n] for n in USUAL_LOSSES if n in named] or (list(named.values()) if left.function else [])
    if not one and usual:
        return usual[0]  # the engine says what is wrong with it
    distinct = {t: n for n, t in reversed(one.items())}
    places = {t.tape_place() for t in distinct}
    inner: set[Place] = set()
    for node in nodes_behind(distinct):
        inner.update(p for p in node.wrt if p is not None and p in places)
    last = {n: t for t, n in distinct.items() if t.tape_place() not in inner}
    if len(last) == 1:
        return next(iter(last.values()))
    if last:
        raise CommandError(
            f"{left.name} has several candidates for the loss: {', '.join(reversed(last))}", "choose: --loss NAME"
        )
    shaped = [n for n, t in named.items() if t.node is not None]
    hint = say("a loss has one element and is computed from a tensor with {takes}; --loss NAME names it")
    if shaped:
        hint = f"backward starts at a tensor of any shape when it is named: --loss {shaped[-1]}"
    raise CommandError(f"{left.name} defines no loss", explain_missing_loss() or hint)
