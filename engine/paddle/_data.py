"""``static.data``: variables that are fed."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import source, state
from gradtool.engine.core.errors import expect_type
from gradtool.engine.core.spec import UNKNOWN, TensorSpec
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import Variable, declare_again

from . import _variable_methods  # noqa: F401  (gives Variable its operators)


def data(name: str, shape: Any, dtype: Any = None, lod_level: int = 0) -> Variable:
    """Declare a variable whose value is fed to ``Executor.run``.

    Args:
        name: what it is fed under.
        shape: a list; None or -1 for a dimension that may differ between runs.
        dtype: the default dtype (float32) when None.

    Raises:
        NameClash: it was declared before with another shape or dtype (a ValueError).
        ArgumentTypeError: name or shape of a wrong type (a TypeError).
        DtypeError: an unknown dtype (a TypeError).
    """
    state.require_static("data")
    expect_type(name, str, "name", "paddle.static.data")
    expect_type(shape, (list, tuple), "shape", "paddle.static.data")
    dims = tuple(UNKNOWN if d is None else int(d) for d in shape)
    spec = TensorSpec(dims, dtype if dtype is not None else state.default_dtype())
    block = default.default_main_program().global_block()
    before = block.vars.get(name)
    if before is not None:
        return declare_again(before, spec, stop_gradient=True, persistable=False, is_data=True)
    return block.add_var(Variable(block, name, spec, stop_gradient=True, is_data=True, loc=source.here()))
