"""Scopes: where persistable variables keep their values between runs."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core import state
from ..core.errors import expect_type


class Values(MutableMapping[str, "np.ndarray[Any, Any]"]):
    """Values by variable name, as NumPy's arrays whatever computed them.

    A backend with a device leaves its own arrays there, which stay until the next run and never leave this mapping:
    what is read is a copy that nobody can write to, since writing to it would be lost.

    Attributes:
        raw: the values as they are, for executors.
    """

    __slots__ = ("raw",)

    def __init__(self) -> None:
        self.raw: dict[str, Any] = {}

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        value = self.raw[name]
        if isinstance(value, (np.ndarray, list)):
            return value  # type: ignore[return-value]  # a list is an array of tensors
        array = np.array(value)
        array.flags.writeable = False
        return array

    def __setitem__(self, name: str, value: np.ndarray[Any, Any]) -> None:
        self.raw[name] = value if isinstance(value, (np.ndarray, list)) else np.array(value)

    def __delitem__(self, name: str) -> None:
        del self.raw[name]

    def __contains__(self, name: object) -> bool:
        return name in self.raw

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def __repr__(self) -> str:
        return f"Values({sorted(self.raw)})"


class DenseTensor:
    """The value of one variable in a scope; converts with ``np.array``."""

    __slots__ = ("_name", "_scope")

    def __init__(self, scope: Scope, name: str) -> None:
        self._scope = scope
        self._name = name

    def set(self, value: Any, place: Any = None) -> None:
        """Replace the value by a copy of *value*; the place is ignored (there is one).

        An array keeps its dtype; a list takes that of the value before.
        """
        before = self._scope.values.raw.get(self._name)
        keep = before is not None and not hasattr(value, "dtype")
        self._scope.values[self._name] = np.array(value, before.dtype if keep and before is not None else None)

    def shape(self) -> list[int]:
        return list(self._value_or_empty().shape)

    def _dtype(self) -> Any:
        return self._value_or_empty().dtype

    def _is_initialized(self) -> bool:
        return self._name in self._scope.values

    def _value_or_empty(self) -> Any:
        value = self._scope.values.raw.get(self._name)
        return np.empty(0, np.float32) if value is None else value

    def _value(self) -> np.ndarray[Any, Any]:
        return self._scope.values[self._name] if self._is_initialized() else self._value_or_empty()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._value(), dtype=dtype, copy=True)

    def __repr__(self) -> str:
        return f"DenseTensor({self._name}, {self._value()!r})"


class ScopeVariable:
    """A variable's handle in a scope."""

    __slots__ = ("_tensor", "name")

    def __init__(self, scope: Scope, name: str) -> None:
        self.name = name
        self._tensor = DenseTensor(scope, name)

    def get_tensor(self) -> DenseTensor:
        return self._tensor


class Scope:
    """Values by variable name."""

    def __init__(self) -> None:
        self.values = Values()

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable's handle, or None when it has no value here."""
        return ScopeVariable(self, name) if name in self.values else None

    def var(self, name: str) -> ScopeVariable:
        """The variable's handle, made when it is not there."""
        return ScopeVariable(self, name)

    def local_var_names(self) -> list[str]:
        """Names of the variables with a value, sorted."""
        return sorted(self.values)

    def drop_kids(self) -> None:
        """Nothing: scopes here have no children between runs."""


_current: state.ScopedSetting[Scope] = state.ScopedSetting("gradtool_scope")
_process_scope = Scope()


def global_scope() -> Scope:
    """The scope that runs use when none is named."""
    return _current.get() or _process_scope


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Use *scope* inside."""
    expect_type(scope, Scope, "scope", "paddle.static.scope_guard")
    with _current.enter(scope):
        yield
