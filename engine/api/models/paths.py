"""What people call tensors: the way to them from a name, through layers, lists, dicts and objects of their own.

``net.fc1.weight``, ``blocks[2].weight``, ``params['b1']``, ``nets['enc'][0].bias``, ``trainer.model.head.bias``.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gradtool.engine.eager.tensor import Tensor
from gradtool.nn import Layer

_DEEPEST = 8
"""Steps from a name to a tensor."""

_MOST = 100_000
"""Objects that are looked into."""

_CONTAINERS = (Tensor, Layer, list, tuple, dict)


def tensors_in(values: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    """Path and tensor of every tensor that can be reached from *values*, each once, in the order of the names.

    Of several layers that hold one parameter the outermost gives the path, as it is the one that people mean.
    """
    seen: set[int] = set()
    layers = [(n, v) for n, v in values.items() if isinstance(v, Layer)]
    layers.sort(key=lambda entry: -sum(1 for _ in entry[1].sublayers()))
    others = [(n, v) for n, v in values.items() if not isinstance(v, Layer) and not n.startswith("__")]
    todo = [(path, value, 0) for path, value in reversed([*layers, *others])]
    while todo and len(seen) < _MOST:
        path, value, depth = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Tensor):
            yield path, value
        elif depth < _DEEPEST:
            todo += [(p, v, depth + 1) for p, v in reversed(list(_within(path, value)))]


def container(path: str, values: Mapping[str, Any]) -> str:
    """The plain list, tuple or dict of a Layer through which *path* leads, such as ``net.blocks``; empty if none does.

    Args:
        values: what *path* starts from, by name.
    """
    steps = path.partition("[")[0].split(".")
    if "[" not in path or steps[0] not in values:
        return ""
    owner = values[steps[0]]
    for step in steps[1:-1]:
        owner = getattr(owner, step, None)
    held = getattr(owner, steps[-1], None)
    return ".".join(steps) if isinstance(owner, Layer) and isinstance(held, (list, tuple, dict)) else ""


def _within(path: str, value: Any) -> Iterable[tuple[str, Any]]:
    """What *value* holds, with the path to it."""
    if isinstance(value, Layer):
        return _of_layer(path, value)
    if isinstance(value, (list, tuple)):
        return [(f"{path}[{i}]", v) for i, v in enumerate(value) if _may_hold(v)]
    if isinstance(value, dict):
        return [(f"{path}[{key!r}]", v) for key, v in value.items() if isinstance(key, (str, int)) and _may_hold(v)]
    return [(f"{path}.{name}", v) for name, v in _attributes(value).items() if _may_hold(v)]


def _of_layer(path: str, layer: Layer) -> Iterator[tuple[str, Any]]:
    """Parameters and layers of a layer, then what it holds without knowing: plain lists, tensors, dicts."""
    for name, parameter in layer.named_parameters(include_sublayers=False):
        yield f"{path}.{name}", parameter
    for name, inner in layer.named_children():
        yield f"{path}.{name}", inner
    for name, value in vars(layer).items():
        if not name.startswith("_") and isinstance(value, _CONTAINERS):
            yield f"{path}.{name}", value


def _may_hold(value: Any) -> bool:
    return isinstance(value, _CONTAINERS) or bool(_attributes(value))


def _attributes(value: Any) -> Mapping[str, Any]:
    """The attributes of an object whose class is the user's own; of all others none."""
    kind = type(value)
    if kind.__module__.partition(".")[0] in _FOREIGN or isinstance(value, type) or not hasattr(value, "__dict__"):
        return {}
    import sys

    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is None or file.startswith(_INSTALLED):
        return {}
    return {n: v for n, v in vars(value).items() if not n.startswith("__")}


_FOREIGN = frozenset({"builtins", "gradtool"})
_INSTALLED = tuple({sysconfig.get_paths()[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")})
