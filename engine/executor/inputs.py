"""Inputs of a plan: fed values, and values of the scope, each checked against its variable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core import source
from ..core.errors import DtypeError, ExecutionError, FeedError, UninitializedError
from ..core.spec import UNKNOWN, Shape, bfloat16
from ..ir.program import Program
from ..ir.variable import ARRAY, Variable
from ..kernels.backend import Backend
from .plan import Plan
from .startups import explain_missing

_PASSED_KEPT = 64
"""Shapes of one fed variable that are remembered."""
_ABSENT: Any = None


class FedTypeError(FeedError, DtypeError):
    """A fed value of another data type than declared."""


class StoredTypeError(ExecutionError, DtypeError):
    """A value in the scope of another data type than its variable (a ValueError in Paddle's operators)."""


class RegisterInputs:
    """Sources that fill the registers of a plan before each of its runs.

    Most runs are fed as the one before, and load what it has stored. So what has passed is remembered by its class and
    shape, and a value like it of the variable's type goes straight into its register.

    Args:
        plan: whose registers they are.
        program: that the plan was made of.
        names: of the fed variables, also of those that the plan does not read.
    """

    def __init__(self, plan: Plan, program: Program, names: Mapping[str, Any], backend: Backend) -> None:
        variables = program.global_block().vars
        fed = [(n, variables[n]) for n in names]
        self._program = program
        self._backend = backend
        self._blank = plan.blank()
        self._few = Few(plan.constants)
        self._feeds = [(n, plan.feeds.get(n), v, v.spec, v.dtype.numpy, set[Any]()) for n, v in fed]
        self._loads = [(n, r, variables[n], variables[n].dtype.numpy) for n, r in plan.loads.items()]
        self._classes: set[Any] = set()
        self._settled: set[Any] = set()

    def registers(self, feed: Mapping[str, Any], values: dict[str, Any], *, few: bool = False) -> list[Any]:
        """The registers as a run finds them.

        Args:
            feed: a value for each of the names.
            values: of the scope, as they are there; those that the plan reads are brought to where it runs.
            few: whether nearly all of them will stay empty; what is returned then behaves as the list does when one of
                them is read or written.

        Raises:
            FeedError: a fed value does not fit its variable.
            UninitializedError: the scope has no value that is read.
            StoredTypeError: it has one of another type.
        """
        regs: Any = Few(self._few) if few else self._blank.copy()
        classes = self._classes
        for name, r, variable, spec, dtype, passed in self._feeds:
            value = feed[name]
            # Types are compared, not looked up: NumPy takes longer to hash one than all the rest takes.
            like_before = value.__class__ in classes and value.dtype == dtype and value.shape in passed
            if not like_before or variable.spec is not spec:
                value = self._fed(variable, value, passed)
            if r is not None:
                regs[r] = value
        live, settled = self._program.live, self._settled
        unsettled = []
        for name, r, variable, dtype in self._loads:
            stored = values.get(name, _ABSENT)
            if stored.__class__ in settled and stored.dtype == dtype and not (live and name in live):
                regs[r] = stored
            else:
                self._expect(variable, values)
                unsettled.append((name, r))
        if unsettled:
            self._settle(unsettled, values, regs)
        return regs  # type: ignore[no-any-return]  # see *few*

    def _fed(self, variable: Variable, value: Any, passed: set[Any]) -> Any:
        """*value* as it is fed; remembered where that is itself."""
        fed = fed_value(variable, value, self._backend.kept)
        if fed is value:
            if len(passed) >= _PASSED_KEPT:
                passed.clear()
            passed.add(value.shape)
            self._classes.add(value.__class__)
        return fed

    def _expect(self, variable: Variable, values: dict[str, Any]) -> None:
        """Have a value of the variable in the scope, of its type."""
        name, live = variable.name, self._program.live
        if name in live:
            values[name] = np.full(variable.shape, live[name](), variable.dtype.numpy)
        elif name not in values:
            reason, advice = explain_missing(variable)
            raise UninitializedError(
                f"'{name}' has not been initialized: {reason}.",
                variable=name,
                made=source.describe(variable.made_at),
                hint=advice,
            )
        else:
            _expect_declared_type(variable, values[name])

    def _settle(self, names: list[tuple[str, int]], values: dict[str, Any], regs: list[Any]) -> None:
        """Bring values to where the plan runs; what need not be brought is remembered by its class."""
        before = [values[name] for name, _ in names]
        self._backend.loaded(values, [name for name, _ in names])
        for value, (name, r) in zip(before, names, strict=True):
            regs[r] = values[name]
            if regs[r] is value and not self._backend.has_places:
                self._settled.add(type(value))


class Few(dict[int, Any]):
    """The registers of a compiled plan: of thousands a handful hold something, so there is no list to be copied."""

    __slots__ = ()

    def __missing__(self, register: int) -> None:
        return None


def _expect_declared_type(v: Variable, value: Any) -> None:
    """Refuse a value of the scope that somebody has set in another type: what is computed from it would be wrong."""
    if value.dtype != v.dtype.numpy:
        raise StoredTypeError(
            f"The data type of '{v.name}' must be '{v.dtype.name}', but its value in the scope is '{value.dtype}'.",
            variable=v.name,
            made=source.describe(v.made_at),
            hint=f"set an array of {v.dtype.name} there",
        )


def fed_value(v: Variable, value: Any, kept: Callable[[Any], bool]) -> Any:
    """*value* as an array of the declared dtype and shape; arrays of the backend's device stay there."""
    wanted = v.dtype.numpy
    if v.kind == ARRAY:
        raise FeedError(f"'{v.name}' is an array of tensors, which cannot be fed.", variable=v.name)
    try:
        if kept(value):
            array = value
        else:
            array = np.asarray(value) if hasattr(value, "__array__") else np.asarray(value, dtype=wanted)
    except (TypeError, ValueError) as error:
        raise FeedError(f"the value fed for '{v.name}' is no {v.spec}: {error}", variable=v.name) from None
    if v.dtype is bfloat16 and array.dtype == np.uint16:
        array = array.view(wanted)  # its bits, as Paddle's arrays of bfloat16 hold them
    if array.dtype != wanted:
        raise FedTypeError(
            f"The data type of fed Variable '{v.name}' must be '{v.dtype.name}', but received '{array.dtype}'.",
            variable=v.name,
            made=source.describe(v.made_at),
            hint=f"feed {v.name}.astype({v.dtype.name!r}), or declare the variable with dtype={str(array.dtype)!r}",
        )
    if v.is_data and not _fits(array.shape, v.shape):
        raise FeedError(
            f"The fed Variable '{v.name}' should have dimensions = {v.ndim}, shape = {v.shape}, "
            f"but received fed shape {list(array.shape)}.",
            variable=v.name,
            made=source.describe(v.made_at),
        )
    return array


def _fits(fed: tuple[int, ...], declared: Shape) -> bool:
    """Return whether Paddle takes a fed shape: the last dimensions may be missing, not all of them."""
    if len(fed) > len(declared) or bool(fed) != bool(declared):
        return False
    return all(d in (UNKNOWN, n) for d, n in zip(declared, fed, strict=False))
