"""State of a layer, as a dict of tensors by path, and back."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtool.engine.core.errors import UsageError
from gradtool.engine.eager.tensor import HookHandle, Tensor


class Stateful:
    """The part of :class:`Layer` that collects and restores its state."""

    if TYPE_CHECKING:  # defined by Layer

        def named_sublayers(self, prefix: str = "", include_self: bool = False) -> Iterator[tuple[str, Any]]: ...

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Any]:
        """Parameters and persistable buffers by path: those of a layer before those of the layers below it.

        Args:
            destination: a dict to put them into, which is returned; a new one when None.
            structured_name_prefix: what every path starts with.
            use_hook: whether the hooks of :meth:`register_state_dict_hook` are called.
            keep_vars: False for tensors outside of the graph, of the same storage.
        """
        return self._state(destination, include_sublayers, structured_name_prefix, use_hook, keep_vars, False)

    def to_static_state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Any]:
        """As :meth:`state_dict`, with the buffers that are not persistable too."""
        return self._state(destination, include_sublayers, structured_name_prefix, use_hook, keep_vars, True)

    def _state(
        self,
        destination: dict[str, Any] | None,
        include_sublayers: bool,
        prefix: str,
        use_hook: bool,
        keep_vars: bool,
        every_buffer: bool,
    ) -> dict[str, Any]:
        entries: dict[str, Any] = OrderedDict() if destination is None else destination
        layers = self.named_sublayers(include_self=True) if include_sublayers else iter([("", self)])
        hooks: list[Callable[[dict[str, Any]], Any]] = []
        for path, layer in layers:
            hooks += layer.__dict__["_state_dict_hooks"].values()
            passing = () if every_buffer else layer.__dict__["_non_persistable_buffer_names_set"]
            for name, value in (*layer.__dict__["_parameters"].items(), *layer.__dict__["_buffers"].items()):
                if value is not None and name not in passing:
                    entry = value if keep_vars or not isinstance(value, Tensor) else value.detach()
                    entries[prefix + (f"{path}.{name}" if path else name)] = entry
        for hook in hooks if use_hook else ():
            changed = hook(entries)
            entries = entries if changed is None else changed
        return entries

    def register_state_dict_hook(self, hook: Callable[[dict[str, Any]], Any]) -> HookHandle:
        """Call ``hook(state)`` with every dict of :meth:`state_dict`; what it returns, unless None, replaces it."""
        return HookHandle(self.__dict__["_state_dict_hooks"], hook)

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Take over the values in *state_dict*.

        Args:
            state_dict: values by path, as :meth:`state_dict` returns them: tensors or arrays.
            use_structured_name: False when they are by the names of the parameters instead.

        Returns:
            The keys that are missing, and those that nothing here has. A value of another shape is left out with a
            warning and counts as both, as in Paddle.
        """
        mine = {p if use_structured_name else v.name: v for p, v in self.state_dict(use_hook=False).items()}
        taken = set()
        for key, target in mine.items():
            if key not in state_dict:
                continue
            value = np.asarray(state_dict[key])
            if value.shape != tuple(target.shape):
                warnings.warn(
                    f"Skip loading for {key}. {key} receives a shape {list(value.shape)}, but the expected shape is "
                    f"{list(target.shape)}.",
                    stacklevel=2,
                )
                continue
            target.set_value(value)
            taken.add(key)
        return [k for k in mine if k not in taken], [k for k in state_dict if k not in taken]

    set_dict = load_dict = set_state_dict

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """:meth:`set_state_dict`, which by default refuses keys that are missing or that nothing here has.

        Args:
            strict: whether to refuse them.
            assign: taken for the sake of existing code; values are copied.

        Raises:
            UnmatchedState: keys that are missing or too many (a RuntimeError).
        """
        missing, unexpected = self.set_state_dict(state_dict)
        parts = [
            f"{what} key(s) in state_dict: {', '.join(map(_quoted, keys))}. "
            for what, keys in (("Missing", missing), ("Unexpected", unexpected))
            if keys
        ]
        if strict and parts:
            listed = "\n\t".join(parts)
            raise UnmatchedState(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return IncompatibleKeys(missing, unexpected)

    def get_extra_state(self) -> Any:
        """A layer has no state beside its parameters and buffers.

        Raises:
            UnmatchedState: always (a RuntimeError).
        """
        raise UnmatchedState(f"{type(self).__name__} defines no get_extra_state(), which should never be called.")


class IncompatibleKeys(NamedTuple):
    """The keys that are missing, and those that nothing has."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class UnmatchedState(UsageError, RuntimeError):
    """A state that is not the layer's (Paddle raises RuntimeError)."""


def _quoted(key: str) -> str:
    return f'"{key}"'
