"""Functions that record and differentiate calls of one operator, written out for that operator.

What happens is the same for every operator: arrays out of the tensors, the kernel, tensors for the results, a node with
what the gradient rule reads; and on the way back the retained arrays and the gradients that arrived into the bound
gradient kernel. On small tensors the loops over slots and reads that say so cost several times the arithmetic: as a
closure over functions that read one slot each, ``pull`` alone takes 0.8 to 1.1 µs in place of 0.14. So the loops are
run once for an operator, when it is first used, and leave the two functions as source text with one line per slot (as
``dataclasses`` does for ``__init__``), which tracebacks show. Calls under ``saved_tensors_hooks`` and passes that are
recorded themselves do take the loops (``rare_calls.py``, ``backward.py``).

``record_text.py`` and ``pull_text.py`` write the texts, ``slots.py`` has the names and expressions in them. What else
the texts name is here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import generated_code
from ..core.source import users
from ..core.spec import float32, float64
from ..kernels import quiet
from .mode import grad_enabled
from .operand_types import fit_kernel
from .pull_text import pull_text
from .rare_calls import GHOST_FROM, cause, explain_failure, ghost, record_by_loops, settle_result, slim, versions_of
from .record_text import record_text
from .saved import packed, packing
from .slots import Slots
from .tape import FORM_BELOW, GradNode, keys, note_site
from .tensor import IDLE, Tensor

if TYPE_CHECKING:
    from .recipe import Recipe

_SAME_FOR_ALL: dict[str, Any] = {
    "FORM_BELOW": FORM_BELOW,
    "F32": float32.numpy,
    "F64": float64.numpy,
    "GHOST_FROM": GHOST_FROM,
    "GradNode": GradNode,
    "IDLE": IDLE,
    "IGNORED": quiet.IGNORED,
    "Tensor": Tensor,
    "__name__": __name__,
    "cause": cause,
    "explained": explain_failure,
    "fitted": fit_kernel,
    "frame_at": sys._getframe,
    "ghost": ghost,
    "grad_enabled": grad_enabled,
    "hush": quiet.hush,
    "ndarray": np.ndarray,
    "new": object.__new__,
    "keys": keys,
    "note_site": note_site,
    "packed": packed,
    "packing": packing.get,
    "record_by_loops": record_by_loops,
    "settled": settle_result,
    "slim": slim,
    "unhush": quiet.unhush,
    "users": users,
    "versions_of": versions_of,
    "zeros": np.zeros,
}


def compile_record(recipe: Recipe, only: int | None = None) -> Callable[..., Any]:
    """``record(call, x0, x1, …)`` for an operator.

    Args:
        only: give this output alone; others become tensors only where the gradient rule reads their values.
    """
    op = recipe.op
    title = f"record {op.type}" if only is None else f"record {op.type}, {op.outputs[only].name} alone"
    names = {
        **_SAME_FOR_ALL,
        "lists": recipe.lists,
        "record_all": None if only is None else recipe.written,
        "shares": recipe.shares,
    }
    return generated_code.compile_function("record", title, record_text(Slots(recipe, only)), names)


def compile_pull(recipe: Recipe) -> Callable[..., Any] | None:
    """``pull(node, gradients, wrt)`` for an operator; None where it gives gradients for a list and something else."""
    lines = pull_text(Slots(recipe))
    if lines is None:
        return None
    names = {**_SAME_FOR_ALL, "ops": recipe.backend.ops, "rule": recipe.op.rule}
    return generated_code.compile_function("pull", f"gradient of {recipe.op.type}", lines, names)
