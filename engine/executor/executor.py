"""``Executor``: runs programs."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..core import state, watch
from ..core.errors import ExecutionError, expect_type
from ..ir import default
from ..ir.program import Program
from ..kernels.choice import backend as backend_called
from ..kernels.choice import current
from . import passes
from .inputs import RegisterInputs, fed_value
from .live import Peak, peak
from .lower import lower
from .outputs import fetch_names, fetch_values, handles, store
from .plan import Plan, Step
from .scope import Scope, global_scope
from .startups import note_run

if TYPE_CHECKING:
    from .compiled import CompiledProgram

_HERE = "Executor.run"
_PLANS_KEPT = 16


class Executor:
    """Runs programs on one place.

    Args:
        place: a ``CUDAPlace`` is where a backend computes that sees it; elsewhere, the CPU does, with a warning. The
            CPU computes for a ``CPUPlace``, also where there is a GPU. None is where ``set_device`` says.
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
        device: str | None = state.device() if place is None else getattr(place, "device", None)
        if device is not None and self.backend.falls_back(device, f"Executor({place or device})", 3):
            device = None
        self._device = None if device is None or self.backend.is_at(device) else device
        if mesh is not None:
            self.backend = self.backend.spread(mesh, shards)
        self.plan: Plan | None = None
        self._closed = False
        chosen = passes.ALL if self.backend.passes is None else self.backend.passes
        self._passes = chosen, chosen - {"fold"}

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
            plan, regs, values = self._prepare(program, feed, fetch_list, scope, few=True)
            try:
                if self._device is None and not program.random_seed:
                    plan.run(regs)
                else:
                    with self._seed(program):
                        plan.run(regs)
            except BaseException:
                _put_back(plan, regs, values)
                raise
            fetched = self._finish(plan, regs, values, stays=not return_numpy)
        finally:
            state.ended.note()
        return fetched if return_numpy else handles(fetched)

    def steps(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Any = None,
        scope: Scope | None = None,
    ) -> Generator[Step, None, list[Any]]:
        """Run as :meth:`run` does, yielding one :class:`Step` per operator; the generator returns the fetches."""
        plan, regs, values = self._prepare(program, feed, fetch_list, scope)
        with self._seed(program):
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
        with self._seed(program):
            most = peak(plan, regs)
        self._finish(plan, regs, values)
        return most

    @contextmanager
    def hold(
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
        with self._seed(program):
            yield plan, regs

    # -- parts ----------------------------------------------------------------------------------------------------

    def _prepare(
        self,
        program: Program | None,
        feed: Any,
        fetch_list: Any,
        scope: Scope | None,
        chosen: frozenset[str] | None = None,
        *,
        few: bool = False,
    ) -> tuple[Plan, list[Any], dict[str, Any]]:
        if self._closed:
            raise ExecutionError("Attempted to use a closed Executor")
        program = plain(program) or default.default_main_program()
        expect_type(program, Program, "program", _HERE)
        state.runs.note(program, feed)
        if isinstance(feed, (list, tuple)) and len(feed) == 1:
            feed = feed[0]
        expect_type(feed, (dict, Mapping, type(None)), "feed", _HERE)
        feed = _feed_of_program(program, feed or {})
        plan = self.plan = self._plan(program, feed, fetch_names(fetch_list), chosen)
        values = (scope or global_scope()).values.raw
        return plan, plan.inputs.registers(feed, values, few=few and plan.compiled is not None), values

    @contextmanager
    def _seed(self, program: Program | None) -> Iterator[None]:
        """Draw random numbers from the program's own stream if it has a seed; compute on the place's device."""
        if self._device is not None:
            with self.backend.settings(self._device), self._draw_from(program):
                yield
        else:
            with self._draw_from(program):
                yield

    @contextmanager
    def _draw_from(self, program: Program | None) -> Iterator[None]:
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
        self, program: Program, feed: Mapping[str, Any], names: Sequence[str], chosen: frozenset[str] | None
    ) -> Plan:
        """The plan for what is fed and fetched, from the program or made anew."""
        if chosen is None:  # a watcher wants to see constants computed, too
            chosen = self._passes[watch.program_watcher() is not None]
        key = (program.version, self.backend.key, frozenset(feed), tuple(names), chosen)
        plan: Plan | None = program.plans.get(key)
        if plan is not None:
            return plan
        variables, kept = program.global_block().vars, self.backend.kept
        fed = {n: fed_value(variables[n], v, kept) for n, v in feed.items()}
        for old in [k for k in program.plans if k[0] != program.version]:
            del program.plans[old]
        while len(program.plans) >= _PLANS_KEPT:
            del program.plans[next(iter(program.plans))]
        note_run(program)
        plan = lower(program, fed, names, self.backend, chosen)
        plan.inputs = RegisterInputs(plan, program, fed, self.backend)
        program.plans[key] = plan
        return plan

    def _finish(self, plan: Plan, regs: list[Any], values: dict[str, Any], *, stays: bool = False) -> list[Any]:
        fetched = fetch_values(plan, regs, self.backend.kept if stays else None)
        store(plan, regs, values, self.backend)
        return fetched


def _feed_of_program(program: Program, feed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the entries of *feed* that are variables of *program*; other names are nobody's."""
    variables = program.global_block().vars
    return feed if feed.keys() <= variables.keys() else {n: v for n, v in feed.items() if n in variables}


def plain(program: Any) -> Any:
    """*program* itself, or the one that it was compiled from."""
    return getattr(program, "_program", program)


def _put_back(plan: Plan, regs: Sequence[Any], values: dict[str, Any]) -> None:
    """After a failure, have persistable variables hold their values, also where a device has written over them."""
    for name, r in plan.loads.items():
        if regs[r] is not None:
            values[name] = regs[r]
