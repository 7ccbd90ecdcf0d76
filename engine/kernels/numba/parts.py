"""Parts of wider arrays, which are read where they lie, and arrays of parts side by side, which are written there.

A part of what a group computes is computed of parts: nothing is computed that only others would need. Where somebody
outside reads a part, which NumPy gives as a view, the operator that makes it stays NumPy's (``groups.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.identity import identity
from .expressions import inline
from .layout import Layout, NoLayout, full, normal, pattern
from .nodes import GroupValue, Strip, Untraceable


def part_of(node: GroupValue, dims: tuple[int, int, int], begin: int, end: int) -> GroupValue:
    """The elements of *node* from *begin* to *end* of the second of these dimensions.

    Raises:
        Untraceable: it is more than expressions of operands.
    """
    parts: dict[int, GroupValue] = {}
    todo = [(node, False)]
    while todo:
        whole, ready = todo.pop()
        if identity(whole) in parts:
            continue
        if whole.op in ("constant", "leaf") or not whole.layout:
            parts[identity(whole)] = _operand_part(whole, dims, begin, end)
        elif not inline(whole) or whole.op == "hot":
            raise Untraceable("part")
        elif ready:
            args = tuple([parts[identity(a)] for a in whole.args])
            parts[identity(whole)] = GroupValue(
                whole.op, args, whole.dtype, _narrow(_flags(whole, dims), dims, end - begin)
            )
        else:
            todo.append((whole, True))
            todo += [(a, False) for a in whole.args]
    return parts[identity(node)]


def _flags(node: GroupValue, dims: tuple[int, int, int]) -> tuple[bool, ...]:
    """Along which of *dims* it varies."""
    try:
        return pattern(node.layout, dims)
    except NoLayout:
        raise Untraceable("part") from None


def _narrow(flags: tuple[bool, ...], dims: tuple[int, int, int], narrow: int) -> Layout:
    """Of what varies along these of *dims*, of which the second has another size."""
    return normal(zip((dims[0], narrow, dims[2]), flags, strict=True))


def _operand_part(node: GroupValue, dims: tuple[int, int, int], begin: int, end: int) -> GroupValue:
    if node.op == "constant" or not node.layout:
        return node
    (_, width, after), flags = dims, _flags(node, dims)
    layout = _narrow(flags, dims, end - begin)
    if not flags[1]:
        return GroupValue("leaf", (), node.dtype, layout, node.value)
    if (after > 1 and not flags[2] and flags[0] and dims[0] > 1) or (end - begin) * after == 1:
        raise Untraceable("part")
    step = after if flags[2] else 1
    strip = Strip(begin * step, (end - begin) * after, width * step)
    return GroupValue("part", (), node.dtype, layout, node.value, strip)


def join(nodes: Sequence[GroupValue], rows: int, width: int) -> GroupValue:
    """An array in whose rows lie rows of *nodes*, *width* elements of each.

    Raises:
        Untraceable: they are of different types, or single elements.
    """
    if width == 1 or any(n.dtype != nodes[0].dtype for n in nodes):
        raise Untraceable("types")
    strips = [Strip(i * width, width, len(nodes) * width) for i in range(len(nodes))]
    return GroupValue("joined", tuple(nodes), nodes[0].dtype, full(rows * width), strips)


def join_sums(node: GroupValue, sums: Sequence[GroupValue]) -> GroupValue:
    """Of an array of parts the sums over rows, which are those of its parts."""
    return GroupValue("joined", tuple(sums), node.dtype, sums[0].layout, node.value)
