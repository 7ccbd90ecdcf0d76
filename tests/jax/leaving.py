"""What leaves JAX's device, counted: JAX guards no transfers from a CPU, whose memory NumPy reads as it is."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self
from unittest import mock

import jax
import numpy as np

_ARRAY = type(jax.numpy.zeros(()))


class Leaving:
    """Inside ``with``, notes the arrays of JAX's that become NumPy's, or numbers of Python's.

    Attributes:
        sizes: how many elements each of them has.
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._stack = ExitStack()

    @property
    def largest(self) -> int:
        """Elements of the largest one."""
        return max(self.sizes, default=0)

    def __enter__(self) -> Self:
        def noting(convert: Any) -> Any:
            def noted(value: Any, *rest: Any, **named: Any) -> Any:
                if isinstance(value, jax.Array):
                    self.sizes.append(value.size)
                return convert(value, *rest, **named)

            return noted

        ways = [(_ARRAY, "__array__"), (np, "asarray"), (np, "array"), (np, "ascontiguousarray")]
        for where, name in [*ways, (jax, "device_get")]:
            self._stack.enter_context(mock.patch.object(where, name, noting(getattr(where, name))))
        value = property(noting(_ARRAY._value.fget))  # what float(), bool(), item() and tolist() read
        self._stack.enter_context(mock.patch.object(_ARRAY, "_value", value))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
