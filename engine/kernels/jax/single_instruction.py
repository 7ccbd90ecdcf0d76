"""The kernel of one instruction, run by itself or traced as a part of a plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from ...ops.refusals import collect_refusals
from .host_operators import reason
from .pytrees import to_device, to_host


class SeparateKernel:
    """A kernel that takes and gives NumPy's arrays, as whoever watches a run wants them.

    Attributes:
        op: the operator of the program.
        trace_block: the kernel over JAX's arrays, for who traces it.
        reason: why it is not compiled; empty where it is.
    """

    def __init__(self, op: Any, traced: Callable[..., Any], reference: Callable[[], Callable[..., Any]]) -> None:
        self.op = op
        self.trace_block = traced
        self.reason = reason(op)
        self._reference = reference

    @cached_property
    def reference(self) -> Callable[..., Any]:
        """The kernel of the reference backend."""
        return self._reference()

    def __call__(self, *operands: Any) -> Any:
        return self.reference(*map(to_host, operands)) if self.reason else to_host(self.there(*operands))

    def there(self, *operands: Any) -> Any:
        """The same, with results that stay on the device."""
        if self.reason:
            return self.reference(*map(to_host, operands))
        with collect_refusals() as refusals:
            results = self.trace_block(*map(to_device, operands))
        for refusal in refusals:
            if to_host(refusal.wrong).any():
                raise refusal.error(*map(to_host, refusal.values))
        return results
