"""What the JAX backend does differently: where values stay, and how plans are carried out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy

from ..backend import Backend, Compiled, Kernel
from ..choice import reference
from .compilation import Compilation, Look
from .separate import SeparateKernel


class XlaBackend(Backend):
    """Compiles plans; leaves the tensors of dynamic mode to the reference, whose tape becomes a program."""

    passes = frozenset({"prune"})  # XLA folds and frees by itself

    def __init__(self, name: str, chain: tuple[str, ...]) -> None:
        super().__init__(name, jax.numpy, chain)
        self.eager = reference()

    def separate(self, op: Any, kernel: Kernel, reference: Any) -> Kernel:
        return SeparateKernel(op, kernel, reference)

    def compile(self, plan: Any, look: Look | None = None) -> Compiled:
        """*plan* compiled.

        Args:
            look: what else to compute: called while tracing with every instruction, what it reads and what it gives;
                the compiled plan returns what it made of them.
        """
        return Compilation(plan, look)

    def loaded(self, values: dict[str, Any], names: Iterable[str]) -> None:
        for name in names:
            value = values[name]
            if not isinstance(value, jax.Array):
                values[name] = jax.numpy.array(value)  # a copy: what others hold must not be overwritten by a later run

    def kept(self, value: Any) -> bool:
        return isinstance(value, jax.Array)
