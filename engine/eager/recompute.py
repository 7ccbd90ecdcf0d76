"""Recomputation in dynamic mode: a call whose values are let go of, and computed again where backward needs them.

The call is recorded as any other, but in place of each value its nodes retain a number. When backward asks for the
first of them, the function runs a second time and leaves the values in the same order; each is handed out and let go.
The graph is that of the first run, so gradients, hooks and derivatives of any order are those of a plain call.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core import source, state, watch
from ..core.errors import ArgumentTypeError, GradientError, ModeError
from ..core.identity import identity
from ..kernels import choice
from . import mode
from .mode import enable_grad, is_grad_enabled, unrecorded
from .saved import PackedValue, packing, saved_tensors_hooks, unpack
from .tape import InplaceError, is_keeping, version_message
from .tensor import Tensor, Version, writes


class RecomputeError(GradientError, RuntimeError):
    """A function that did not compute the same when it ran again (also a RuntimeError)."""

    code = "GT-E210"


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call ``function(*args, **kwargs)`` without keeping what its operators retain for backward.

    Backward runs the function again to get those values: memory for the time of one more forward pass. Gradients are
    the same to the bit. Random numbers are drawn again from the same place of the stream; tensors that the function
    writes, such as the running statistics of a normalisation, are as they were before while it runs again, and are
    left as they are.

    Args:
        function: a Layer or any other function of tensors. It must compute the same when it is called again.
        args, kwargs: its arguments; they are kept until backward is done.
        preserve_rng_state: False draws new random numbers in the second run, which is right only where none are drawn.
        use_reentrant: with True, the default, nothing inside is recorded where no tensor among the arguments needs a
            gradient: the parameters that the function uses get none either, as in Paddle. Tensors count that are
            arguments themselves or stand in a list or tuple. False records the call in any case.

    Returns:
        What the function returns.

    Raises:
        ArgumentTypeError: *function* cannot be called (a TypeError).
        ModeError: static mode is on (an AssertionError and a ValueError).
        RecomputeError: at backward, if the second run retains other values than the first (a RuntimeError).
        InplaceError: at backward, if a tensor that the second run needs was written in between (a RuntimeError).

    Calls may be nested.

    >>> from gradtool import paddle
    >>> from gradtool.paddle.autograd import recompute
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> recompute(lambda t: (t * t).exp(), x).sum().backward()
    >>> [round(g, 2) for g in x.grad.tolist()]
    [5.44, 218.39]
    """
    preserve = bool(kwargs.pop("preserve_rng_state", True))
    reentrant = bool(kwargs.pop("use_reentrant", True))
    if not callable(function):
        raise ArgumentTypeError(f"recompute: {function!r} is not a callable object.")
    if state.in_static_mode():
        raise ModeError(
            "recompute calls functions of dynamic mode, and static mode is on.",
            hint="static programs recompute with append_backward(loss, checkpoints=[...])",
        )
    if not is_grad_enabled():
        return function(*args, **kwargs)
    tensors = list(_tensors([*args, *kwargs.values()]))
    if reentrant and all(t.stop_gradient for t in tensors) and not _is_spared():
        with unrecorded("recompute", "recompute", tensors):
            return function(*args, **kwargs)
    return _Call(function, args, kwargs, preserve).first(args, kwargs)


def _is_spared() -> bool:
    """Return whether a watcher wants gradients to flow at this line all the same."""
    return bool(watch.noting and watch.note(watch.Cutting("recompute")))


class _Value:
    """Stands for a retained value: the *index*-th of its call."""

    exact = True
    __slots__ = ("call", "count", "index", "spec", "version")

    def __init__(self, call: _Call, index: int, tensor: Tensor) -> None:
        self.call = call
        self.index = index
        self.spec = tensor.spec
        self.version = tensor.version
        self.count = tensor.version.count


class _Call:
    """One call, and what it takes to repeat it."""

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], preserve: bool
    ) -> None:
        self.function = function
        self.names = list(kwargs)
        self.arguments = [_keep(v) for v in (*args, *kwargs.values())]
        self.backend = choice.current()
        self.casting = mode.casting
        self.random = state.random.position if preserve else None
        self.retained = 0
        self.values: dict[int, tuple[Tensor, int]] = {}
        """By index, what the second run left and nobody has taken yet, and the write counter at that time."""
        self.written: list[tuple[Tensor, Any]] = []
        """The storage of tensors from outside that the function writes, and what it held before."""
        self.versions: list[tuple[Version, int]] = []

    def first(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the function for its results."""
        tensors = list(_tensors([*args, *kwargs.values()]))
        before: dict[int, tuple[weakref.ref[Tensor], Any]] = {}

        def note(tensor: Tensor) -> None:
            before.setdefault(identity(tensor.version), (weakref.ref(tensor), np.array(tensor.array)))

        with saved_tensors_hooks(self._number, self._take), _watch_writes(note):
            result = self.function(*args, **kwargs)
        # Most tensors that the function made itself are gone by now; others will not be looked at again.
        self.written = [(tensor.detach(), array) for ref, array in before.values() if (tensor := ref()) is not None]
        self.versions = [(t.version, t.version.count) for t in tensors]
        return result

    def _arguments(self) -> tuple[list[Any], dict[str, Any]]:
        values = [_restore(v) for v in self.arguments]
        plain = len(values) - len(self.names)
        return values[:plain], dict(zip(self.names, values[plain:], strict=True))

    def _number(self, tensor: Tensor) -> _Value:
        self.retained += 1
        return _Value(self, self.retained - 1, tensor)

    def _take(self, value: _Value) -> Tensor:
        """Return the value of a number, from the second run; a third run is needed if it was taken before."""
        if value.version.count != value.count:
            raise _overwritten(value.version, value.count)
        if value.index not in self.values:
            self._repeat()
        # Whoever looks at the graph after the run takes it once more before it is freed.
        take = self.values.__getitem__ if is_keeping() else self.values.pop
        tensor, count = take(value.index)
        if tensor.version.count != count:
            raise _overwritten(tensor.version, count)
        if tensor.spec is not value.spec:
            raise self._other(f"value {value.index} was {value.spec} and is now {tensor.spec}")
        return tensor

    def _repeat(self) -> None:
        """Call the function again for what its operators retain."""
        for version, count in self.versions:
            if version.count != count:
                raise _overwritten(version, count)
        repeated: list[tuple[Tensor, int]] = []

        def leave(tensor: Tensor) -> None:
            repeated.append((Tensor(tensor.array, version=tensor.version), tensor.version.count))

        args, kwargs = self._arguments()
        with (
            choice.use_backend(self.backend),
            enable_grad(),
            mode.cast_by(self.casting),
            self._replay_draws(),
            self._as_before(),
            saved_tensors_hooks(leave, self._never),
        ):
            self.function(*args, **kwargs)
        if len(repeated) != self.retained:
            raise self._other(f"its operators retained {self.retained} values at first and {len(repeated)} now")
        # What the function writes holds again what it held, and so it is what was retained.
        outside = {identity(t.version) for t, _ in self.written}
        self.values = {
            i: (t, t.version.count if identity(t.version) in outside else count)
            for i, (t, count) in enumerate(repeated)
        }

    @staticmethod
    def _never(value: Any) -> Tensor:
        raise GradientError("a function under recompute ran backward through itself while it was computed again.")

    @contextmanager
    def _replay_draws(self) -> Iterator[None]:
        """Draw the random numbers of the first run, and leave the stream as it is."""
        now = state.random.position
        if self.random is not None:
            state.random.position = self.random
        try:
            yield
        finally:
            if self.random is not None:
                state.random.position = now

    @contextmanager
    def _as_before(self) -> Iterator[None]:
        """Give what the function writes the values from before the first run, and bring it back in the end."""
        now = [(t, np.array(t.array), t.version.count, t.version.writer, t.version.loc) for t, _ in self.written]
        for tensor, array in self.written:
            np.copyto(tensor.array, array)
        try:
            yield
        finally:
            for tensor, array, count, writer, loc in now:
                np.copyto(tensor.array, array)
                tensor.version.count, tensor.version.writer, tensor.version.loc = count, writer, loc

    def _other(self, what: str) -> RecomputeError:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return RecomputeError(
            f"recompute: {name} did not compute the same when it ran again: {what}.",
            hint="it must not depend on anything that changes between forward and backward",
        )


@contextmanager
def _watch_writes(note: Callable[[Tensor], None]) -> Iterator[None]:
    """Call *note* with each tensor before it is written in place; those who watched before go on."""
    outer = writes.get()

    def both(tensor: Tensor, array: Any) -> None:
        note(tensor)
        if outer is not None:
            outer(tensor, array)

    token = writes.set(both)
    try:
        yield
    finally:
        writes.reset(token)


def _keep(value: Any) -> Any:
    """An argument as it waits: a tensor as it is now, or what the hooks in force (an outer recompute) make of it."""
    if isinstance(value, Tensor):
        hooks = packing.get()
        if hooks is not None:
            return hooks.pack(value)
        same = value.placed(value.array)
        same._version = value.version
        return same
    if isinstance(value, (list, tuple)) and any(isinstance(e, Tensor) for e in value):
        return _Several(type(value), [_keep(e) for e in value])
    return value


class _Several:
    """A list or tuple of arguments, each kept by itself."""

    __slots__ = ("kind", "values")

    def __init__(self, kind: type, values: list[Any]) -> None:
        self.kind = kind
        self.values = values


def _restore(value: Any) -> Any:
    """The argument that :func:`_keep` kept."""
    if isinstance(value, _Several):
        entries = [_restore(v) for v in value.values]
        return value.kind(*entries) if hasattr(value.kind, "_fields") else value.kind(entries)
    return unpack(value) if isinstance(value, PackedValue) else value


def _tensors(values: Sequence[Any]) -> Iterator[Tensor]:
    for v in values:
        if isinstance(v, Tensor):
            yield v
        elif isinstance(v, (list, tuple)):
            yield from (e for e in v if isinstance(e, Tensor))


def _overwritten(version: Version, count: int) -> InplaceError:
    error = InplaceError(
        f"a tensor that recompute needs has been modified by an inplace operation ({version.writer}): its version is "
        f"{version.count} but the expected version is {count}.",
        op=f"{version.writer} wrote at {source.describe(version.loc) or 'an unknown place'}",
        hint="edit a copy (x.clone()), or use the operator that makes a new tensor",
    )
    error.in_paddle = version_message(version.count, count)
    return error
