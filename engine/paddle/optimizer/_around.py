"""Optimizers around others: what they do not define themselves is that of the optimizer inside."""

from __future__ import annotations

from typing import Any


class OptimizerAround:
    """An optimizer around another one; whatever it does not define (``get_lr``, ``state_dict``, …) is the other's.

    Args:
        optimizer: the one inside.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def __getattr__(self, name: str) -> Any:
        if name == "_optimizer":  # not made yet: a copy that is being built
            raise AttributeError(name)
        return getattr(self._optimizer, name)
