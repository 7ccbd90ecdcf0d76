"""The tensors of a model of dynamic mode, and what people call them: nobody is forgotten.

Names come from whoever holds a tensor (:mod:`..holders`). What nobody holds, or no name leads to, is called after the
line that made it (:mod:`..births`): parameters that a function dropped, data that only the tape still has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

import numpy as np

from gradtool.paddle.nn import Layer

from ...core import source
from ...core.records import dataclass
from ...core.source import Location
from ...core.state import made
from ...core.watch import pause_watchers
from ...eager.journal import Journal
from ...eager.parameter import ParameterRecord, TensorParameter, parameters_at
from ...eager.recorded_calls import inputs_of, leaf_tensors
from ...eager.tape import GradNode
from ...eager.tensor import Leaf, Tensor
from ...eager.tensor_copies import original
from ...script import paths
from ...script.attributes import is_a
from ...script.births import free, local_of, path_of
from ...script.calls import PassCall
from ...script.holders import ways
from ...script.script_state import Loaded
from .model import TapeEntry, stand_in

Line = tuple[str, int] | None
"""File and line, where they are known."""


@dataclass
class TensorNames:
    """Names of tensors for people.

    Attributes:
        by_path: every name that leads to a tensor.
        paths: by tensor, the best of these.
        plain: the tensors that are bound to a name of the module, and those that have a name in a running function.
    """

    by_path: dict[str, Tensor] = field(default_factory=dict)
    paths: dict[Tensor, str] = field(default_factory=dict)
    plain: dict[str, Tensor] = field(default_factory=dict)

    def names_of(self, t: Tensor) -> list[str]:
        """Every name of a tensor that is bound to it, the best first."""
        names = [n for n, other in self.plain.items() if other is t]
        return list(dict.fromkeys([*([self.paths[t]] if t in self.paths else []), *names]))

    def add(self, path: str, t: Tensor) -> None:
        """Let *path*, or that with a number where it means another tensor, be the name of *t*."""
        path = free(path, self.by_path) if self.by_path.get(path, t) is not t else path
        self.by_path[path] = t
        self.paths.setdefault(t, path)


def names_in(left: Loaded) -> TensorNames:
    """The names that lead to tensors: of the module, of functions that were running when backward began, of modules."""
    meant = left.calls.target_pass()
    values = _bindings_at_backward(left, meant)
    named = TensorNames()
    named.plain = {n: v.carrier for n, v in values.items() if is_a(v, Tensor) and not n.startswith("__")}
    named.by_path = dict(named.plain)
    for function, path, t in ways(left, values, meant):
        if not isinstance(t, Tensor):
            continue
        if function and path in named.by_path:
            path = f"{function}.{path}"
        named.add(path, t)
        if function and path.isidentifier():
            named.plain.setdefault(path, t)
    return named


def _bindings_at_backward(left: Loaded, meant: PassCall | None) -> dict[str, object]:
    """Return the values of the module's names when the backward pass that is meant began, and layers that were
    returned.

    A name of the module may be bound anew after backward; it stands for what it is bound to where that goes on. Of a
    file that was cut, what is bound after the last pass belongs to a step that did not come to its end.
    """
    cut = left.calls.stopped is not None
    values: dict[str, object] = dict(left.namespace)
    for scope in meant.names if meant is not None else ():
        if not scope.function:
            chosen = left.calls.which is not None or cut
            values = {n: v for n, v in values.items() if not cut or n in scope.values or not is_a(v, Tensor)}
            values |= {n: v for n, v in scope.values.items() if chosen or not _goes_on(left.namespace.get(n), meant)}
    for layer in left.result if is_a(left.result, (tuple, list)) else [left.result]:
        if is_a(layer, Layer) and not any(v is layer for v in values.values()):
            name = type(layer).__name__.lower()
            values[name if name not in values else f"{name}_{len(values)}"] = layer
    return values


def _goes_on(value: object, call: PassCall | None) -> bool:
    """Return whether a name stands for something that was recorded after a backward pass."""
    return call is not None and is_a(value, Tensor) and is_later(value, call.loss)


def is_later(t: Tensor, than: Tensor) -> bool:
    """Return whether *t* was recorded after *than*."""
    return t.node is not None and (than.node is None or t.node.key < than.node.key)  # keys fall with time


# -- all tensors ------------------------------------------------------------------------------------------------------


def entries(
    left: Loaded, named: TensorNames, nodes: Iterable[GradNode] = (), leaves: Sequence[Leaf] = ()
) -> list[TapeEntry]:
    """The leaves behind a loss in the order of their use, then parameters, then other tensors that have a name."""
    by_leaf = {t._leaf: t for t in named.paths if t.node is None and t._leaf is not None}
    held: dict[Leaf, Tensor] = {**leaf_tensors(nodes), **parameters_at(set(leaves)), **by_leaf}
    births = list(left.births)
    dropped = _name_unreached(births, held, set(leaves), named)
    behind = [held[leaf] if leaf in held else stand_in(leaf) for leaf in leaves]
    _call_the_rest(behind, named, left.journal)
    parameters = [t for t in named.paths if getattr(t, "is_parameter", False)]
    tensors = dict.fromkeys([*behind, *parameters, *named.paths])
    values = _values(left)
    shares = left.calls.shares.by_leaf.items()
    used = {*leaves, *(leaf for leaf, share in shares if left.calls.is_recent(share.passes[-1][0]))}
    buffers = _list_buffers(values.values())
    kept = [t for t in tensors if not _is_stale(t, left.journal, used)]
    return [_entry(t, named, values, dropped.get(t, 0), t in buffers) for t in kept]


def _list_buffers(values: Iterable[object]) -> set[Tensor]:
    """Return the buffers of the layers among these values."""
    return {t for layer in values if is_a(layer, Layer) for t in layer.buffers()}


def _entry(t: Tensor, named: TensorNames, values: Mapping[str, object], dropped: int, is_buffer: bool) -> TapeEntry:
    names = named.names_of(t)
    python = names[0] if names else None
    path, container = getattr(t, "layer_path", None), paths.container(python or "", values)
    return TapeEntry(t, python, path, container, tuple(names[1:]), dropped, is_buffer)


def _name_unreached(
    births: Sequence[ParameterRecord], held: dict[Leaf, Tensor], behind: Collection[Leaf], named: TensorNames
) -> dict[Tensor, int]:
    """Call the parameters that no name leads to after their lines; how many were dropped, by one that stands for them.

    Of those that one line made one after the other, and that are gone, the last stands for all.
    """
    gone: dict[tuple[Location, str | None], ParameterRecord] = {}
    times: Counter[tuple[Location, str | None]] = Counter()
    for birth in births:
        t: Tensor | None = birth.parameter
        if t is None and birth.leaf is not None and birth.leaf in behind:
            t = held[birth.leaf] = _again(birth)
        if t is None:
            line = birth.loc, birth.layer_path
            gone[line] = birth
            times[line] += 1
        elif t not in named.paths:
            named.add(_path(birth), t)
    dropped: dict[Tensor, int] = {}
    for line, birth in gone.items():
        t = _again(birth)
        named.add(_path(birth), t)
        dropped[t] = times[line]
    return dropped


def _path(birth: ParameterRecord) -> str:
    return path_of(birth.loc, birth.layer_path) or birth.name


def _again(birth: ParameterRecord) -> TensorParameter:
    """A parameter of any values that stands for one that is gone."""
    spec = birth.spec
    values = np.broadcast_to(np.zeros((), spec.dtype.numpy), spec.shape)
    with pause_watchers(), made.watch(lambda birth: None):
        t = TensorParameter(values, birth.name, trainable=birth.trainable)
    t.birth, t.loc = birth, birth.loc
    if birth.leaf is not None:
        t._leaf = birth.leaf
    return t


def _call_the_rest(
    tensors: Iterable[Tensor],
    named: TensorNames,
    journal: Journal | None,
    readers: Mapping[Tensor, Collection[Line]] = MappingProxyType({}),
) -> None:
    """Call tensors that no name leads to after the lines that made them.

    Args:
        readers: the lines that read them. What the line that made it reads is not what that line gives a name to.
    """
    nameless = [t for t in tensors if t not in named.paths]
    places = {} if journal is None else journal.made_at(journal.number(t) for t in nameless)
    for t in nameless:
        loc = t.loc or (places.get(journal.number(t), ()) if journal is not None else ())
        local = local_of(loc) if t in readers else ""
        path = local if local and local not in named.by_path else path_of(loc, getattr(t, "layer_path", None))
        if path and source.file_and_line(loc) not in readers.get(t, ()) and not _is_of_result(path, loc, named):
            named.add(path, t)


def _is_of_result(path: str, loc: Location, named: TensorNames) -> bool:
    """Return whether the name is that of what the line computed in the end, ``loss`` in ``loss =
    net(paddle.randn([2]))``.
    """
    result = named.by_path.get(path)
    if result is None or result.node is None:
        return False
    return source.file_and_line(result.node.loc) == source.file_and_line(loc)


def constants(nodes: Iterable[GradNode], named: TensorNames, journal: Journal | None) -> dict[Tensor, str]:
    """The tensors that the calls behind a loss read and that take no gradient, with their names."""
    readers: dict[Tensor, set[Line]] = {}
    for node in nodes:
        for read in inputs_of(node):
            if read.constant is not None:
                readers.setdefault(original(read.constant), set()).add(source.file_and_line(node.loc))
    _call_the_rest(list(readers), named, journal, readers)
    return {t: named.paths[t] for t in readers if t in named.paths}


def _is_stale(t: Tensor, journal: Journal | None, leaves: Collection[Leaf]) -> bool:
    """Return whether a leaf is what a weight was once: it got a gradient, and nothing is computed from it any more.

    Or it belongs to a step of a file that was cut before that step came to its end.

    ``w = w - rate * w.grad`` gives the name to another tensor; lists and loops may still hold the one before.
    """
    if journal is None or t.node is not None:
        return False
    if journal.is_beyond_the_end(t):
        return True
    if getattr(t, "is_parameter", False) or t._leaf is None:
        return False
    return t._leaf not in leaves and journal.is_left_behind(journal.number(t))


def _values(left: Loaded) -> dict[str, object]:
    """Return the values of names of the module, and of the functions that were running when backward began."""
    values = dict(left.namespace)
    meant = left.calls.target_pass()
    for scope in meant.names if meant is not None else ():
        values |= {name: value for name, value in scope.values.items() if name not in values}
    return values
