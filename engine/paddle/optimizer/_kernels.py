"""Updates by the kernel of the update operator itself: around small parameters, recording costs several times that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradtool.engine.core import watch
from gradtool.engine.core.source import Location
from gradtool.engine.core.spec import float32, float64
from gradtool.engine.eager.rare_calls import cause, explain_failure
from gradtool.engine.eager.recipe import recipes
from gradtool.engine.eager.tensor import are_writes_watched
from gradtool.engine.kernels import quiet
from gradtool.engine.ops.opdef import OpDef

PLAIN = (float32.numpy, float64.numpy)


def updated(
    op: OpDef, operands: Mapping[str, Any], sources: Mapping[int, str], attrs: Mapping[str, Any], where: Location
) -> bool:
    """Compute *op* and write its results over their sources, unless something about the call is not ordinary.

    Operands that are no plain arrays of one type, that cannot be written, or that somebody watches, are left to the
    operator as it is recorded.

    Args:
        operands: tensors by input slot.
        sources: by output: the input slot whose new value it is.
        where: the user's line.

    Returns:
        Whether it was done.
    """
    if watch.noting or watch.is_watched() or are_writes_watched():
        return False
    tensors = [operands.get(slot.name) for slot in op.inputs]
    arrays = [None if t is None else t.array for t in tensors]
    kind = operands["Param"].array.dtype
    if kind not in PLAIN:
        return False
    for array in arrays:
        if array is not None and (type(array) is not np.ndarray or array.dtype != kind):
            return False
    targets = [(place, operands[slot]) for place, slot in sources.items() if operands.get(slot) is not None]
    for _, target in targets:
        if not target.array.flags.writeable:
            return False
    call = recipes[op].call(attrs)
    token = quiet.hush(quiet.IGNORED)
    try:
        results = call.kernel(*arrays)
    except Exception as error:
        raise explain_failure(call, arrays, error) from cause(error)
    finally:
        quiet.unhush(token)
    if len(op.outputs) == 1:
        results = (results,)
    for place, target in targets:
        np.copyto(target.array, results[place])
        target.version.wrote(op.type, where)
    return True
