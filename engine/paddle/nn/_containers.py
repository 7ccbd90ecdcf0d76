"""Layers that hold layers: ``Sequential`` and ``LayerList``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gradtool.engine.core.errors import UsageError

from .layer import Layer


class Sequential(Layer):
    """Layers one after the other.

    Args:
        layers: layers, called ``0``, ``1``, …, or pairs of a name and a layer.
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        named = bool(layers) and isinstance(layers[0], (list, tuple))
        for name, layer in layers if named else enumerate(layers):
            self.add_sublayer(str(name), layer)

    def forward(self, input: Any) -> Any:
        for layer in self.children_in_order():
            input = layer(input)
        return input

    def children_in_order(self) -> list[Layer]:
        """The layers, one that stands at several places as often as it does."""
        return list(self.__dict__["_sub_layers"].values())

    def __len__(self) -> int:
        return len(self.__dict__["_sub_layers"])

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.children_in_order())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.__dict__["_sub_layers"][key]
        selection = self.children_in_order()[key]
        return type(self)(*selection) if isinstance(key, slice) else selection

    def __setitem__(self, key: Any, layer: Layer) -> None:
        self.add_sublayer(str(key), layer)

    def insert(self, index: int, module: Layer) -> Sequential:
        """Add a layer before the one at *index*; the layers are numbered anew."""
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        layers = self.children_in_order()
        layers.insert(index, module)
        self.__dict__["_sub_layers"].clear()
        return self.extend(layers)

    def append(self, module: Layer) -> Sequential:
        """Add a layer at the end."""
        self.add_sublayer(str(len(self)), module)
        return self

    def extend(self, sequential: Iterable[Layer]) -> Sequential:
        """Add layers at the end."""
        for layer in list(sequential):
            self.append(layer)
        return self


class LayerList(Layer):
    """Layers in a list; calling them is left to the layer that holds it."""

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(sublayers or ())

    def _all(self) -> list[Layer]:
        return list(self.__dict__["_sub_layers"].values())

    def __len__(self) -> int:
        return len(self.__dict__["_sub_layers"])

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._all())

    def __getitem__(self, key: Any) -> Any:
        selection = self._all()[key]
        return type(self)(selection) if isinstance(key, slice) else selection

    def __setitem__(self, index: int, sublayer: Layer) -> None:
        self._all()[index]  # out of range: IndexError
        self.add_sublayer(str(index % len(self)), sublayer)

    def __delitem__(self, key: Any) -> None:
        left = self._all()
        del left[key]
        self._fill(left)

    def _fill(self, layers: list[Layer]) -> None:
        self.__dict__["_sub_layers"].clear()
        self.extend(layers)

    def append(self, sublayer: Layer) -> LayerList:
        """Add a layer at the end."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> LayerList:
        """Add layers at the end."""
        for layer in list(sublayers):
            self.append(layer)
        return self

    def _get_abs_idx(self, idx: int) -> int:
        """The place *idx*, counted from the first layer."""
        if isinstance(idx, int) and not -len(self) <= idx < len(self):
            raise IndexError(f"index {idx} is out of range, should be an integer in range [{-len(self)}, {len(self)})")
        return idx + len(self) if isinstance(idx, int) and idx < 0 else idx

    def _get_abs_string_index(self, idx: int) -> str:
        return str(self._get_abs_idx(idx))

    def pop(self, key: int | slice) -> Any:
        """Take out the layer at *key*, or those of a slice, and return it; the others are numbered anew."""
        taken = self[key]
        del self[key]
        return taken

    def insert(self, index: int, sublayer: Layer) -> None:
        """Add a layer before the one at *index*."""
        if not -len(self) <= index <= len(self):
            raise IndexRange(f"index should be an integer in range [{-len(self)}, {len(self)}], but is {index}")
        layers = self._all()
        layers.insert(index, sublayer)
        self._fill(layers)


class IndexRange(UsageError, AssertionError):
    """An index outside a list of layers (Paddle raises AssertionError)."""
