"""Sizes of what is fed that a file leaves open: ``batch``, ``past + 1``, or nothing at all.

They stay open where all operators can be read so. Some need them (a recurrent layer is its rounds): then the file is
read again, with the sizes of what is fed, and with such as are usual for those that nobody tells.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...core.command_errors import unknown
from .. import UnknownSizes

_USUAL: Final = (4, 32, 224)
"""What is tried, one after the other: 32 and 224 are sides of images."""
_FEW: Final = 4
"""Of the first axis, along which samples lie."""
_LARGEST: Final = 1 << 24
_OPERATORS: Final[Mapping[type, Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b if b else -1,
}


class OpenSizes:
    """The open sizes of a model.

    Attributes:
        first: by name, whether it is that of a first axis.
    """

    def __init__(self, model: Any) -> None:
        self._axes = list(_open_axes(model))
        self.first: dict[str, bool] = {}
        for _, axis, text, _ in self._axes:
            for name in _names(text):
                self.first[name] = self.first.get(name, False) or axis == 0

    def attempts(self, told: UnknownSizes) -> Iterator[dict[str, int]]:
        """Sizes by name to read the file with, one after the other: the first are those that are told.

        Raises:
            CommandError: one is told that the file does not leave open.
        """
        for name in told.named:
            if name not in self.first:
                raise unknown("open size", name, [*self.first])
        sizes = dict(told.named)
        yield sizes
        fed = {**self._fed(told.fed), **sizes}
        if fed != sizes:
            yield fed
        if len(fed) < len(self.first):
            for usual in _USUAL:
                yield {name: fed.get(name, _FEW if first else usual) for name, first in self.first.items()}

    def _fed(self, shapes: Mapping[str | None, tuple[int, ...]]) -> dict[str, int]:
        """The sizes that shapes of inputs tell."""
        one = next(iter(dict.fromkeys(name for name, *_ in self._axes)), None)
        by_name = {one if name is None else name: shape for name, shape in shapes.items()}
        sizes: dict[str, int] = {}
        for name, axis, text, _ in self._axes:
            shape = by_name.get(name, ())
            if axis < len(shape) and text in self.first:
                sizes.setdefault(text, shape[axis])
        return sizes

    def set(self, sizes: Mapping[str, int]) -> None:
        """Have the model's inputs be of these *sizes*; those that are not told are open again."""
        for _, _, text, dim in self._axes:
            size = _value(text, sizes)
            if size is None or not 0 <= size <= _LARGEST:
                dim.dim_param = text
            else:
                dim.dim_value = size


def _open_axes(model: Any) -> Iterator[tuple[str, int, str, Any]]:
    """Input, axis, what the file says of its size, and the field that does; ``input.axis`` where it says nothing."""
    held = {proto.name for proto in model.graph.initializer}
    for value in model.graph.input:
        if value.name in held or value.type.WhichOneof("value") != "tensor_type":
            continue
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value") or dim.dim_value < 0:
                text = dim.dim_param if isinstance(dim.dim_param, str) else ""
                yield value.name, axis, text or f"{value.name}.{axis}", dim


def _names(text: str) -> list[str]:
    """The names in what a file says of a size: *text* itself where it is no sum or product."""
    tree = _tree(text)
    names = [] if tree is None else [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(names)) or [text]


def _tree(text: str) -> ast.expr | None:
    """*text* as a sum or product; None where it is a name, or nothing that can be computed."""
    if len(text) > 200 or text.isidentifier():
        return None
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    plain = all(
        isinstance(node, (ast.BinOp, ast.Name, ast.Load, *_OPERATORS))
        or (isinstance(node, ast.Constant) and type(node.value) is int)
        for node in ast.walk(tree)
    )
    return tree if plain else None


def _value(text: str, sizes: Mapping[str, int]) -> int | None:
    """The size that *text* says; None where a name in it is not told."""
    tree = _tree(text)
    if tree is None:
        return sizes.get(text)
    if any(name not in sizes for name in _names(text)):
        return None
    return _compute(tree, sizes)


def _compute(tree: Any, sizes: Mapping[str, int]) -> int:
    if isinstance(tree, ast.Name):
        return sizes[tree.id]
    if isinstance(tree, ast.Constant):
        return int(tree.value)  # type: ignore[arg-type]
    compute = _OPERATORS[type(tree.op)]
    return int(compute(_compute(tree.left, sizes), _compute(tree.right, sizes)))
