"""``LayerDict``, layers under names; ``ParameterDict`` and ``ParameterList``, parameters under names and in a list."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from .layer import PARAMETERS, Layer


class LayerDict(Layer):
    """Layers under names; calling them is left to the layer that holds it.

    Args:
        sublayers: a mapping from names to layers, or pairs of a name and a layer.
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        self.update(sublayers or {})

    def _held(self) -> dict[str, Any]:
        held: dict[str, Any] = self.__dict__["_sub_layers"]
        return held

    def __getitem__(self, key: str) -> Layer:
        layer: Layer = self._held()[key]
        return layer

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        del self._held()[key]

    def __len__(self) -> int:
        return len(self._held())

    def __iter__(self) -> Iterator[str]:
        return iter(self._held())

    def __contains__(self, key: object) -> bool:
        return key in self._held()

    def clear(self) -> None:
        """Let go of all layers."""
        self._held().clear()

    def pop(self, key: str) -> Layer:
        """Let go of the layer under *key* and return it."""
        layer: Layer = self._held().pop(key)
        return layer

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._held().keys()

    def values(self) -> ValuesView[Layer]:
        """The layers."""
        return self._held().values()

    def items(self) -> ItemsView[str, Layer]:
        """Names with their layers."""
        return self._held().items()

    def update(self, sublayers: Any) -> None:
        """Hold the layers of a mapping, or of pairs of a name and a layer; one under a name that is taken replaces it.

        Raises:
            ArgumentTypeError: *sublayers* is something else (a TypeError).
        """
        if isinstance(sublayers, (Mapping, LayerDict)):
            pairs = list(sublayers.items())
        elif isinstance(sublayers, Iterable):
            pairs = [tuple(pair) for pair in sublayers]
        else:
            raise ArgumentTypeError(
                f"LayerDict takes a mapping or pairs of a name and a layer, but received {type(sublayers).__name__}."
            )
        for pair in pairs:
            if len(pair) != 2:
                raise ArgumentTypeError(f"LayerDict takes pairs of a name and a layer, but received {pair!r}.")
            self.add_sublayer(*pair)


class ParameterList(Layer):
    """Parameters in a list, called ``0``, ``1``, …"""

    def __init__(self, parameters: Iterable[Any] | None = None) -> None:
        super().__init__()
        for parameter in parameters or ():
            self.append(parameter)

    def __len__(self) -> int:
        return len(self.__dict__["_parameters"])

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.__dict__["_parameters"].values()))

    def __getitem__(self, index: int) -> Any:
        return list(self.__dict__["_parameters"].values())[index]

    def __setitem__(self, index: int, parameter: Any) -> None:
        self[index]  # out of range: IndexError
        setattr(self, str(index % len(self)), parameter)

    def append(self, parameter: Any) -> ParameterList:
        """Add a parameter at the end."""
        self.add_parameter(str(len(self)), parameter)
        return self


class ParameterDict(Layer):
    """Parameters under names of their own.

    Args:
        parameters: a mapping, or pairs of a name and a parameter.

    Raises:
        NoParameter: something else, or no parameter (a TypeError).
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return self.__dict__["_parameters"][key]

    def __setitem__(self, key: str, param: Any) -> None:
        if not isinstance(param, PARAMETERS):
            raise NoParameter(f"ParameterDict takes parameters, but received {type(param).__name__} for {key!r}.")
        setattr(self, key, param)

    def __len__(self) -> int:
        return len(self.__dict__["_parameters"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__["_parameters"])

    def update(self, parameters: Any) -> None:
        """Hold the parameters of a mapping, or of pairs of a name and a parameter."""
        if isinstance(parameters, ParameterDict):
            pairs: list[Any] = [(name, parameters[name]) for name in parameters]
        elif isinstance(parameters, Mapping):
            pairs = list(parameters.items())
        elif isinstance(parameters, Iterable):
            pairs = [tuple(pair) for pair in parameters]
        else:
            raise NoParameter(
                "The type of parameters is not iterable of key/value pairs, the type of parameters is "
                f"{type(parameters).__name__}"
            )
        for i, pair in enumerate(pairs):
            if len(pair) != 2:
                raise UsageError(f"The length of the {i}'s element in parameters is {len(pair)}, which must be 2.")
            self.add_parameter(*pair)


class NoParameter(ArgumentTypeError, AssertionError):
    """Something else where a parameter is expected (Paddle raises AssertionError)."""
