"""Memory of arrays, by which tensors that share it are known to, and that operators retain."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.identity import identity
from ...eager.parameter import TensorParameter
from ...eager.tape import GradNode
from ...eager.tensor import Tensor
from ...executor.live import root
from ...ops.readings import flatten


def address(array: Any) -> int:
    """Return where the memory of an array begins; the identity of what is no array of NumPy's.

    A tensor of another framework has an array of its own on the memory that it shares.
    """
    return int(array.__array_interface__["data"][0]) if isinstance(array, np.ndarray) else identity(array)


def find_retained(node: GradNode) -> list[Any] | None:
    """Return the buffers that a node retains, without those of parameters; None where that is not known."""
    if node.freed is not None:
        return []
    kept, rule = node.args, node.op.rule
    if kept is None or getattr(node, "ctx", None) is not None:
        return None
    values = kept if rule is None else [v for v, read in zip(kept, rule.reads, strict=False) if not read.like]
    flat = flatten(values, range(len(values)))
    return [_root_of(v) for v in flat if v is not None and not isinstance(v, TensorParameter)]


def _root_of(value: Any) -> Any:
    return root(value.array if isinstance(value, Tensor) else value)
