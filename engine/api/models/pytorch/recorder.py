"""The recorder inside PyTorch: what a program computes, as :mod:`.events`. The only module that imports torch.

Operators are seen by a ``TorchDispatchMode``, which is called below autograd: the node that autograd makes of a call is
there when the next thing happens, and is told then. Each node has a hook that keeps what arrived and what it gave.
What no operator tells of (``detach``, ``.data``, ``no_grad``, values that go to Python, optimizers) is seen by standing
in for a few names of torch while the program runs (:mod:`.standing_in`).
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode, _pop_mode, _push_mode

from gradtool.engine.answers.why import callers
from gradtool.engine.core import source

from . import events
from .events import Ref

Sink = Callable[[events.Event], None]

_base = torch._C.TensorBase
_grad_fn = _base.grad_fn.__get__
_requires = _base.requires_grad.__get__
_output = _base.output_nr.__get__
_detach = _base.detach
_numpy = _base.numpy


class _Known:
    """What is known of a tensor of torch: its number, its node, whether it takes a gradient."""

    __slots__ = ("function", "number", "reference", "takes")

    def __init__(self, number: int, reference: Any) -> None:
        self.number = number
        self.reference = reference
        self.function: Any = None
        self.takes = False


class _Operator(NamedTuple):
    """What is known of an operator of torch.

    Attributes:
        written: places of the arguments that it writes.
        view: whether it gives views of its first argument.
        aside: whether autograd calls it for itself (``detach``).
    """

    name: str
    names: tuple[str, ...]
    written: tuple[int, ...]
    view: bool
    aside: bool
    made: bool


class _Waiting(NamedTuple):
    """A call whose node is not known yet."""

    operator: _Operator
    arguments: tuple[Any, ...]
    taken: list[Any]
    before: list[tuple[Any, int]]
    given: list[Any]
    arrays: list[Any]
    written: list[Any]
    enabled: bool
    seconds: float
    site: Any


class TorchRecorder(TorchDispatchMode):  # type: ignore[misc]  # torch need not be there
    """Tells a sink what torch does inside ``with recorder.recording():``.

    Args:
        spared: lines (file and number) at which nothing cuts gradients off, see ``engine/eager/journal.py``.
    """

    def __init__(self, sink: Sink, spared: Iterable[tuple[str, int]] = ()) -> None:
        super().__init__()
        self._spared = frozenset(spared)
        self.sink = sink
        self.quiet = 0
        self._stepping = self._away = False
        self._known: dict[int, _Known] = {}
        self._operators: dict[Any, _Operator] = {}
        self._nodes: dict[int, int] = {}
        self._freed: list[int] = []
        self._grads: dict[int, tuple[Any, int]] = {}
        self._numbers = iter(range(1, sys.maxsize))
        self._node_numbers = iter(range(1, sys.maxsize))
        self._waiting: _Waiting | None = None
        self._pulled: list[events.Pulled] | None = None
        self._gone: list[int] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: torch would wrap each call of this mode to keep a compiler out, which costs more than the call."""
        return False

    @contextmanager
    def recording(self) -> Iterator[TorchRecorder]:
        """Inside, the program is recorded."""
        from .standing_in import standing_in

        source.count_as_ours("torch")
        try:
            with standing_in(self), self:
                try:
                    yield self
                finally:
                    self.end_step()
                self.flush()
        finally:
            source.count_as_ours("torch", False)

    # -- tensors ------------------------------------------------------------------------------------------------------

    def array(self, t: Any) -> Any:
        """The values of a tensor, in the same memory where that is possible."""
        if t.layout is not torch.strided:
            t = t.to_dense()
        if t.device.type != "cpu":
            t = t.cpu()
        if t.is_conj() or t.is_neg():
            t = t.resolve_conj().resolve_neg()
        plain = _detach(t)
        if plain.dtype in _NARROW:
            import ml_dtypes

            same, kind = _NARROW[plain.dtype]
            return _numpy(plain.view(same)).view(getattr(ml_dtypes, kind))
        return _numpy(plain)

    def number(self, t: Any, site: Any = None, shares: int | None = None, parameter: bool = False) -> int:
        """The number of a tensor; it is told first if it was not met before."""
        known = self._known.get(id(t))
        if known is None:
            known = self._meet(t)
            takes = known.takes = bool(_requires(t))
            where = site if site is not None else self.site()
            is_parameter = parameter or isinstance(t, torch.nn.Parameter)
            leaf = takes and _grad_fn(t) is None
            self.sink(
                events.Made(known.number, self._quietly(t), leaf, is_parameter, shares, self._gradient_of(t), where)
            )
        function = _grad_fn(t) if _requires(t) else None
        key = None if function is None else _key(function)
        if key != known.function:
            known.function = key
            if function is not None:
                self._follow(t, known, function, site)
        return known.number

    def known(self, t: Any) -> int | None:
        """The number of a tensor, None where it was never met."""
        known = self._known.get(id(t))
        return None if known is None else known.number

    def spares(self, site: Any) -> bool:
        """Whether gradients are not to be cut off there."""
        return bool(self._spared) and source.file_and_line(source.located(site)) in self._spared

    def forget(self, t: Any) -> None:
        """Let a tensor be one that was not met before: it stands for something else from now on."""
        self._known.pop(id(t), None)

    def note_grad(self, leaf: Any, gradient: Any) -> None:
        """Remember whose ``.grad`` a tensor is: what is written to it is written to that."""
        key = id(gradient)
        grads = self._grads
        if key not in grads:
            grads[key] = weakref.ref(gradient, lambda _: grads.pop(key, None)), self.number(leaf)

    def _gradient_of(self, t: Any) -> int | None:
        """The leaf whose ``.grad`` a tensor is."""
        known = self._grads.get(id(t))
        return None if known is None else known[1]

    def _tell_cleared(self, gradient: Any, args: Any, site: Any) -> None:
        """Tell that a ``.grad`` is set to zeros in place, if that is what happens."""
        if len(args) > 1 and not (isinstance(args[1], (int, float)) and args[1] == 0):
            return
        self.sink(events.Cleared(self._grads[id(gradient)][1], "zero_", False, site))

    def tell_detached(self, number: int, made: Any, how: str, site: Any) -> None:
        """Tell of a tensor without a way back."""
        known = self._meet(made)
        self.sink(events.Detached(number, known.number, self._quietly(made), how, site))

    def tell_requires(self, t: Any, how: str, site: Any) -> None:
        """Tell whether a leaf takes a gradient, if that has changed."""
        known, takes = self._known[id(t)], bool(_requires(t))
        if known.takes != takes and _grad_fn(t) is None:
            known.takes = takes
            self.sink(events.Requires(known.number, takes, how, site))

    def tell_hooked(self, key: int, before: Any, result: Any) -> None:
        """Tell what a hook made of a gradient, in the pass that runs."""
        if self._pulled is not None:
            after = None if result is None else self._quietly(result)
            self.sink(events.Hooked(key, self._quietly(before), after))

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """Inside, nothing is told: torch, or the recorder, computes for itself."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1

    def _quietly(self, t: Any) -> Any:
        with self.unheard(), self.aside():
            return self.array(t)

    def _meet(self, t: Any) -> _Known:
        key = id(t)
        number = next(self._numbers)

        def gone(_: Any, known: dict[int, _Known] = self._known, dead: list[int] = self._gone) -> None:
            known.pop(key, None)
            dead.append(number)

        known = self._known[key] = _Known(number, weakref.ref(t, gone))
        return known

    def _follow(self, t: Any, known: _Known, function: Any, site: Any) -> None:
        """Tell of a node that a tensor hangs on and that no operator has told of."""
        nodes: list[events.Node] = []
        self._unknown(function, nodes)
        if not nodes:
            nodes = [self._node(function)[1]]
        where = site if site is not None else self.site()
        self.sink(events.Adopted(known.number, _output(t), tuple(nodes), where))

    def _unknown(self, function: Any, nodes: list[events.Node]) -> None:
        """The nodes behind *function* that were not told yet, those that it stands on first."""
        todo = [(function, False)]
        seen: set[int] = set()
        while todo:
            node, done = todo.pop()
            if done:
                nodes.append(self._node(node)[1])
                continue
            if _key(node) in self._nodes or _key(node) in seen:
                continue
            seen.add(_key(node))
            todo.append((node, True))
            todo += [(f, False) for f, _ in node.next_functions if f is not None and not hasattr(f, "variable")]

    def site(self) -> Any:
        """Where the user's program stands."""
        return source.site(sys._getframe(1)) or _NOWHERE

    # -- operators ----------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.quiet:
            return func(*args, **(kwargs or {}))
        operator = self._operators.get(func)
        if operator is None:
            operator = self._operators[func] = _operator(func)
        if operator.aside:
            return func(*args, **(kwargs or {}))
        self.flush()
        if self._gone or self._freed:
            self._tell_gone()
        site = self.site()
        arguments = (*args, *kwargs.values()) if kwargs else args
        names = operator.names[: len(args)] + (tuple(kwargs) if kwargs else ())
        taken = _tensors(arguments)
        for t in taken:
            self.number(t, site)
        before = [(_grad_fn(t), _output(t)) if _requires(t) else (None, -1) for t in taken]
        written = _tensors([args[i] for i in operator.written if i < len(args)])
        if kwargs and "out" in kwargs:
            written += _tensors((kwargs["out"],))
        for t in written:
            self.sink(events.Writing(self.number(t, site), site))
            if id(t) in self._grads and operator.name in _CLEARING:
                self._tell_cleared(t, args, site)
        plain = tuple([self._plain(v) for v in arguments])
        enabled = torch.is_grad_enabled()
        start = perf_counter()
        result = func(*args, **(kwargs or {}))
        seconds = perf_counter() - start
        given = _tensors(result if isinstance(result, (tuple, list)) else (result,))
        if given:
            # Here nobody is asked: outside, the recorder itself would be for each of its own calls.
            arrays = [None if id(t) in self._known else self.array(t) for t in given]
            known = operator if names == operator.names else operator._replace(names=names)
            self._waiting = _Waiting(known, plain, taken, before, given, arrays, written, enabled, seconds, site)
        return result

    def _plain(self, value: Any) -> Any:
        """A constant as it is, a tensor by its number."""
        if isinstance(value, torch.Tensor):
            return Ref(self._known[id(value)].number)
        if isinstance(value, (list, tuple)):
            return [self._plain(v) for v in value]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        return str(value)

    def flush(self) -> None:
        """Tell of the last call, whose node is there now."""
        waiting = self._waiting
        if waiting is None:
            return
        self._waiting = None
        operator, arguments, taken, before, given, arrays, written, enabled, seconds, site = waiting
        if not taken:
            self._tell_made(given, site)
            return
        # What runs inside an autograd.Function is not recorded, though the Function's node is there by now.
        function = next((f for f in map(_function, given) if f is not None), None) if enabled else None
        behind: list[events.Node] = []
        node: events.Node | None = None
        edges: tuple[int | None, ...] = (None,) * len(taken)
        if function is not None:
            if _key(function) in self._nodes:
                function = None  # a tensor that came through as it was
            else:
                for f, _ in function.next_functions:
                    if f is not None and not hasattr(f, "variable"):
                        self._unknown(f, behind)
                node, edges = self._recorded(function, taken, before)
        results = []
        self.quiet += 1
        for t, array in zip(given, arrays, strict=True):
            known = self._known.get(id(t))
            if known is None:
                known = self._meet(t)
                array = self.array(t) if array is None else array
            else:
                array = None
            own = _function(t)
            mine = own is not None and own is function
            if mine:
                known.function = _key(own)
            known.takes = bool(_requires(t))
            results.append(events.Result(known.number, array, _output(t) if mine else None))
        self.quiet -= 1
        numbers = tuple([self._known[id(t)].number for t in written])
        self.sink(
            events.Called(
                operator.name,
                operator.names,
                arguments,
                tuple(results),
                node,
                edges,
                operator.view,
                numbers,
                tuple(behind),
                enabled,
                seconds,
                site,
            )
        )

    def _tell_made(self, given: Sequence[Any], site: Any) -> None:
        for t in given:
            self.number(t, site)

    def _tell_gone(self) -> None:
        gone, self._gone[:] = list(self._gone), []
        for number in gone:
            self.sink(events.Gone(number))
        freed, self._freed[:] = tuple(self._freed), []
        if freed:
            self.sink(events.Freed(freed))

    # -- the graph ----------------------------------------------------------------------------------------------------

    def _recorded(
        self, function: Any, taken: Sequence[Any], before: Sequence[tuple[Any, int]]
    ) -> tuple[events.Node, tuple[int | None, ...]]:
        """The node of a call, and by tensor that it took which edge is its."""
        _number, node = self._node(function)
        following = function.next_functions
        edges: list[int | None] = []
        at = 0
        for t, (was, output) in zip(taken, before, strict=True):
            edges.append(None)
            for i in range(at, len(following)):
                f, nr = following[i]
                hangs = (was is not None and f is was and nr == output) or (
                    was is None and output == 0 and getattr(f, "variable", None) is t
                )
                if hangs or (f is None and output < 0 and t.is_floating_point()):
                    edges[-1], at = i, i + 1
                    break
        return node, tuple(edges)

    def _node(self, function: Any) -> tuple[int, events.Node]:
        """The number of a node of torch's, and what there is to tell of it."""
        key = _key(function)
        known = self._nodes.get(key)
        if known is not None:
            return known, events.Node(known, function.name(), (), ())
        number = self._nodes[key] = next(self._node_numbers)
        edges = tuple([self._edge(f, nr) for f, nr in function.next_functions])
        shapes = tuple([(tuple(map(int, m.shape)), _dtype(m.dtype)) for m in getattr(function, "_input_metadata", ())])
        custom = getattr(type(function), "_forward_cls", None) or getattr(function, "_forward_cls", None)
        saved = self._saved(function) if custom is not None else ()
        name = custom.__name__ if custom is not None else ""
        function.register_hook(_Hook(self, number, key))
        rule = () if custom is None else returns_at(custom.backward)
        return number, events.Node(number, function.name(), edges, shapes, saved, name, rule)

    def _saved(self, function: Any) -> tuple[int, ...]:
        """What an ``autograd.Function`` saved for its backward, as far as its tensors were met before."""
        try:
            saved = function.saved_tensors
        except RuntimeError:  # written in place since, or freed
            return ()
        return tuple([self._known[id(t)].number for t in saved if id(t) in self._known])

    def _edge(self, function: Any, output: int) -> events.Edge:
        if function is None:
            return None
        variable = getattr(function, "variable", None)
        if variable is not None:
            return self.number(variable)
        return self._node(function)[0], output

    # -- backward -----------------------------------------------------------------------------------------------------

    def pulled(self, number: int, gradients: Any, arriving: Any) -> None:
        """Keep what a node got and gave in the pass that runs."""
        if self._pulled is not None:
            self.quiet += 1
            try:
                self._pulled.append(events.Pulled(number, self.arrays(arriving), self.arrays(gradients)))
            finally:
                self.quiet -= 1

    def freed(self, number: int, key: int) -> None:
        """Let a node be one that is no more."""
        self._nodes.pop(key, None)
        self._freed.append(number)

    def arrays(self, tensors: Any) -> tuple[Any, ...]:
        """The values of gradients, None for those that there are not."""
        return tuple([None if t is None else self.array(t) for t in tensors])

    def passed(
        self,
        roots: Sequence[Any],
        seeds: Sequence[Any],
        how: str,
        retains: bool,
        recorded: bool,
        run: Callable[[], Any],
    ) -> Any:
        """Have torch run backward, and tell of it."""
        self.end_step()
        self.flush()
        site = self.site()
        numbers = tuple([self.number(t, site) for t in roots])
        self.sink(events.Began(numbers, how, recorded, site))
        given = [None if s is None else self._quietly(s) for s in seeds]
        before, self._pulled = self._pulled, [] if not recorded else None
        self.quiet += not recorded
        error = ""
        try:
            if recorded:
                return run()
            with self.aside():
                return run()
        except RuntimeError as raised:
            error = str(raised)
            raise
        finally:
            self.quiet -= not recorded
            self.flush()
            pulled, self._pulled = self._pulled or [], before
            if error or sys.exc_info()[0] is None:
                gradients = () if recorded else tuple(self._gradients(roots, how))
                self.sink(
                    events.Ended(numbers, how, tuple(given), retains, recorded, tuple(pulled), gradients, error, site)
                )

    def begin_step(self) -> None:
        """Let an optimizer compute without asking."""
        self.end_step()
        self.quiet += 1
        self._away = _get_current_dispatch_mode() is self
        self._stepping = True
        if self._away:
            _pop_mode()

    def end_step(self) -> None:
        """Be asked again after an optimizer's step, or before the next thing where it raised."""
        if self._stepping:
            self._stepping = False
            self.quiet -= 1
            if self._away:
                _push_mode(self)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Inside, torch computes without asking: as long as nothing is told, being asked is all that it costs."""
        if _get_current_dispatch_mode() is not self:
            yield
            return
        _pop_mode()
        try:
            yield
        finally:
            _push_mode(self)

    def _gradients(self, roots: Sequence[Any], how: str) -> Iterator[tuple[int, Any]]:
        """The ``.grad`` of the leaves behind *roots*."""
        if how == "grad":
            return
        todo = [f for f in map(_function, roots) if f is not None]
        seen: set[int] = set()
        while todo:
            function = todo.pop()
            for f, _ in function.next_functions:
                variable = getattr(f, "variable", None)
                key = 0 if f is None else _key(f) if variable is None else -id(variable)
                if f is None or key in seen:
                    continue
                seen.add(key)
                if variable is None:
                    todo.append(f)
                elif id(variable) in self._known:
                    gradient = _grad(variable)
                    yield self.number(variable), None if gradient is None else self._quietly(gradient)
        for t in roots:
            if _function(t) is None and _requires(t) and _grad(t) is not None:
                yield self.number(t), self._quietly(_grad(t))


class _Hook:
    """Keeps what a node of torch's got and gave."""

    __slots__ = ("key", "number", "recorder")

    def __init__(self, recorder: TorchRecorder, number: int, key: int) -> None:
        self.recorder = recorder
        self.number = number
        self.key = key

    def __del__(self) -> None:
        # torch lets go of a node's hooks with the node; it is told with the next operator.
        self.recorder.freed(self.number, self.key)

    def __call__(self, gradients: Any, arriving: Any) -> None:
        self.recorder.pulled(self.number, gradients, arriving)


_grad = _base.grad.__get__
_NOWHERE = source.NOWHERE
_CLEARING = frozenset({"zero_", "fill_", "mul_"})
_NARROW = {torch.bfloat16: (torch.int16, "bfloat16")}


def _function(t: Any) -> Any:
    """The node that a tensor hangs on."""
    return _grad_fn(t) if _requires(t) else None


def returns_at(function: Any) -> source.Location:
    """Where a function of the user's returns what it computes; nowhere for what is not Python."""
    code = getattr(function, "__code__", None)
    return source.NOWHERE if code is None else callers.result(code)


def _key(function: Any) -> int:
    """What no other node of this thread has: wrappers of nodes come and go."""
    return int(function._sequence_nr())


def _dtype(kind: Any) -> str:
    return str(kind).removeprefix("torch.")


def _tensors(values: Any) -> list[Any]:
    found: list[Any] = []
    for v in values:
        if isinstance(v, torch.Tensor):
            found.append(v)
        elif isinstance(v, (list, tuple)):
            found += [e for e in v if isinstance(e, torch.Tensor)]
    return found


def _operator(func: Any) -> _Operator:
    schema = func._schema
    arguments = schema.arguments
    name = schema.name.partition("::")[2]
    written = tuple([i for i, a in enumerate(arguments) if a.alias_info is not None and a.alias_info.is_write])
    view = any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
    aside = name in _ASIDE or not schema.name.startswith("aten::")
    return _Operator(name, tuple([a.name for a in arguments]), written, view, aside, False)


_ASIDE = frozenset({"detach", "detach_", "_local_scalar_dense", "set_", "alias", "resize_"})
"""Operators of autograd's own, and what is told where it is asked for."""
