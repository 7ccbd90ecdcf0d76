"""Contents of a layer by path: ``encoder.layers.0.weight``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ir import default
from gradtool.paddle.utils import unique_name

from ._layer_errors import MissingAttribute


class Reachable:
    """The part of :class:`Layer` that follows paths."""

    if TYPE_CHECKING:  # defined by Layer

        def named_sublayers(
            self, prefix: str = "", include_self: bool = False, layers_set: Any = None, remove_duplicate: bool = True
        ) -> Iterator[tuple[str, Any]]: ...
        def add_sublayer(self, name: str, sublayer: Any) -> Any: ...
        def add_parameter(self, name: str, parameter: Any) -> Any: ...
        def full_name(self) -> str: ...

    def _get_name(self) -> str:
        return type(self).__name__

    @property
    def _modules(self) -> Any:
        return self.__dict__["_sub_layers"]

    def modules(self) -> Iterator[Any]:
        """This layer, and every layer below it."""
        return (layer for _, layer in self.named_modules())

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This layer, and every layer below it, with their paths.

        Args:
            memo: layers that are left out; those that come are added.
        """
        return self.named_sublayers(prefix, True, memo, remove_duplicate)

    def add_module(self, name: str, module: Any) -> None:
        """:meth:`add_sublayer`, without an answer."""
        self.add_sublayer(name, module)

    register_module = add_module

    def register_parameter(self, name: str, param: Any) -> None:
        """:meth:`add_parameter`, without an answer."""
        self.add_parameter(name, param)

    def get_sublayer(self, target: str) -> Any:
        """The layer at the end of a path; this one for an empty path.

        Raises:
            MissingAttribute: a name on the way is no layer (an AttributeError).
        """
        from .layer import Layer

        layer: Any = self
        for name in target.split(".") if target else ():
            layer = _member(layer, name)
            if not isinstance(layer, Layer):
                raise MissingAttribute(f"`{name}` is not an nn.Layer")
        return layer

    def set_sublayer(self, target: str, layer: Any, strict: bool = False) -> None:
        """Put *layer* at the end of a path.

        Args:
            strict: only where there is one already.

        Raises:
            UsageError: an empty path, or no layer (a ValueError).
            MissingAttribute: a name on the way, or what is replaced, is no layer (an AttributeError).
        """
        from .layer import Layer

        if not target:
            raise UsageError("Cannot set the sublayer without a target name!")
        if not isinstance(layer, Layer):
            raise UsageError(f"`module` is not an nn.Layer, found {type(layer)}")
        path, _, name = target.rpartition(".")
        parent = self.get_sublayer(path)
        replaces = strict or hasattr(parent, name)
        if replaces and not isinstance(_member(parent, name), Layer):
            raise MissingAttribute(f"`{name}` is not an nn.Layer")
        setattr(parent, name, layer)

    get_submodule, set_submodule = get_sublayer, set_sublayer

    def get_parameter(self, target: str) -> Any:
        """The parameter at the end of a path.

        Raises:
            MissingAttribute: there is none (an AttributeError).
        """
        path, _, name = target.rpartition(".")
        value = _member(self.get_sublayer(path), name)
        if not isinstance(value, AnyTensor):
            raise MissingAttribute(f"`{name}` is not an nn.Parameter")
        return value

    def get_buffer(self, target: str) -> Any:
        """The buffer at the end of a path.

        Raises:
            MissingAttribute: there is none (an AttributeError).
        """
        path, _, name = target.rpartition(".")
        layer = self.get_sublayer(path)
        value = _member(layer, name)
        if name not in layer.__dict__["_buffers"]:
            raise MissingAttribute(f"`{name}` is not a buffer")
        return value

    def create_tensor(self, name: str | None = None, persistable: bool | None = None, dtype: Any = None) -> Any:
        """A variable of a program, or a tensor without elements, named after the layer."""
        layer = self.full_name()
        full = unique_name.generate(f"{layer}._generated_var") if name is None else f"{layer}.{name}"
        kind = self.__dict__["_dtype"] if dtype is None else dtype
        if state.in_static_mode():
            block = default.default_main_program().current_block()
            return block.create_var(name=full, persistable=bool(persistable), dtype=kind)
        tensor = paddle.empty([0], kind)
        tensor.name, tensor.persistable = full, bool(persistable)
        return tensor

    create_variable = create_tensor


def _member(layer: Any, name: str) -> Any:
    if not hasattr(layer, name):
        raise MissingAttribute(f"{type(layer).__name__} has no attribute `{name}`")
    return getattr(layer, name)
