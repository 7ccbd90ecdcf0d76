"""Parameters of dynamic mode: leaf tensors that training changes."""

from __future__ import annotations

import weakref
from collections.abc import Container
from typing import Any

from ..core import source, state, watch
from ..core.identity import identity
from ..core.source import Location
from ..core.spec import TensorSpec
from ..ir import default
from ..ir.program import Block
from .tensor import Array, Leaf, Tensor

_living: weakref.WeakValueDictionary[int, TensorParameter] = weakref.WeakValueDictionary()


def parameters_at(leaves: Container[Leaf]) -> dict[Leaf, TensorParameter]:
    """The living parameters whose gradients accumulate in *leaves*: a tape itself does not know them all."""
    living = [reference() for reference in _living.valuerefs()]
    return {p._leaf: p for p in living if p is not None and p._leaf is not None and p._leaf in leaves}


def live_parameters() -> list[TensorParameter]:
    """The parameters that there are, in the order in which they were made."""
    return [p for p in (reference() for reference in _living.valuerefs()) if p is not None]


class ParameterRecord:
    """Facts about a parameter that stay known when nobody holds it any more.

    Attributes:
        name: its own.
        spec: shape and dtype that it was made with.
        loc: the user's line that made it.
        trainable: whether it was made to take gradients.
        layer_path: see :class:`TensorParameter`.
    """

    __slots__ = ("_leaf", "_parameter", "layer_path", "loc", "name", "spec", "trainable")

    def __init__(self, parameter: TensorParameter) -> None:
        self.name = parameter.name
        self.spec: TensorSpec = parameter.spec
        self.loc: Location = parameter.loc
        self.trainable = not parameter.stop_gradient
        self.layer_path: str | None = None
        self._parameter = weakref.ref(parameter)
        self._leaf = weakref.ref(parameter.leaf)

    @property
    def parameter(self) -> TensorParameter | None:
        """The parameter, if it is still there."""
        return self._parameter()

    @property
    def leaf(self) -> Leaf | None:
        """Leaf where its gradients accumulate, if a tape still knows it."""
        return self._leaf()


class TensorParameter(Tensor):
    """A persistable leaf that gradients flow into.

    Attributes:
        optimize_attr: ``{"learning_rate": factor}``.
        regularizer, need_clip, do_model_average, is_distributed: settings for optimizers.
        layer_path: the Python path of the parameter in its model (``head.weight``), if a Layer holds it.
        birth: what is known of how it was made.
    """

    settings = ("do_model_average", "is_distributed", "layer_path", "need_clip", "optimize_attr", "regularizer")
    __slots__ = (
        *("birth", "do_model_average", "is_distributed", "need_clip", "optimize_attr", "regularizer"),
        "__dict__",  # whatever the user notes on it
    )

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
        self.register(source.here())
        self.optimize_attr = {"learning_rate": learning_rate}
        self.regularizer = regularizer
        self.need_clip = need_clip
        self.do_model_average = do_model_average
        self.is_distributed = False

    @classmethod
    def from_tensor(cls, tensor: Tensor, **settings: Any) -> TensorParameter:
        """Return a parameter with the values of *tensor*, whose storage it shares.

        Args:
            settings: ``name``, the tensor's own by default, and what a parameter is made with: ``trainable``, …
        """
        name = settings.pop("name", None)
        return cls(tensor.array, tensor.name if name is None else name, **settings)

    def register(self, loc: Location) -> None:
        """Be one of the living parameters from now on, made at *loc*."""
        self.loc = loc
        self.birth = ParameterRecord(self)
        _living[identity(self)] = self
        state.made.note(self.birth)

    @property
    def layer_path(self) -> str | None:
        """The way to it in its model, as the last Layer that took it has it."""
        return self.birth.layer_path

    @layer_path.setter
    def layer_path(self, value: str | None) -> None:
        self.birth.layer_path = value

    @property
    def block(self) -> Block:
        """The block that would hold it in a program: the first of the default main program."""
        return default.default_main_program().global_block()

    @property
    def trainable(self) -> bool:
        """True if gradients flow into it: the negation of ``stop_gradient`` (unlike in static programs)."""
        return not self._stop

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value and watch.noting and watch.note(watch.Cutting("trainable", self)):
            return
        self._stop = not value
