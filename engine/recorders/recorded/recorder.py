"""Recorder inside a framework, whatever the framework: calls of operators, backward passes, steps."""

from __future__ import annotations

import sys
import weakref
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, NamedTuple

from ...core import source
from ...core.errors import GradtoolError
from ...core.identity import identity
from ...core.source import Location
from ...script.users_code import explain
from . import events, relays
from .graph import GraphRecorder, TakenTensor
from .tensors import Sink

CLEARING = frozenset({"zero_", "fill_", "mul_"})
"""Operators in place that may set a ``.grad`` to zeros."""


class FrameworkOperator(NamedTuple):
    """Facts about an operator of the framework.

    Attributes:
        names: of its arguments.
        written: places of the arguments that it writes.
        view: whether it gives views of its first argument.
        aside: whether it is not told of.
        overload: its whole name, such as ``aten::add.Tensor``; empty where it has none.
        turns: whether it makes its first argument another view of the same storage.
    """

    name: str
    names: tuple[str, ...]
    written: tuple[int, ...]
    view: bool
    aside: bool
    overload: str = ""
    turns: bool = False


class Waiting(NamedTuple):
    """A call whose node is not known yet.

    Attributes:
        taken: the tensors among its arguments, which the program may free.
        before: their nodes and outputs as they were.
        given: the tensors that it gave, with the values of those that are new; references to what a factory gave.
        dropped: the user's line that drops them.
    """

    operator: FrameworkOperator
    arguments: tuple[Any, ...]
    taken: list[TakenTensor]
    before: list[tuple[Any, int]]
    given: list[Any]
    arrays: list[Any]
    written: list[Any]
    enabled: bool
    seconds: float
    site: Any
    dropped: Location = source.NOWHERE


class FrameworkRecorder(GraphRecorder):
    """Tells a sink what a framework does."""

    package: ClassVar[str]
    """The framework's: its lines count as nobody's own."""

    computing: ClassVar[frozenset[str]] = frozenset()
    """Its modules whose functions give what they compute, by their first name; all of them where empty."""

    refusals: tuple[type[Exception], ...] = (RuntimeError,)
    """What the framework raises where it refuses a backward pass."""

    def __init__(self, sink: Sink, spared: Iterable[tuple[str, int]] = ()) -> None:
        super().__init__(sink, spared)
        self._waiting: Waiting | None = None
        self._depth = 0
        """How many backward passes run."""
        self._before_nested: dict[int, Any] | None = None
        """By number of a leaf its ``.grad``, before another pass ran inside of the one that runs."""
        self.enclosed: tuple[str, str, tuple[int, ...]] | None = None
        """Kind, name and tensors of the call that runs and records nothing by itself."""
        self.exploring = False
        """Whether the framework runs a pass for gradtool alone."""

    @contextmanager
    def record(self) -> Iterator[None]:
        """Inside, the program is recorded."""
        source.count_as_ours(self.package)
        try:
            with self.listen():
                try:
                    yield
                finally:
                    self.end_step()
                self.flush()
        finally:
            source.count_as_ours(self.package, False)
            relays.forget()

    # -- what the framework is asked ----------------------------------------------------------------------------------

    @abstractmethod
    def listen(self) -> AbstractContextManager[object]:
        """Inside, the framework tells this recorder what it does."""

    @abstractmethod
    def gradient(self, t: Any) -> Any:
        """The ``.grad`` of a tensor, or None."""

    @abstractmethod
    def begin_step(self) -> None:
        """Let an optimizer compute without asking."""

    @abstractmethod
    def end_step(self) -> None:
        """Be asked again after an optimizer's step, or before the next thing where it raised."""

    # -- operators ----------------------------------------------------------------------------------------------------

    def note_operands(self, taken: Sequence[Any], site: Any) -> list[tuple[Any, int]]:
        """Tell of the tensors that a call takes; node and output of each, None and -1 where it takes no gradient."""
        if self._gone or self._freed:
            self.tell_gone()
        for t in taken:
            self.number(t, site)
        return [(self.function_of(t), self.output_of(t)) if self.requires(t) else (None, -1) for t in taken]

    def note_writes(self, operator: str, written: Sequence[Any], args: Sequence[Any], site: Any) -> None:
        """Tell of the tensors that a call is about to write."""
        for t in written:
            self.sink(events.OverwriteBegan(self.number(t, site), site))
            if operator in CLEARING:
                self.tell_cleared(t, args, site)

    def find_drop(self, written: Sequence[Any]) -> Location:
        """Return the user's line that drops what a call gives; of none in a backward pass, or that writes in place."""
        # Hooks and functions that run in a pass give their results to the framework.
        return source.NOWHERE if written or self._depth else source.locate_drop(sys._getframe(1), self._gives_results)

    def _gives_results(self, module: str) -> bool:
        """Return whether functions of a module give what they compute: others test, export or print with it."""
        package, _, rest = module.partition(".")
        return package != self.package or not self.computing or rest.partition(".")[0] in self.computing

    def hold_weakly(self, taken: Sequence[Any], before: Sequence[tuple[Any, int]]) -> list[TakenTensor]:
        """Return what is known later of tensors that a call took, though the program frees them.

        Args:
            before: node and output of each, see :meth:`note_operands`.
        """
        pairs = zip(taken, before, strict=True)
        return [TakenTensor(weakref.ref(t), output >= 0 or self.is_real(t)) for t, (_, output) in pairs]

    def await_node(self, waiting: Waiting) -> None:
        """Tell of a call when its node is there."""
        self._waiting = waiting

    def flush(self) -> None:
        """Tell of the last call, whose node is there now."""
        waiting = self._waiting
        if waiting is None:
            return
        self._waiting = None
        operator, arguments, taken, before, given, arrays, written, enabled, seconds, site, dropped = waiting
        given = [t() if type(t) is weakref.ref else t for t in given]
        if any(t is None for t in given):
            return
        if not taken:
            for t in given:
                self.number(t, site)
            return
        # What runs inside a function with a rule of its own is not recorded, though that one's node is there by now.
        functions = (self._own(t) for t in given)
        function = next((f for f in functions if f is not None), None) if enabled else None
        behind: list[events.GraphNode] = []
        node: events.GraphNode | None = None
        edges: tuple[int | None, ...] = (None,) * len(taken)
        if function is not None:
            if self.key(function) in self._nodes:
                function = None  # a tensor that came through as it was
            else:
                for f, _ in self.next_nodes(function):
                    if f is not None and not self.is_end(f):
                        self.untold(f, behind)
                if behind and self.misses(function, taken, before):
                    function = None  # of several nodes, which the result is found to hang on
                else:
                    node, edges = self.record_node(function, taken, before)
        with self.unheard():
            results = tuple(
                [
                    self._result(t, array, function, i, operator.turns)
                    for i, (t, array) in enumerate(zip(given, arrays, strict=True))
                ]
            )
        numbers = tuple([self._known[identity(t)].number for t in written])
        told = (operator.name, operator.names, arguments, results, node, edges, operator.view, numbers)
        self.sink(events.OperatorCalled(*told, tuple(behind), enabled, seconds, site, operator.overload, dropped))
        for t in given:
            self.tell_requires(t, "requires_grad=True", site)

    def _own(self, t: Any) -> Any:
        return self.function_of(t) if self.requires(t) else None

    def _result(self, t: Any, array: Any, function: Any, place: int, turns: bool) -> events.CallResult:
        known = self._known.get(identity(t))
        if known is None:
            known = self._meet(t)
            array = self.array(t) if array is None else array
        elif not turns:
            array = None
        own = self._own(t)
        mine = own is not None and own is function
        if mine:
            known.function, known.output = self.key(own), place
            known.takes = True
        return events.CallResult(known.number, array, self.output_of(t) if mine else None)

    # -- backward -----------------------------------------------------------------------------------------------------

    def run_backward(
        self,
        roots: Sequence[Any],
        seeds: Sequence[Any],
        how: str,
        retains: bool,
        recorded: bool,
        run: Callable[[], Any],
        inputs: Sequence[Any] | None = None,
    ) -> Any:
        """Have the framework run backward, and tell of it.

        Args:
            inputs: the tensors whose gradients are asked for; None for all leaves.
        """
        result = self._run_pass(roots, seeds, how, retains, recorded, run, inputs)
        if how == "grad" and not recorded:
            self.tell_taken(roots, result if isinstance(result, (list, tuple)) else (result,))
        return result

    def _run_pass(
        self,
        roots: Sequence[Any],
        seeds: Sequence[Any],
        how: str,
        retains: bool,
        recorded: bool,
        run: Callable[[], Any],
        inputs: Sequence[Any] | None,
    ) -> Any:
        self.end_step()
        self.flush()
        site = self.site()
        numbers = tuple([self.number(t, site) for t in roots])
        asked = None if inputs is None else tuple([self.number(t, site) for t in inputs])
        given = [None if s is None else self.quietly(s) for s in seeds]
        began = events.BackwardBegan(numbers, how, recorded, site, asked, tuple(map(_copy, given)), self._depth)
        self.sink(began)
        self._depth += 1
        before, self._pulled = self._pulled, []
        self._silence += not recorded
        error, failed = "", None
        try:
            if recorded:
                return run()
            with self.aside():
                return run()
        except self.refusals as raised:
            error, failed = str(raised), raised
            raise
        finally:
            self._silence -= not recorded
            self._depth -= 1
            self.flush()
            pulled, self._pulled = self._pulled or [], before
            if error or sys.exc_info()[0] is None:
                gradients = tuple(self._gradients(roots, how))
                nested, held = self._inner_gradients({n for n, _ in gradients})
                gradients += held
                kept = apart(pulled, [g for _, g in gradients if g is not None])
                passed = (numbers, how, tuple(given), retains, recorded, tuple(kept), gradients, error, site, nested)
                self._end(events.BackwardEnded(*passed), failed)

    def _end(self, event: events.BackwardEnded, failed: Exception | None) -> None:
        """Tell that a pass is over; what is known of an error of the framework's goes with that error."""
        try:
            self.sink(event)
        except GradtoolError as explained:
            if failed is None:
                raise
            explain(failed, explained)

    def explore(self, run: Callable[[], Any]) -> None:
        """Have the framework run a pass that the program did not ask for, and tell what its nodes got and gave.

        Hooks of the program's are not called. What cannot be differentiated, freed graphs say, tells nothing.
        """
        before, self._pulled = self._pulled, []
        self._silence += 1
        self.exploring = True
        try:
            with self.aside():
                run()
        except self.refusals:
            self._pulled = []
        finally:
            self.exploring = False
            self._silence -= 1
            pulled, self._pulled = tuple(self._pulled), before
        if pulled:
            self.sink(events.Explored(pulled))

    def leaves_behind(self, root: Any) -> list[Any]:
        """Return the leaves that a pass from *root* gives gradients to."""
        todo, seen, leaves = [f for f in [self._own(root)] if f is not None], set(), []
        while todo:
            for f, _ in self.next_nodes(todo.pop()):
                if f is None or self.key(f) in seen:
                    continue
                seen.add(self.key(f))
                if self.is_end(f):
                    leaves.append(self.leaf_of(f))
                else:
                    todo.append(f)
        return leaves

    def nest(self) -> None:
        """Note that the program is about to run backward inside of the pass that runs, out of hearing."""
        if self._depth and self._before_nested is None:
            leaves = self._leaves_met()
            with self.unheard():
                self._before_nested = {n: _copy(self._grad_of(t)) for n, t in leaves}

    def _inner_gradients(self, known: set[int]) -> tuple[tuple[tuple[int, Any], ...], tuple[tuple[int, Any], ...]]:
        """Return the gradients that inner passes gave to leaves other than the *known* ones, and their ``.grad``."""
        before, self._before_nested = self._before_nested, None
        given, held = [], []
        for n, t in self._leaves_met() if before is not None else ():
            now = self._grad_of(t) if n not in known else None
            was = before.get(n) if before is not None else None
            if now is not None and (was is None or was.shape != now.shape or (now != was).any()):
                given.append((n, now.copy() if was is None else now - was))
                held.append((n, now))
        return tuple(given), tuple(held)

    def _leaves_met(self) -> list[tuple[int, Any]]:
        """The leaves that were met and are still there, with their numbers."""
        held = [known for known in self._known.values() if known.takes and known.reference is not None]
        met = [(known.number, known.reference()) for known in held]
        return [(n, t) for n, t in met if t is not None and self.function_of(t) is None]

    def _grad_of(self, t: Any) -> Any:
        gradient = self.gradient(t)
        return None if gradient is None else self.quietly(gradient)

    def _gradients(self, roots: Sequence[Any], how: str) -> Iterator[tuple[int, Any]]:
        """The ``.grad`` of the leaves behind *roots*."""
        if how == "grad":
            return
        todo = [f for f in map(self._own, roots) if f is not None]
        seen: set[int] = set()
        while todo:
            function = todo.pop()
            for f, _ in self.next_nodes(function):
                if f is None or self.key(f) in seen:
                    continue
                seen.add(self.key(f))
                if not self.is_end(f):
                    todo.append(f)
                    continue
                leaf = self.leaf_of(f)
                if identity(leaf) in self._known:
                    gradient = self.gradient(leaf)
                    yield self.number(leaf), None if gradient is None else self.quietly(gradient)
        for t in roots:
            if self._own(t) is None and self.requires(t) and self.gradient(t) is not None:
                yield self.number(t), self.quietly(self.gradient(t))


def _copy(array: Any) -> Any:
    """A copy of an array that the program may write later."""
    return None if array is None else array.copy()


def apart(pulled: Sequence[events.NodeDifferentiated], gradients: Sequence[Any]) -> list[events.NodeDifferentiated]:
    """Return the gradients of nodes, before and after, with copies of what has come to be the ``.grad`` of a leaf.

    Frameworks put the very memory there that the last node gave: what is clipped, unscaled or cleared in place later
    would be what was given, else.
    """
    spans = sorted(_span(g) for g in gradients)
    begins = [begin for begin, _ in spans]

    def own(array: Any) -> Any:
        if array is None:
            return None
        begin, end = _span(array)
        at = bisect_left(begins, end)
        return array.copy() if at and spans[at - 1][1] > begin else array

    return [p._replace(arriving=tuple(map(own, p.arriving)), gradients=tuple(map(own, p.gradients))) for p in pulled]


def _span(array: Any) -> tuple[int, int]:
    """Return the addresses where the memory of an array begins and ends; frameworks have no strides that go back."""
    begin = int(array.__array_interface__["data"][0])
    reach = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True))
    return begin, begin + (reach + array.itemsize if array.size else 0)
