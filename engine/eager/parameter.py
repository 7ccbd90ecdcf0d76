"""Parameters of dynamic mode: leaf tensors that training changes."""

from __future__ import annotations

import weakref
from collections.abc import Container
from typing import Any

from ..core import source, watch
from ..ir import default
from ..ir.program import Block
from .tensor import Array, Leaf, Tensor

_living: weakref.WeakValueDictionary[int, TensorParameter] = weakref.WeakValueDictionary()


def parameters_at(leaves: Container[Leaf]) -> dict[Leaf, TensorParameter]:
    """The living parameters whose gradients accumulate in *leaves*: a tape itself does not know them all."""
    living = [reference() for reference in _living.valuerefs()]
    return {p._leaf: p for p in living if p is not None and p._leaf is not None and p._leaf in leaves}


def living() -> list[TensorParameter]:
    """The parameters that there are, in the order in which they were made."""
    return [p for p in (reference() for reference in _living.valuerefs()) if p is not None]


class TensorParameter(Tensor):
    """A persistable leaf that gradients flow into.

    Attributes:
        optimize_attr: ``{"learning_rate": factor}``.
        regularizer, need_clip, do_model_average, is_distributed: settings for optimizers.
        layer_path: the Python path of the parameter in its model (``head.weight``), if a Layer holds it.
    """

    settings = ("do_model_average", "is_distributed", "layer_path", "need_clip", "optimize_attr", "regularizer")
    __slots__ = (*settings, "__dict__")  # and whatever the user notes on it

    is_parameter = True

    def __init__(
        self,
        array: Array,
        name: str,
        *,
        trainable: bool = True,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        need_clip: bool = True,
        do_model_average: bool = True,
    ) -> None:
        super().__init__(array, stop_gradient=not trainable, name=name, persistable=True)
        self.loc = source.here()
        self.optimize_attr = {"learning_rate": learning_rate}
        self.regularizer = regularizer
        self.need_clip = need_clip
        self.do_model_average = do_model_average
        self.is_distributed = False
        self.layer_path: str | None = None
        _living[id(self)] = self

    @property
    def block(self) -> Block:
        """The block that would hold it in a program: the first of the default main program."""
        return default.default_main_program().global_block()

    @property
    def trainable(self) -> bool:
        """Whether gradients flow into it: the negation of ``stop_gradient`` (unlike in static programs)."""
        return not self._stop

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value and watch.noting and watch.note(watch.Cutting("trainable", self)):
            return
        self._stop = not value
