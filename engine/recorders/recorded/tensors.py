"""The tensors that a recorder has met: their numbers, and what is told of them."""

from __future__ import annotations

import sys
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import get_ident
from typing import Any

from ...core import source
from ...core.identity import identity
from ...core.source import Location
from . import events

Sink = Callable[[events.Event], None]


class Known:
    """Facts about a tensor: its number, its node and which output of it, whether it takes a gradient."""

    __slots__ = ("function", "memory", "number", "output", "reference", "takes")

    def __init__(self, number: int) -> None:
        self.number = number
        self.reference: Any = None
        self.function: Any = None
        self.output = 0
        self.takes = False
        self.memory: Any = None


class Tensors(ABC):
    """Tells a sink of tensors. What a framework is asked for them is abstract.

    Args:
        spared: lines (file and number) at which nothing cuts gradients off, see ``engine/eager/journal.py``.
    """

    joined = False
    """Whether the program was running already when the recorder came: what it meets may have been there before."""

    def __init__(self, sink: Sink, spared: Iterable[tuple[str, int]] = ()) -> None:
        super().__init__()
        self._spared = frozenset(spared)
        self._sink = sink
        self._silence = 0
        self._thread = get_ident()
        self._known: dict[int, Known] = {}
        self._grads: dict[int, tuple[Any, int]] = {}
        self._put: dict[int, tuple[Any, Any]] = {}
        self._numbers = iter(range(1, sys.maxsize))
        self._gone: list[int] = []
        self._pulled: list[events.NodeDifferentiated] | None = None

    # -- what the framework is asked ----------------------------------------------------------------------------------

    @abstractmethod
    def array(self, t: Any) -> Any:
        """The values of a tensor, in the same memory where that is possible."""

    def is_told(self, t: Any) -> bool:
        """Return whether a tensor has values that can be told of; others only stand for some, and are left alone."""
        return True

    @abstractmethod
    def function_of(self, t: Any) -> Any:
        """The node that a tensor hangs on; None of a leaf."""

    @abstractmethod
    def requires(self, t: Any) -> bool:
        """Return whether a tensor takes a gradient."""

    def is_view_without_path(self, t: Any) -> bool:
        """Return whether *t*, a view that requires a gradient and hangs on no node, passes none on to its base."""
        return False

    def born_at(self, t: Any) -> Any:
        """Return where a factory made the memory of *t*, which hands out another object; None where none did."""
        return None

    def note_left(self, t: Any, how: str) -> None:  # noqa: B027  # most frameworks have nothing to note
        """Note that the program has the values of *t* by one of its methods."""

    def is_lent(self, t: Any) -> bool:
        """Return whether others than the framework have the memory of *t*, which was not met before."""
        return False

    @abstractmethod
    def output_of(self, t: Any) -> int:
        """Return which output of its node a tensor is."""

    @abstractmethod
    def key(self, function: Any) -> int:
        """Return a key that no other node has: wrappers of nodes come and go."""

    @abstractmethod
    def is_parameter(self, t: Any) -> bool:
        """Return whether a tensor is one of the framework's parameters."""

    def name_of(self, t: Any) -> str:
        """Return the framework's name for a parameter; empty where it gives no names."""
        return ""

    @abstractmethod
    def follow(self, t: Any, known: Known, function: Any, site: Any) -> None:
        """Tell of a node that a tensor hangs on and that no operator has told of."""

    @abstractmethod
    def aside(self) -> AbstractContextManager[None]:
        """Inside, the framework computes without asking."""

    @property
    def quiet(self) -> bool:
        """True if nothing is recorded: also in other threads, whose operators and nodes the framework numbers anew."""
        return bool(self._silence) or self.is_elsewhere

    @property
    def is_elsewhere(self) -> bool:
        """True if this is another thread than the one that is recorded."""
        return get_ident() != self._thread

    # -- numbers ------------------------------------------------------------------------------------------------------

    def number(self, t: Any, site: Any = None, shares: int | None = None, parameter: bool = False) -> int:
        """The number of a tensor; it is told first if it was not met before."""
        known = self._known.get(identity(t))
        if known is None:
            known = self._meet(t)
            takes = known.takes = self.requires(t)
            is_parameter = parameter or self.is_parameter(t)
            where = (None if is_parameter else self.born_at(t)) or site or self.site()
            if self.joined and is_parameter and not parameter:
                where = source.NOWHERE  # it was there before
            leaf = takes and self.function_of(t) is None and not self.is_view_without_path(t)
            gradient_of = self._gradient_of(t)
            name = self.name_of(t) if is_parameter else ""
            lent = self.is_lent(t)
            values = self.quietly(t)
            told = (known.number, values, leaf, is_parameter, shares, gradient_of, where, name, lent)
            self.sink(events.TensorMade(*told))
        takes = self.requires(t)
        function = self.function_of(t) if takes else None
        key = None if function is None else self.key(function)
        if key != known.function:
            known.function = key
            if function is not None:
                known.takes = True
                self.follow(t, known, function, site)
        if takes != known.takes:
            self.tell_requires(t, "requires_grad", site)
        return known.number

    def find_number(self, t: Any) -> int | None:
        """The number of a tensor, None where it was never met."""
        known = self._known.get(identity(t))
        return None if known is None else known.number

    def list_living(self) -> list[Any]:
        """The tensors that were met and are still there."""
        met = [known.reference() for known in list(self._known.values()) if known.reference is not None]
        return [t for t in met if t is not None]

    def forget(self, t: Any) -> None:
        """Let a tensor be one that was not met before: it stands for something else from now on."""
        self._known.pop(identity(t), None)

    def _meet(self, t: Any) -> Known:
        return self._watch(t, Known(next(self._numbers)))

    def _watch(self, t: Any, met: Known) -> Known:
        """Let *t* be the tensor that *met* is about, until nobody holds it any more."""
        key, number = identity(t), met.number

        def note_death(_: Any, known: dict[int, Known] = self._known, dead: list[int] = self._gone) -> None:
            known.pop(key, None)
            dead.append(number)

        met.reference = weakref.ref(t, note_death)
        self._known[key] = met
        return met

    def swap(self, one: Any, other: Any, swap: Callable[[], None]) -> None:
        """Have *swap* exchange what two tensors are, while nothing refers to them weakly, as it demands."""
        met = [self._known.pop(identity(t), None) for t in (one, other)]
        put = [self._put.pop(identity(t), None) for t in (one, other)]
        for known in met:
            if known is not None:
                known.reference = None
        try:
            swap()
            met.reverse()
            put.reverse()
        finally:
            for t, known, gradient in zip((one, other), met, put, strict=True):
                if known is not None:
                    self._watch(t, known)
                if gradient is not None and gradient[1]() is not None:
                    self.note_put(t, gradient[1]())

    def plain(self, value: Any) -> Any:
        """A constant as it is, a tensor that was met by its number."""
        if isinstance(value, (list, tuple)):
            return [self.plain(v) for v in value]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        known = self._known.get(identity(value))
        return str(value) if known is None else events.Ref(known.number)

    def sink(self, event: events.Event) -> None:
        """Tell of an event; nothing that is computed for the answer to it is the program's."""
        self._silence += 1
        try:
            self._sink(event)
        finally:
            self._silence -= 1

    def quietly(self, t: Any) -> Any:
        """The values of a tensor, got without telling of it."""
        with self.unheard(), self.aside():
            return self.array(t)

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """Inside, nothing is told: the framework, or the recorder, computes for itself."""
        self._silence += 1
        try:
            yield
        finally:
            self._silence -= 1

    def site(self) -> Any:
        """Return the place where the user's program stands."""
        return source.site(sys._getframe(1)) or source.NOWHERE

    def spares(self, site: Any) -> bool:
        """Return whether gradients are not to be cut off there."""
        return bool(self._spared) and source.file_and_line(source.locate(site)) in self._spared

    # -- what is told of them -----------------------------------------------------------------------------------------

    def note_grad(self, leaf: Any, gradient: Any) -> None:
        """Remember whose ``.grad`` a tensor is: what is written to it is written to that."""
        key = identity(gradient)
        grads = self._grads
        if key not in grads:
            grads[key] = weakref.ref(gradient, lambda _: grads.pop(key, None)), self.number(leaf)

    def note_put(self, leaf: Any, gradient: Any) -> None:
        """Remember that the program itself has put a tensor into the ``.grad`` of a leaf."""
        key = identity(leaf)
        self._put[key] = weakref.ref(leaf, lambda _: self._put.pop(key, None)), weakref.ref(gradient)

    def was_put(self, leaf: Any, gradient: Any) -> bool:
        """Return whether the ``.grad`` of a leaf is what was put there."""
        known = self._put.get(identity(leaf))
        return known is not None and known[1]() is gradient

    def _gradient_of(self, t: Any) -> int | None:
        """The leaf whose ``.grad`` a tensor is."""
        known = self._grads.get(identity(t))
        return None if known is None else known[1]

    def tell_cleared(self, gradient: Any, args: Any, site: Any) -> None:
        """Tell that a ``.grad`` is set to zeros in place, if that is what happens."""
        if identity(gradient) not in self._grads:
            return
        if len(args) > 1 and not (isinstance(args[1], (int, float)) and args[1] == 0):
            return
        self.sink(events.GradientCleared(self._grads[identity(gradient)][1], "zero_", False, site))

    def tell_detached(self, number: int, made: Any, how: str, site: Any, dropped: Location = source.NOWHERE) -> None:
        """Tell of a tensor without a way back, which a line of the program may drop."""
        known = self._meet(made)
        self.sink(events.Detached(number, known.number, self.quietly(made), how, site, dropped))

    def tell_taken(self, roots: Sequence[Any], gradients: Sequence[Any]) -> None:
        """Tell of gradients that were given back as plain numbers."""
        site = self.site()
        numbers = tuple([self.number(t, site) for t in roots])
        for t in gradients:
            if t is not None and identity(t) not in self._known and self.is_told(t):
                known = self._meet(t)
                self.sink(events.GradientTaken(numbers, known.number, self.quietly(t), site))

    def tell_copied(self, t: Any, made: Any) -> None:
        """Tell of a deep copy, which is a leaf of its own."""
        site = self.site()
        self.sink(events.CopyMade(self.number(t, site), self.number(made, site), site))

    def tell_reused(self, t: Any, by: str) -> None:
        """Tell of a value that *by* keeps from an earlier call."""
        site = self.site()
        self.sink(events.ValueReused(self.number(t, site), by, site))

    def tell_rebound(self, t: Any, source: int | None, how: str, site: Any) -> None:
        """Tell that a tensor that was met has other memory now."""
        self.sink(events.Rebound(self._known[identity(t)].number, self.quietly(t), source, how, site))

    def tell_lent(self, t: Any, how: str) -> None:
        """Tell that others may write the memory of a tensor from now on."""
        site = self.site()
        self.sink(events.MemoryLent(self.number(t, site), how, site))

    def tell_moved(self, tensors: Sequence[Any]) -> None:
        """Tell that tensors which share memory share other memory now, with the same values."""
        known = [t for t in tensors if identity(t) in self._known]
        if self.is_elsewhere or not known:
            return
        first, site = self._known[identity(known[0])].number, self.site()
        for t in known:
            number = self._known[identity(t)].number
            self.sink(events.Rebound(number, self.quietly(t), None if number == first else first, "", site))

    def tell_requires(self, t: Any, how: str, site: Any) -> None:
        """Tell whether a leaf takes a gradient, if that has changed."""
        known, takes = self._known[identity(t)], self.requires(t)
        if known.takes != takes and self.function_of(t) is None and not (takes and self.is_view_without_path(t)):
            known.takes = takes
            where = site if site is not None else self.site()
            self.sink(events.Requires(known.number, takes, how, where))

    def tell_retained(self, t: Any, site: Any) -> None:
        """Report that a result keeps its gradient in ``.grad``."""
        self.sink(events.Requires(self.number(t, site), True, events.RETAIN, site))

    def tell_hooked(self, key: int, before: Any, result: Any) -> None:
        """Tell what a hook made of a gradient, in the pass that runs."""
        if self._pulled is not None:
            after = None if result is None else self.quietly(result)
            self.sink(events.HookCalled(key, self.quietly(before), after))

    def tell_gone(self) -> None:
        """Tell of tensors that nobody holds any more."""
        gone, self._gone[:] = list(self._gone), []
        for number in gone:
            self.sink(events.Gone(number))
