"""``Executor``: runs programs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import source, state, watch
from ..core.errors import ArgumentTypeError, DtypeError, ExecutionError, FeedError, UninitializedError, expect_type
from ..core.rows import RowUpdate
from ..core.spec import UNKNOWN, Shape, bfloat16
from ..core.tensor_array import TensorArray
from ..ir import default
from ..ir.program import Program
from ..ir.variable import ARRAY, Variable
from ..kernels.backend import Backend
from ..kernels.choice import backend as backend_called
from ..kernels.choice import current
from . import passes
from .live import Peak, peak
from .lower import lower
from .plan import Plan, Step
from .scope import Scope, global_scope

if TYPE_CHECKING:
    from .compiled import CompiledProgram

_HERE = "Executor.run"
_PLANS_KEPT = 16


class FedTypeError(FeedError, DtypeError):
    """A fed value of another data type than declared."""


class StoredTypeError(ExecutionError, DtypeError):
    """A value in the scope of another data type than its variable (a ValueError in Paddle's operators)."""


class FetchTypeError(ArgumentTypeError):
    """An entry of ``fetch_list`` that is neither a Variable nor a name."""


class FetchedTensor:
    """A fetched value when ``return_numpy=False``; converts with ``np.array``.

    Attributes:
        value: an array, of NumPy's or of the backend's: what a device has computed stays there until it is converted.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def shape(self) -> list[int]:
        return list(self.value.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.value, dtype=dtype, copy=True)


class Executor:
    """Runs programs on one place.

    Args:
        place: a ``CUDAPlace`` is where a backend computes that sees it; elsewhere, the CPU does, with a warning. Any
            other place says nothing.
        backend: the name of what its programs are computed on; what is in use now if None.
        mesh: the devices to spread them over, ``"data=4,model=2"`` or sizes by name of axis; one device if None.
        shards: for patterns of parameters' names, the axis of the mesh (or None) for each dimension.

    Attributes:
        plan: what its last run carried out; None before the first.

    Raises:
        BackendError: there is no such backend, what it needs is not installed, or there are too few devices.
        UsageError: the mesh has other axes (a ValueError).

    Plans are cached in the program under what is fed and fetched, and made anew when the program changes.
    """

    def __init__(
        self,
        place: Any = None,
        *,
        backend: str | None = None,
        mesh: str | Mapping[str, int] | None = None,
        shards: Mapping[str, Sequence[str | None]] | None = None,
    ) -> None:
        self.place = place
        self.backend = current() if backend is None else backend_called(backend)
        self._device: str | None = getattr(place, "device", None)
        if self._device is not None and self.backend.falls_back(self._device, f"Executor({place})", 3):
            self._device = None
        if mesh is not None:
            self.backend = self.backend.spread(mesh, shards)
        self.plan: Plan | None = None
        self._closed = False

    def close(self) -> None:
        """Refuse further runs."""
        self._closed = True

    def run(
        self,
        program: Program | CompiledProgram | None = None,
        feed: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        use_prune: bool = False,
    ) -> list[Any]:
        """Run block 0 of *program* and return what *fetch_list* asks for.

        Operators that neither lead to a fetched variable nor change a persistable one are not run.

        Args:
            program: the default main program when None; a compiled one stands for the program that it was made of.
            feed: values by variable name: NumPy arrays, or nested lists, which get the declared dtype. Their last
                dimensions may be missing, as in Paddle; every operator then goes by what comes. What an operator
                computes may be fed, too, and keeps the fed value. A persistable variable has the fed value for one run,
                and stays what it was in the scope unless operators write it. Names that are no variables are ignored.
            fetch_list: variables or names, also nested or as ``(parameter, gradient)`` pairs.
            scope: where persistable variables live; the global scope when None.
            return_numpy: arrays instead of tensor handles, whose values stay on the device until they are converted.

        Returns:
            One array per fetched variable, in order; 0-d for scalars. They are the caller's own. None for a variable
            that only a branch computes that was not taken.

        Raises:
            FeedError: a needed value is missing or has another shape or dtype than declared (a ValueError).
            FetchError: a fetched name is no variable (a RuntimeError).
            UninitializedError: a parameter has no value yet: the startup program was not run (a RuntimeError).
            KernelError: an operator failed (a ValueError and a RuntimeError).
        """
        program = plain(program) or default.default_main_program()
        state.started.note(program)
        try:
            plan, regs, values = self._prepare(program, feed, fetch_list, scope)
            with self._seeded(program), _kept_on_failure(plan, regs, values):
                plan.run(regs)
            fetched = self._finish(plan, regs, values, stays=not return_numpy)
        finally:
            state.ended.note()
        return fetched if return_numpy else [_handle(a) for a in fetched]

    def steps(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Any = None,
        scope: Scope | None = None,
    ) -> Generator[Step, None, list[Any]]:
        """Run as :meth:`run` does, yielding one :class:`Step` per operator; the generator returns the fetches."""
        plan, regs, values = self._prepare(program, feed, fetch_list, scope)
        with self._seeded(program):
            yield from plan.steps(regs)
        return self._finish(plan, regs, values)

    def peak(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Any = None,
        scope: Scope | None = None,
    ) -> Peak:
        """Run as :meth:`run` does, counting the bytes that are alive; see :class:`Peak`."""
        plan, regs, values = self._prepare(program, feed, fetch_list, scope)
        with self._seeded(program):
            most = peak(plan, regs)
        self._finish(plan, regs, values)
        return most

    @contextmanager
    def held(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Any = None,
        scope: Scope | None = None,
    ) -> Iterator[tuple[Plan, list[Any]]]:
        """A plan in which every value keeps its register, and the registers as they are before the first operator.

        For those who run the plan's instructions themselves inside the ``with`` block, in any order and more than once.
        No persistable variable changes.
        """
        plan, regs, _ = self._prepare(program, feed, fetch_list, scope, frozenset({"prune"}))
        with self._seeded(program):
            yield plan, regs

    # -- parts ----------------------------------------------------------------------------------------------------

    def _prepare(
        self,
        program: Program | None,
        feed: Any,
        fetch_list: Any,
        scope: Scope | None,
        chosen: frozenset[str] | None = None,
    ) -> tuple[Plan, list[Any], dict[str, np.ndarray[Any, Any]]]:
        if self._closed:
            raise ExecutionError("Attempted to use a closed Executor")
        program = plain(program) or default.default_main_program()
        expect_type(program, Program, "program", _HERE)
        state.runs.note(program, feed)
        fed = self._feeds(program, feed)
        names = _fetch_names(fetch_list)
        values = (scope or global_scope()).values.raw
        plan = self.plan = self._plan(program, fed, names, chosen)
        for name in plan.loads:
            if name in program.live:
                v = program.global_block().vars[name]
                values[name] = np.full(v.shape, program.live[name](), v.dtype.numpy)
            elif name not in values:
                variable = program.global_block().vars[name]
                raise UninitializedError(
                    f"'{name}' has not been initialized: it has no value in the scope.",
                    variable=name,
                    made=source.describe(variable.made_at),
                    hint="run the startup program first: exe.run(paddle.static.default_startup_program())",
                )
            else:
                _expect_declared_type(program.global_block().vars[name], values[name])
        self.backend.loaded(values, plan.loads)
        return plan, plan.registers(fed, values), values

    @contextmanager
    def _seeded(self, program: Program | None) -> Iterator[None]:
        """Draw random numbers from the program's own stream if it has a seed; compute on the place's device."""
        if self._device is not None:
            with self.backend.settings(self._device), self._drawing(program):
                yield
        else:
            with self._drawing(program):
                yield

    @contextmanager
    def _drawing(self, program: Program | None) -> Iterator[None]:
        seed = (plain(program) or default.default_main_program()).random_seed
        if not seed:
            yield
            return
        process, state.random = state.random, state.RandomState(seed)
        try:
            yield
        finally:
            state.random = process

    def _plan(
        self, program: Program, fed: Mapping[str, Any], names: Sequence[str], chosen: frozenset[str] | None
    ) -> Plan:
        if chosen is None:  # a watcher wants to see constants computed, too
            chosen = passes.ALL if watch.watcher() is None else passes.ALL - {"fold"}
            if self.backend.passes is not None:
                chosen &= self.backend.passes
        key = (program.version, self.backend.name, frozenset(fed), tuple(names), chosen)
        plan: Plan | None = program.plans.get(key)
        if plan is None:
            for old in [k for k in program.plans if k[0] != program.version]:
                del program.plans[old]
            while len(program.plans) >= _PLANS_KEPT:
                del program.plans[next(iter(program.plans))]
            plan = program.plans[key] = lower(program, fed, names, self.backend, chosen)
        return plan

    def _finish(
        self, plan: Plan, regs: list[Any], values: dict[str, np.ndarray[Any, Any]], *, stays: bool = False
    ) -> list[Any]:
        fetched = _fetched(plan, regs, self.backend.kept if stays else None)
        _store(plan, regs, values, self.backend)
        return fetched

    def _feeds(self, program: Program, feed: Any) -> dict[str, np.ndarray[Any, Any]]:
        if isinstance(feed, (list, tuple)) and len(feed) == 1:
            feed = feed[0]
        expect_type(feed, (dict, Mapping, type(None)), "feed", _HERE)
        variables = program.global_block().vars
        kept = self.backend.kept
        return {n: _fed_value(variables[n], v, kept) for n, v in (feed or {}).items() if n in variables}


def _handle(value: Any) -> Any:
    """A fetched value as a handle; a list of them for an array of tensors."""
    return [_handle(v) for v in value] if isinstance(value, list) else FetchedTensor(value)


def plain(program: Any) -> Any:
    """*program* itself, or the one that it was compiled from."""
    return getattr(program, "_program", program)


@contextmanager
def _kept_on_failure(plan: Plan, regs: Sequence[Any], values: dict[str, Any]) -> Iterator[None]:
    """Inside, a failure leaves persistable variables with their values, also where a device has written over them."""
    try:
        yield
    except BaseException:
        for name, r in plan.loads.items():
            if regs[r] is not None:
                values[name] = regs[r]
        raise


def _fetched(plan: Plan, regs: Sequence[Any], kept: Callable[[Any], bool] | None = None) -> list[Any]:
    """What was asked for, as arrays that are the caller's own.

    Args:
        kept: which arrays may stay on the device as they are, since nothing is ever written to them.
    """
    shared = {id(regs[r]) for r in (*plan.feeds.values(), *plan.loads.values(), *plan.stores.values())}
    shared.update(map(id, plan.constants.values()))
    fetched: list[Any] = []
    for r in plan.fetches:
        if kept is not None and kept(regs[r]):
            fetched.append(regs[r])
        else:
            fetched.append(None if regs[r] is None else _owned(regs[r], shared))
        shared.add(id(regs[r]))
    return fetched


def _store(plan: Plan, regs: Sequence[Any], values: dict[str, Any], backend: Backend) -> None:
    """Write persistable variables back.

    A value that stays must not change when the caller reuses the array that was fed, nor with another variable.
    """
    taken = {id(regs[r]) for r in (*plan.feeds.values(), *plan.loads.values())}
    updates = []
    for name, r in plan.stores.items():
        if isinstance(regs[r], RowUpdate):
            updates.append((name, regs[r]))
            continue
        values[name] = regs[r] if backend.kept(regs[r]) else _owned(regs[r], taken)
        taken.add(id(regs[r]))
    for name, update in updates:
        if update.base is values.get(name):
            update.apply_to(values[name])  # in place: nothing that reads the table before is left
        else:
            values[name] = update.dense()


def _owned(value: Any, others: Collection[int]) -> Any:
    """*value* as an array that shares its storage with nothing, least of all with what *others* identify.

    Of an array of tensors, the list of them.
    """
    if isinstance(value, TensorArray):
        return [None if v is None else np.array(v) for v in value.listed()]
    array = np.asarray(value)
    return array.copy() if id(value) in others or array.base is not None else array


def _expect_declared_type(v: Variable, value: Any) -> None:
    """Refuse a value of the scope that somebody has set in another type: what is computed from it would be wrong."""
    if value.dtype != v.dtype.numpy:
        raise StoredTypeError(
            f"The data type of '{v.name}' must be '{v.dtype.name}', but its value in the scope is '{value.dtype}'.",
            variable=v.name,
            made=source.describe(v.made_at),
            hint=f"set an array of {v.dtype.name} there",
        )


def _fed_value(v: Variable, value: Any, kept: Callable[[Any], bool]) -> Any:
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
    """Whether Paddle takes a fed shape: the last dimensions may be missing, not all of them."""
    if len(fed) > len(declared) or bool(fed) != bool(declared):
        return False
    return all(d in (UNKNOWN, n) for d, n in zip(declared, fed, strict=False))


def _fetch_names(fetch_list: Any) -> list[str]:
    """The names asked for, nested lists and pairs laid out in order."""
    listed: list[str] = []
    todo = [fetch_list] if fetch_list is not None else []
    while todo:
        entry = todo.pop(0)
        if isinstance(entry, Variable):
            listed.append(entry.name)
        elif isinstance(entry, str):
            listed.append(entry)
        elif isinstance(entry, (list, tuple)):
            todo[:0] = entry
        else:
            raise FetchTypeError(f"fetch_list holds Variables and names, but received {type(entry).__name__}.")
    return listed
