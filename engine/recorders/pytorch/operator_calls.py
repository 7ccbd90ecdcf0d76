"""Calls of PyTorch's operators on other values.

PyTorch computes them where it is installed; elsewhere the rows do that read archives of ``torch.export``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...core import state, watch
from ...core.errors import GradtoolError, UnsupportedError
from ...eager.mode import no_grad
from ...eager.rare_calls import tensor_of
from ..recorded.matching import Again, Entry, Made

_DRAWING = ("bernoulli", "dropout", "multinomial", "normal", "rand", "uniform", "exponential", "rrelu", "poisson")
"""What is in the names of operators that draw: other numbers than were drawn are another run."""


_DOUBLE = {"float32": "float64"}
"""What results are that were recorded in single precision, where operands are in double: differences are."""

_ALSO = {"unsafe_split": "split", "unsafe_split_with_sizes": "split_with_sizes", "unsafe_chunk": "chunk"}
"""Operators that differ from those of archives by what may be done with the results alone."""


def again(
    name: str,
    overload: str,
    inputs: Sequence[Entry],
    plain: Sequence[str],
    made: Made,
    outputs: int,
) -> Again | None:
    """Return a function that computes a call of the operator *name* again; None where nothing does.

    Args:
        overload: its whole name, as ``aten::add.Tensor``.
        inputs: of each tensor that it reads the argument, and the place there if that is a list.
        plain: the names of its other arguments.
        made: the shape and the type of each result.
        outputs: how many results are wanted: those that there are not are None.
    """
    if any(part in name for part in _DRAWING):
        return None
    by_torch = load_by_torch() if overload else None
    if by_torch is not None:
        return by_torch.again(overload, inputs, plain, made, outputs)  # type: ignore[no-any-return]
    return _repeat_by_rows(name, inputs, made, outputs)


@cache
def load_by_torch() -> Any:
    """Return the module that computes with PyTorch; None where that is not installed."""
    try:
        from . import torch_operator_calls
    except ImportError:
        return None
    return torch_operator_calls


def _repeat_by_rows(name: str, inputs: Sequence[Entry], made: Made, outputs: int) -> Again | None:
    """Return a function that computes the call where PyTorch is not installed."""
    from ...importers.pt2.operators import rows

    kind = f"aten.{_ALSO.get(name, name)}"
    row = rows.lookup(kind, "")
    if row is None:
        return None

    def compute(operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        from ...importers.pt2.errors import Missing, Unsound
        from ...importers.pt2.node import Meta, Pt2Node
        from ...importers.pt2.values import HeldTensor

        if name.endswith("batch_norm") and not attrs.get("training", False):
            raise UnsupportedError(
                f"{name} cannot run again: PyTorch writes its running statistics without an operator that reports it.",
                op=name,
            )
        arguments: dict[str, Any] = {n: list(v) if isinstance(v, tuple) else v for n, v in attrs.items()}
        for (argument, place), array in zip(inputs, operands, strict=True):
            held = HeldTensor(tensor_of(np.asarray(array)))
            if place is None:
                arguments[argument] = held
                continue
            entries = arguments.setdefault(argument, [])
            entries += [None] * (place + 1 - len(entries))
            entries[place] = held
        scope: Any = None
        double = attrs.get("dtype") is None and any(np.asarray(array).dtype == np.float64 for array in operands)
        results_of = [Meta(shape, _DOUBLE.get(dtype, dtype) if double else dtype) for shape, dtype in made]
        node = Pt2Node(scope, kind, arguments, [], results_of, scope)
        try:
            with state.dynamic_mode(), watch.pause_watchers(), no_grad():
                results = row(node)
        # The last two: a row that asks for what a file alone says.
        except (Missing, Unsound, GradtoolError, AttributeError, TypeError) as error:
            why = error.message if isinstance(error, GradtoolError) else str(error)
            raise UnsupportedError(f"{name} cannot run again on other values: {why}", op=name) from error
        values = list(results) if isinstance(results, (tuple, list)) else [results]
        arrays = [getattr(v, "array", None) for v in values]
        return arrays[0] if outputs == 1 else [*arrays, *[None] * outputs][:outputs]

    return compute
