"""``fluid.DataFeeder``: rows of examples to what ``Executor.run`` is fed with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, ShapeError
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import Variable


class DataFeeder:
    """Turns a batch of examples, a tuple of columns each, into arrays by the names of variables.

    Args:
        feed_list: variables or their names, one for each column.
        place: accepted for compatibility.
        program: where names are looked up; the default program when None.

    >>> from gradtool import paddle, gradtool.paddle.fluid as fluid
    >>> paddle.enable_static()
    >>> x, y = fluid.data("x", [None, 2]), fluid.data("y", [None, 1], "int64")
    >>> fluid.DataFeeder([x, y]).feed([([1.0, 2.0], 3), ([4.0, 5.0], 6)])["y"].tolist()
    [[3], [6]]
    """

    def __init__(self, feed_list: Sequence[Variable | str], place: Any = None, program: Any = None) -> None:
        block = (program or default.default_main_program()).global_block()
        self._variables = [block.var(v) if isinstance(v, str) else v for v in feed_list]
        for v in self._variables:
            if not isinstance(v, Variable):
                raise ArgumentTypeError(f"Feed list should contain a list of variable, not {type(v).__name__}")

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, np.ndarray]:
        """The columns of a batch, each of its variable's type and shape.

        Raises:
            ShapeError: an example has another number of columns, or values that do not fit (a ValueError).
        """
        rows = list(iterable)
        for row in rows:
            if len(row) != len(self._variables):
                raise ShapeError(
                    f"The number of fields in data ({len(row)}) does not match len(feed_list) ({len(self._variables)})"
                )
        columns = zip(*rows, strict=True) if rows else ([] for _ in self._variables)
        return {v.name: self._array(v, list(c)) for v, c in zip(self._variables, columns, strict=True)}

    @staticmethod
    def _array(variable: Variable, column: list[Any]) -> np.ndarray:
        shape = variable.shape[1:]
        examples = [np.array(example, variable.dtype.numpy) for example in column]
        if any(d < 0 for d in shape):
            return np.array(examples, variable.dtype.numpy)
        for example in examples:
            if example.size != np.prod(shape, dtype=int):
                raise ShapeError(f"{variable.name} expects examples of shape {list(shape)}, got {list(example.shape)}")
        return np.array([e.reshape(shape) for e in examples], variable.dtype.numpy)
