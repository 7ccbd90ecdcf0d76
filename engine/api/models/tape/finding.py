"""A model of dynamic mode: the loss among what a model file left behind, and the tensors that it knows by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.eager.journal import Journal
from gradtool.engine.eager.parameter import parameters_at
from gradtool.engine.eager.recorded import leaf_tensors, leaves_behind, nodes_behind
from gradtool.engine.eager.tape import GradNode, Place, restore
from gradtool.engine.eager.tensor import Leaf, Tensor
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.nn import Layer

from .. import paths
from ..calls import PassCall
from ..errors import CommandError, unknown
from ..loader import Loaded, Request
from .births import born
from .model import Entry, TapeModel, stand_in

_USUAL = ("loss", "avg_loss", "total_loss", "cost", "avg_cost")


def is_eager(left: Loaded, request: Request) -> bool:
    """Whether the file made a model of dynamic mode: it left tensors and built no program."""
    if request.mode != "auto":
        return request.mode == "eager"
    values = [*left.namespace.values(), *_entries(left.result)]
    if left.calls.swept and not left.calls.appended:
        return True
    if any(isinstance(v, (Variable, Program)) for v in values) or left.main.global_block().ops:
        return False
    return any(isinstance(v, Tensor) for v in values)


def find(left: Loaded, request: Request) -> TapeModel:
    """The model in what a file left behind.

    Raises:
        CommandError: no loss, several, or an unknown name.
    """
    state.disable_static()
    values = _entries(left.result)
    returned = [v for v in values if isinstance(v, Tensor)]
    others = [v for v in values if v is not None and not isinstance(v, (Tensor, Layer, Mapping))]
    if others or (left.result is not None and not returned):
        got = type((others or [left.result])[0]).__name__
        static = any(isinstance(v, (Variable, Program)) for v in others)
        raise CommandError(
            f"{left.function}() in {left.name} returned {got}: expected a loss, or a loss and its model",
            "the model is a static program: leave out --mode eager" if static else "return the Tensor, not its value",
        )
    named, parameters = _named(left)
    if request.loss is not None:
        loss = _asked(request.loss, {**parameters, **named}, returned)
    elif (meant := _meant(left, request, returned)) is not None:
        loss = meant
    elif returned:
        loss = _chosen({_python_name(t, named) or t.name: t for t in returned}, left, request)
    else:
        loss = _chosen(named, left, request)
    return around(left, loss, request)


def _meant(left: Loaded, request: Request, returned: Sequence[Tensor]) -> Tensor | None:
    """What was backpropagated; None where the file says what is meant in another way.

    A loss of the module with a graph that was made later is going to be backpropagated next.
    """
    if request.backward is None and returned:
        return None
    call = left.calls.meant()
    if call is None or request.backward is not None:
        return None if call is None else call.loss
    usual = next((left.namespace[n] for n in _USUAL if isinstance(left.namespace.get(n), Tensor)), None)
    if usual is not None and (call.how == "grad" or _is_later(usual, call.loss)):
        return None
    return call.loss if call.how == "backward" or not _candidates(_of_module(left.namespace, None)[0]) else None


def _is_later(t: Tensor, than: Tensor) -> bool:
    return t.node is not None and (than.node is None or t.node.key < than.node.key)  # keys fall with time


def around(left: Loaded, loss: Tensor, request: Request) -> TapeModel:
    """The model whose loss is known."""
    named, parameters = _named(left)
    nodes = nodes_behind([loss])
    restored = restore(nodes)
    leaves = leaves_behind([loss], nodes)
    entries = _all_entries(nodes, leaves, named, parameters)
    values = _values(left)
    for entry in entries:
        entry.container = paths.container(entry.python or "", values)
    name = _python_name(loss, named) or loss.name
    return TapeModel(
        left.name,
        loss,
        name,
        entries,
        nodes,
        leaves,
        restored,
        left.journal,
        left.live,
        request.words(),
        request.seed,
        request,
    )


def entries_in(left: Loaded) -> list[Entry]:
    """The tensors that a file left behind, whether or not a loss was computed of them."""
    return _all_entries((), (), *_named(left))


def _named(left: Loaded) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Tensors by their Python name, and parameters by their Python path.

    The module's names come first, then those of the functions that were running when backward began.
    """
    meant = left.calls.meant()
    scopes = meant.names if meant is not None else ()
    # A name of the module may be bound anew after backward: what it stood for then is meant.
    then = {
        name: value
        for scope in scopes
        for name, value in scope.values.items()
        if not scope.function and (left.calls.which is not None or not _goes_on(left.namespace.get(name), meant))
    }
    named, parameters = _of_module({**left.namespace, **then}, left.result)
    taken = {id(t) for t in (*named.values(), *parameters.values())}
    for scope in scopes:
        for path, t in paths.tensors_in(scope.values):
            if id(t) in taken:
                continue
            taken.add(id(t))
            into = parameters if getattr(t, "is_parameter", False) else named
            free = path if path not in named and path not in parameters else f"{scope.function}.{path}"
            into.setdefault(free, t)
    for path, t in born(left.parameters(), taken):
        parameters.setdefault(path, t)
    return named, parameters


def _goes_on(value: Any, call: PassCall | None) -> bool:
    """Whether a name stands for something that was recorded after a backward pass."""
    return call is not None and isinstance(value, Tensor) and _is_later(value, call.loss)


def _values(left: Loaded) -> dict[str, Any]:
    """What the names of the module, and of the functions that were running when backward began, stand for."""
    values = dict(left.namespace)
    meant = left.calls.meant()
    for scope in meant.names if meant is not None else ():
        values |= {name: value for name, value in scope.values.items() if name not in values}
    return values


def _of_module(namespace: Mapping[str, Any], result: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """As :func:`_named`, of the names of the module."""
    named = {n: v for n, v in namespace.items() if isinstance(v, Tensor) and not n.startswith("__")}
    layers = {n: v for n, v in namespace.items() if isinstance(v, Layer)}
    values = _entries(result)
    layers |= {_layer_name(v, layers): v for v in values if isinstance(v, Layer) and v not in layers.values()}
    parameters = dict(_parameters(layers))
    held = {id(t) for t in (*named.values(), *parameters.values())}
    inside = {n: v for n, v in namespace.items() if not isinstance(v, Tensor) and not n.startswith("__")}
    for path, t in paths.tensors_in(inside):
        if id(t) not in held:
            held.add(id(t))
            parameters.setdefault(path, t)
    return named, parameters


def of_loss(loss: Tensor, name: str, journal: Journal, live: bool, words: list[str]) -> TapeModel:
    """The model behind a loss that a running program holds.

    Args:
        name: what the model is called.
        journal: kept while the loss was computed; it knows the parameters.
        live: see ``Model``.
        words: what stands for a file in commands.
    """
    parameters = {getattr(p, "layer_path", None) or p.name: p for p in journal.tensors()}
    nodes = nodes_behind([loss])
    restored = restore(nodes)
    leaves = leaves_behind([loss], nodes)
    entries = _all_entries(nodes, leaves, {}, parameters)
    return TapeModel(name, loss, loss.name, entries, nodes, leaves, restored, journal, live, words)


def _entries(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [] if result is None else [result]


def _layer_name(layer: Layer, layers: Mapping[str, Layer]) -> str:
    name = layer.__class__.__name__.lower()
    return name if name not in layers else f"{name}_{len(layers)}"


def _parameters(layers: Mapping[str, Layer]) -> Iterator[tuple[str, Tensor]]:
    """Python paths of the parameters of layers; of several layers that hold one parameter, the outermost."""
    seen: set[int] = set()
    ordered = sorted(layers.items(), key=lambda entry: -len(list(entry[1].sublayers())))
    for name, layer in ordered:
        for path, p in layer.named_parameters():
            if isinstance(p, Tensor) and id(p) not in seen:
                seen.add(id(p))
                yield f"{name}.{path}", p


def _python_name(t: Tensor, named: Mapping[str, Tensor]) -> str | None:
    names = [n for n, other in named.items() if other is t]
    return next((n for n in names if n in _USUAL), names[0] if names else None)


def _all_entries(
    nodes: Iterable[GradNode], leaves: Sequence[Leaf], named: Mapping[str, Tensor], parameters: Mapping[str, Tensor]
) -> list[Entry]:
    known = {t: n for n, t in reversed([*parameters.items(), *named.items()])}
    by_leaf = {t._leaf: t for t in known if t.node is None and t._leaf is not None}
    held: dict[Leaf, Tensor] = {**leaf_tensors(nodes), **parameters_at(set(leaves)), **by_leaf}
    tensors = {held[leaf] if leaf in held else stand_in(leaf): None for leaf in leaves}
    tensors.update(dict.fromkeys(parameters.values()))
    tensors.update(dict.fromkeys(named.values()))
    return [Entry(t, known.get(t), getattr(t, "layer_path", None)) for t in tensors]


# -- the loss ---------------------------------------------------------------------------------------------------------


def _asked(name: str, named: Mapping[str, Tensor], returned: Iterable[Tensor]) -> Tensor:
    if name in named:
        return named[name]
    for t in (*named.values(), *returned):
        if t._name == name:
            return t
    likely = [n for n, t in named.items() if t.node is not None]
    raise unknown("loss", name, [*likely, *(n for n in named if n not in likely)])


def _candidates(named: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The named tensors of which one may be the loss."""
    return {n: t for n, t in named.items() if t.node is not None and t.dtype.is_floating and t.spec.count == 1}


def _chosen(named: Mapping[str, Tensor], left: Loaded, request: Request) -> Tensor:
    one = _candidates(named)
    for name in _USUAL:
        if name in one:
            return one[name]
    usual = [named[n] for n in _USUAL if n in named] or (list(named.values()) if left.function else [])
    if not one and usual:
        return usual[0]  # the engine says what is wrong with it
    distinct = {t: n for n, t in reversed(one.items())}
    places = {t.on_tape() for t in distinct}
    inner: set[Place] = set()
    for node in nodes_behind(distinct):
        inner.update(p for p in node.wrt if p is not None and p in places)
    last = {n: t for t, n in distinct.items() if t.on_tape() not in inner}
    if len(last) == 1:
        return next(iter(last.values()))
    if last:
        raise CommandError(
            f"{left.name} has several candidates for the loss: {', '.join(reversed(last))}", "choose: --loss NAME"
        )
    shaped = [n for n, t in named.items() if t.node is not None]
    hint = "a loss has one element and is computed from a tensor with stop_gradient=False; --loss NAME names it"
    if shaped:
        hint = f"backward starts at a tensor of any shape when it is named: --loss {shaped[-1]}"
    raise CommandError(f"{left.name} defines no loss", hint)
