"""A backend is an array module plus overrides.

Kernels are written once, against ``k.xp``. A backend may override a kernel where that pays: an override is asked at
bind time with the attributes and the specs and may decline by returning None, in which case the next one in the chain
is asked (``numba -> numpy``), and finally the definition's own kernel serves. ``choice.py`` says which there are.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core import state
from ..core.errors import BackendError
from ..core.rows import RowArray
from ..core.spec import in_use
from ..core.streams import Draws, Position, Stream
from ..core.summary import Asked, Heard
from ..ops import rare_types, types
from ..ops.compat import grad_type
from ..ops.opdef import OpDef, WrittenRule
from ..ops.readings import Ops

Kernel = Callable[..., Any]


class Noted(NamedTuple):
    """Results of an instruction of a plan.

    Attributes:
        number: its index.
        outputs: as they are where they were computed; :meth:`Backend.home` gets them.
        before: where the stream of random numbers was before it, if it may have drawn any.
    """

    number: int
    outputs: tuple[Any, ...]
    before: Position | None


class Compiled(Protocol):
    """Carries out a plan: takes its registers, and leaves in them what somebody reads afterwards."""

    def __call__(self, regs: list[Any]) -> Any: ...

    def summarise(self, regs: list[Any], asked: Asked) -> Iterator[Heard] | None:
        """Carry it out and tell of each operator what was asked; None where the steps have to be told one by one."""

    def run_noting(self, regs: list[Any], most: int | None) -> Iterator[Noted] | None:
        """Carry it out and tell what each instruction gave, which stays where it was computed; None where it cannot.

        Args:
            most: how many bytes are there, beside what was told before and what is still to be read.
        """


Look = Callable[[Any, Sequence[Any], Sequence[Any]], Any]
"""``look(instruction, inputs, outputs)``: what else to compute of them, arrays in any nesting. Called while tracing; of
what is computed between compiled parts, with the values."""

Tuning = Callable[[Iterable[Any]], bool]
"""Is asked before each run of a plan, with what carries it out step by step; says whether it has had it do so."""


class StepDuration(NamedTuple):
    """Time that one step of a plan took.

    Attributes:
        members: the operators that it has computed, in their order.
        seconds: it took.
        apart: seconds that the operators of a group took one by one on the same values; None where there is no group.
        given_up: whether the group is computed one by one for good, since its results differ from NumPy's.
    """

    members: tuple[Any, ...]
    seconds: float
    apart: float | None = None
    given_up: bool = False


Clock = Callable[[StepDuration], None]
"""Is told what steps took."""

Override = Callable[[Mapping[str, Any], Sequence[Any]], Kernel | None]

_overrides: dict[tuple[str, str], Override] = {}


def override(op_type: str, backend: str) -> Callable[[Override], Override]:
    """Offer a better kernel for the operator of that type (``softmax``, ``softmax_grad``) on *backend*.

    The function decorated is called with the attributes and the operands' specs (None when they are not known) and
    returns ``kernel(*operands)`` or None to decline. For a gradient operator, ``attrs["wanted"]`` says which outputs
    are asked for.
    """

    def add(fn: Override) -> Override:
        _overrides[op_type, backend] = fn
        return fn

    return add


def overrides(kernels: Mapping[str, Override], backend: str) -> None:
    """Offer many at once, by type, as :func:`override` does one."""
    _overrides.update({(op_type, backend): kernel for op_type, kernel in kernels.items()})


_primitives: dict[tuple[Callable[..., Any], str], Callable[..., Any]] = {}


def primitive(own: Callable[..., Any], backend: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Offer a better function on *backend* for *own*, which kernels share: with the same arguments and results."""

    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        _primitives[own, backend] = fn
        return fn

    return add


SHORT = 64
"""Bytes of an array that tell its contents by themselves."""

CHOSEN = "it was chosen: --backend, GRADTOOL_BACKEND or a setting"
"""Why a backend is in use that somebody has named."""


class DeviceWarning(UserWarning):
    """A script names a device that is not here: what is meant for it is computed on the CPU."""


class Backend:
    """An array module with everything that kernels need beside it.

    Attributes:
        name: that of its folder.
        xp: the array module. Arrays of NumPy are its business too: values are fed as such, and tensors of dynamic mode
            hold such.
        chain: the backends whose overrides are asked, in order.
        ops: every operator as a function over this backend's arrays.
        passes: the passes over plans that pay on it; None for all of them.
        eager: what tensors of dynamic mode are computed on where this one is chosen; None for itself.
        compiles: whether it compiles plans, and so what dynamic mode has recorded.
        flushes: whether it may make 0 of numbers that are too small for full precision.
        key: what its plans are kept under.
        has_settings: whether it takes a device and a precision.
        has_places: whether a value may be on the device and not where it belongs there.
    """

    passes: frozenset[str] | None = None
    eager: Backend | None = None
    compiles: bool = False
    flushes: bool = False
    has_settings: bool = False
    has_places: bool = False

    def __init__(self, name: str, xp: Any, chain: tuple[str, ...]) -> None:
        self.name = self.key = name
        self.xp = xp
        self.chain = chain
        self.ops = Ops(self)

    def __repr__(self) -> str:
        return f"<backend {self.name}>"

    @property
    def why(self) -> str:
        """Why it is the one in use, if it is."""
        return CHOSEN

    @property
    def remark(self) -> str:
        """Remark on how it computes on this machine; empty for nothing."""
        return ""

    @property
    def fusion_obstacle(self) -> str:
        """Why operators are not computed in groups that are seen; empty where :meth:`time_groups` shows them."""
        if self.compiles:
            return f"backend {self.name!r} compiles programs as wholes; a profile shares what it fuses among operators"
        return f"backend {self.name!r} computes operators one by one"

    def time_groups(self, clock: Clock) -> Backend:
        """This backend, with plans compiled in their first run, whose steps tell *clock* what they take.

        Raises:
            BackendError: there are no groups, for the reason in :attr:`fusion_obstacle`.
        """
        raise BackendError(self.fusion_obstacle)

    def draws(self, seed: int = 0) -> Draws:
        """Random numbers: a fresh stream for a seed other than 0, else the process's own stream."""
        return Stream(seed) if seed else state.random.stream

    def draws_of(self, seed: Any) -> Draws:
        """The same for a seed that was computed: an array of one element."""
        return self.draws(int(seed.reshape(())))

    def until(self, begin: int, end: Any, state: Any, step: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
        """*state* after ``state, done = step(n, state)`` for n from *begin* up to but without *end*, or until *done*.

        Args:
            end: a number, which may have been computed.
            state: an array or a tuple of them; each keeps its shape and type.
        """
        for n in range(begin, int(end)):
            state, done = step(n, state)
            if done:
                break
        return state

    def primitive(self, own: Callable[..., Any]) -> Callable[..., Any]:
        """*own*, a function that kernels share, or what is better here."""
        for name in self.chain:
            if (own, name) in _primitives:
                return _primitives[own, name]
        return own

    def run(self, op: OpDef, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """Compute *op* within the derivation of a gradient operator: by its definition's own kernel."""
        return op.kernel(self, *operands, **{n: attrs[n] for n in op.kernel_attrs})

    # -- what a backend that compiles or has a device does differently -------------------------------------------

    def separate(self, op: Any, kernel: Kernel, reference: Callable[[], Kernel]) -> Kernel:
        """The kernel of an instruction: it takes and gives NumPy's arrays where somebody runs it by itself.

        Args:
            op: the operator of the program.
            kernel: over this backend's arrays.
            reference: makes the kernel that the reference backend has for *op*.
        """
        return kernel

    def block(self, op: Any, runner: Any) -> Kernel:
        """The kernel of an operator with a block, which *runner* runs."""
        return runner.backward if runner.body.readings else runner.forward  # type: ignore[no-any-return]

    def compile(self, plan: Any, look: Look | None = None) -> Compiled | None:
        """*plan* as a whole, over its registers; None where its instructions are carried out one by one.

        Args:
            look: what else to compute: called with every instruction, what it reads and what it gives, each of which is
                computed then as if it stood alone; the compiled plan returns what it made of them.
        """
        return None

    def function(self, own: Callable[..., Any]) -> Callable[..., Any]:
        """*own*, a function of arrays in any nesting that looks into none of them, compiled where plans are."""
        return own

    def tuning(self, plan: Any) -> Tuning | None:
        """Return a tuner that makes *plan* faster while it runs, by :meth:`Plan.carry_out`; None for nobody."""
        return None

    @contextmanager
    def settings(self, device: str | None = None, precision: str | None = None) -> Iterator[None]:
        """Compute on *device* inside, multiplying matrices as exactly as *precision* says.

        Args:
            device: ``cpu``, ``gpu``, ``tpu``, also with a number (``gpu:1``); where it computes by itself if None.
            precision: ``highest``, ``high`` or ``default``.

        Raises:
            BackendError: there is no such device, or the backend takes no such setting.
        """
        if device not in (None, "cpu"):
            raise BackendError(
                f"device {device!r}: backend {self.name!r} computes on the CPU", hint=f"--backend jax --device {device}"
            )
        if precision is not None:
            raise BackendError(
                f"precision {precision!r}: backend {self.name!r} computes in the types of the program",
                hint="leave it out",
            )
        yield

    def sees(self, device: str) -> bool:
        """Return whether it can compute on *device* (``gpu:0``)."""
        return device == "cpu"

    def is_at(self, device: str) -> bool:
        """Return whether it computes on *device* without being told; what its user has said outside of scripts
        counts, too.
        """
        return device == "cpu"

    def falls_back(self, device: str, what: str, stacklevel: int) -> bool:
        """Return whether *device* is not there; says so, once for each line, where *what* names it.

        A script that is written for a GPU is looked at where there is none, too.
        """
        if self.sees(device):
            return False
        warnings.warn(
            f"{what}: backend {self.name!r} sees no such device here; computed on the CPU", DeviceWarning, stacklevel
        )
        return True

    def spread(
        self, mesh: str | Mapping[str, int], shards: Mapping[str, Sequence[str | None]] | None = None
    ) -> Backend:
        """This backend over several devices.

        Args:
            mesh: sizes of its axes by name, or ``data=4,model=2``.
            shards: what lies along which axis, by patterns for names of parameters.

        Raises:
            BackendError: it computes on one device, or there are not as many.
            UsageError: such axes are not known (a ValueError).
        """
        raise BackendError(f"backend {self.name!r} computes on one device", hint="backend='jax' spreads over several")

    def loaded(self, values: dict[str, Any], names: Iterable[str]) -> None:
        """Have the *values* of these names where plans run; they are changed in place."""
        for name in names:
            value = values[name]
            if type(value) is not np.ndarray:
                values[name] = np.array(value)

    def kept(self, value: Any) -> bool:
        """Return whether *value*, a result that is stored, stays as it is until the next run: an array of the
        device's.
        """
        return False

    def home(self, value: Any) -> Any:
        """*value*, which it computed, with NumPy's arrays in it; what is no array as it is."""
        return value

    def measure(self, value: Any) -> Mapping[str, Any] | None:
        """Numbers of an array that lies on the backend's device, of which nothing else leaves it; None for others.

        They are those of :class:`~gradtool.engine.answers.numbers.Numbers`, by the names of its attributes.
        """
        return None

    def contents(self, value: Any) -> bytes:
        """Return a key of an array's elements among arrays of its shape and type, on this backend."""
        array = np.ascontiguousarray(value.dense() if isinstance(value, RowArray) else value)
        if array.nbytes <= SHORT:
            return array.tobytes()
        return hashlib.blake2b(array.view(np.uint8).reshape(-1).data, digest_size=16).digest()

    def scan(
        self,
        step: Callable[[Any, tuple[Any, ...]], tuple[Any, Any]],
        state: Any,
        each: Sequence[Any],
        reverse: bool = False,
    ) -> tuple[Any, Any]:
        """A recursion: ``state, result = step(state, (a[i], b[i], …))`` for every *i* along the first axis.

        Kernels whose steps are as many as a sequence is long are written with it, so that a backend that compiles
        need not write every step out.

        Args:
            state: an array, or a tuple of them; every step gives one of the same shapes and types.
            each: the arrays ``a``, ``b``, ….
            reverse: whether to begin at their ends.

        Returns:
            The last state, and the results stacked in the order of *i* (those of a tuple each by itself).
        """
        count = len(each[0])
        results = [None] * count
        for i in reversed(range(count)) if reverse else range(count):
            state, results[i] = step(state, tuple([v[i] for v in each]))
        if isinstance(results[0], tuple):
            return state, tuple([self.xp.stack(part) for part in zip(*results, strict=True)])
        return state, self.xp.stack(results)

    def bind(
        self,
        op: OpDef,
        attrs: Mapping[str, Any],
        wanted: Sequence[Sequence[bool]] | None = None,
        specs: Sequence[Any] = (),
        outs: Sequence[Any] | None = None,
    ) -> Kernel:
        """A function of the operands alone: the best kernel there is, with its attributes fixed.

        One kernel serves all operators of a plan that have the same attributes and specs, so it keeps nothing of a
        call for the next one.

        Args:
            wanted: for a gradient operator, which of its outputs to compute.
            specs: what is known about the operands.
            outs: the specs of the outputs, if they are known.
        """
        declared = rare_types.each([*specs, *(outs or ())]) if in_use else ()
        if not any(s.dtype.is_rare for s in declared) and (not specs or types.plain(op, specs, outs or ())):
            return self._bind(op, attrs, wanted, specs)
        if op.forward is not None and any(s.dtype.is_complex for s in declared):
            kernel = self.general(op, attrs, wanted)
        else:
            kernel = self._bind(op, attrs, wanted, specs)
        return rare_types.careful(op, specs, attrs, outs, kernel)

    def general(self, op: OpDef, attrs: Mapping[str, Any], wanted: Sequence[Sequence[bool]] | None) -> Kernel:
        """The kernel of a gradient operator as its definition says."""
        return partial(op.kernel, self, wanted=wanted, **{n: attrs[n] for n in op.kernel_attrs})

    def _bind(
        self, op: OpDef, attrs: Mapping[str, Any], wanted: Sequence[Sequence[bool]] | None, specs: Sequence[Any]
    ) -> Kernel:
        if op.forward is not None:
            bound = self.bind_gradient(op.forward, attrs, wanted, specs)
            return bound if bound is not None else self.general(op, attrs, wanted)
        kernel = self._offer(op.type, attrs, specs)
        return kernel if kernel is not None else partial(op.kernel, self, **{n: attrs[n] for n in op.kernel_attrs})

    def bind_gradient(
        self,
        op: OpDef,
        attrs: Mapping[str, Any],
        wanted: Sequence[Sequence[bool]] | None,
        specs: Sequence[Any] = (),
    ) -> Kernel | None:
        """The gradient kernel of *op* as a function of what its rule reads; None where a slot holds a list.

        It returns the gradient, or a sequence of them where the rule gives several, with None for those not wanted.
        """
        kernel = self._offer(grad_type(op.type), {**attrs, "wanted": wanted}, specs)
        if kernel is None and isinstance(op.rule, WrittenRule):
            kernel = op.rule.bind(self.ops, wanted, attrs)
        return kernel

    def _offer(self, op_type: str, attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
        for name in self.chain:
            offer = _overrides.get((op_type, name))
            if offer is not None:
                kernel = offer(attrs, specs)
                if kernel is not None:
                    return kernel
        return None
