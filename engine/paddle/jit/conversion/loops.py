"""``while`` and ``for`` in rewritten functions: Python's own repetition, or a loop of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from functools import partial
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core import source
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.spec import TensorSpec
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _creation, _logic
from gradtool.paddle._structure import difference, leaves, mapped
from gradtool.paddle.static._branches import number
from gradtool.paddle.static._loops import while_loop

from ....engine.core.identity import identity
from . import growing
from .attributes import Attributes
from .branches import State, branched, truth
from .containers import Containers, put
from .growing import Grown, array_of, begin, check_growth, looped
from .merging import NUMBERS
from .refusals import ConversionError, Unset, refused

Body = Callable[..., None]


def repeated(test: Callable[[], Any], body: Body, state: State, stopped: Any) -> None:
    """``while test(): body()``; *stopped*, if there is a ``break``, says whether one was met."""
    while True:
        holds = _goes_on(test, stopped)
        if isinstance(holds, Variable):
            break
        if not holds:
            return
        body()
    _Loop(state, body).build(lambda: _goes_on(test, stopped))


def _goes_on(test: Callable[[], Any], stopped: Any) -> Any:
    """Return whether there is another iteration: nothing has stopped the loop, and the test holds."""
    if stopped is None:
        return truth(test())
    over = truth(stopped())
    if not isinstance(over, Variable):
        return False if over else truth(test())
    holds = truth(test())
    goes_on = _logic.logical_not(over)
    if isinstance(holds, Variable):
        return _logic.logical_and(goes_on, holds)
    return goes_on if holds else False


class VariableRange:
    """``range`` of variables.

    Args:
        start, stop, step: numbers or variables of one element.
    """

    def __init__(self, start: Any, stop: Any, step: Any = 1) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    def holds(self, i: Any) -> Any:
        """Return whether *i* is one of the numbers."""
        if isinstance(self.step, Variable):
            return _logic.greater_than((self.stop - i) * self.step, _creation.zeros([], i.dtype))
        return i < self.stop if self.step > 0 else i > self.stop

    def item(self, i: Any) -> Any:
        """Return the value of an iteration."""
        return i


class Rows:
    """The parts of a tensor along its first dimension, whose size is not known.

    Args:
        entries: what an iteration is given, of the number and the rows of all tensors.
    """

    def __init__(self, tensors: list[Variable], entry: Callable[[Any, list[Any]], Any]) -> None:
        self.tensors = tensors
        self._entry = entry
        self.start = 0
        self.step = 1
        self.stop = length(tensors[0])

    def holds(self, i: Any) -> Any:
        """Return whether there is a row *i*."""
        return i < self.stop

    def item(self, i: Any) -> Any:
        """The rows of one iteration."""
        return self._entry(i, [t[i] for t in self.tensors])


class ListEntries(VariableRange):
    """The entries of a list that an array holds.

    Args:
        entries: the list.
    """

    def __init__(self, entries: list[Any]) -> None:
        super().__init__(0, growing.length(entries))
        self._entries = entries

    def item(self, i: Any) -> Any:
        """The entry of one iteration."""
        held: growing.ListInProgram = self._entries[0]
        return growing.read_at(held.array, i)


def length(x: Variable) -> Any:
    """``len(x)``: a number, or a variable where the size is not known."""
    if not x.ndim:
        raise TypeError("len() of a 0-D tensor is wrong")
    if x.shape[0] >= 0:
        return x.shape[0]
    return paddle.cast(paddle.shape(x)[0], "int64")


def has_unknown_length(value: Any) -> bool:
    """Return whether *value* is a tensor that only a loop of a program goes through."""
    return isinstance(value, Variable) and value.ndim > 0 and value.shape[0] < 0


def iterated(items: Any, body: Body, state: State, stopped: Any) -> None:
    """``for item in items: body(item)``; *stopped*, if there is a ``break``, says whether one was met."""
    if has_unknown_length(items):
        items = Rows([items], lambda i, rows: rows[0])
    if array_of(items) is not None:
        items = ListEntries(items)
    if isinstance(items, (VariableRange, Rows)):
        _counted(items, body, state, stopped)
        return
    over: Any = False
    for item in items:
        if isinstance(over, Variable):
            branched(_logic.logical_not(over), partial(body, item), _nothing, state)
        else:
            body(item)
        over = truth(stopped()) if stopped is not None else False
        if isinstance(over, Variable):
            _check_length(items)
        elif over:
            return


def _nothing() -> None:
    return None


def _check_length(items: Iterable[Any]) -> None:
    """Raise where a tensor decides when to leave a loop that may have no end."""
    if not isinstance(items, (Sized, enumerate, zip, reversed, map, Variable)):
        raise refused(
            f"a tensor decides when to leave this loop over a {type(items).__name__}, whose length is not known",
            "loop over range(n) or a list, or write the loop with while and a tensor",
        )


def _counted(items: VariableRange | Rows, body: Body, state: State, stopped: Any) -> None:
    """A loop of a program over numbers."""
    ends = [v for v in (items.start, items.stop, items.step) if isinstance(v, Variable)]
    kind = next((v.dtype for v in ends), None)
    loop = _Loop(state, lambda: body(items.item(loop.counter)), items.step)
    loop.counter = number(items.start, kind) if not isinstance(items.start, Variable) else items.start
    if ends and loop.counter.dtype is not kind:
        loop.counter = _creation.cast(loop.counter, kind)
    loop.build(lambda: _goes_on(lambda: items.holds(loop.counter), stopped))


class _Promoted(Exception):
    """A number, or nothing, becomes a tensor of this type and shape in the loop: it begins as one."""

    def __init__(self, place: int, spec: TensorSpec) -> None:
        super().__init__(place)
        self.place = place
        self.spec = spec


class _Settled(Exception):
    """A number stays what it is in every iteration, or, tried as such, it does not."""

    def __init__(self, place: int, stays: bool) -> None:
        super().__init__(place)
        self.place = place
        self.stays = stays


class _Loop:
    """One loop of a program over what its body changes.

    Attributes:
        counter: what is counted by *step*, or None.
    """

    def __init__(self, state: State, body: Callable[[], None], step: Any = None) -> None:
        self.state = state
        self.body = body
        self.step = step
        self.counter: Any = None
        self.place = source.here()

    def build(self, goes_on: Callable[[], Any]) -> None:
        """Build the loop, and give the names what they have after it."""
        before = self.state.get()
        containers = Containers(v for v in before if not isinstance(v, Variable))
        specs: dict[int, TensorSpec] = {}
        stays: dict[int, bool] = {}
        counter = self.counter
        while True:
            try:
                with looped(containers):
                    _Attempt(self, goes_on, before, containers, specs, stays).build(counter)
                return
            except _Promoted as promoted:
                specs[promoted.place] = promoted.spec
                self._reset(counter, before, containers)
            except _Settled as settled:
                stays[settled.place] = settled.stays
                self._reset(counter, before, containers)
            except Grown as grown:
                if identity(grown.entries) not in containers.contents:
                    raise
                self._reset(counter, before, containers)
                begin(grown.entries, grown.dtype)
                before = self.state.get()
                containers = Containers(v for v in before if not isinstance(v, Variable))

    def _reset(self, counter: Any, before: tuple[Any, ...], containers: Containers) -> None:
        self.counter = counter
        self.state.set(before)
        containers.restore()

    def refused(self, why: str, hint: str | None = None) -> ConversionError:
        """The error for what a program cannot hold of the loop."""
        hint = hint or "give what the loop changes a tensor of the same shape and type before it"
        return refused(f"a tensor decides how often this loop runs, but {why}", hint, self.place)


class _Attempt:
    """A loop with tensors of certain types and shapes to begin with.

    Args:
        before: what the names hold before the loop.
        specs: by place among the names, what a number, or nothing, begins as.
        stays: by place, whether a number that was looked at is the same in every iteration.
    """

    def __init__(
        self,
        loop: _Loop,
        goes_on: Any,
        before: tuple[Any, ...],
        containers: Containers,
        specs: dict[int, TensorSpec],
        stays: dict[int, bool],
    ) -> None:
        self.loop = loop
        self.state = loop.state
        self.goes_on = goes_on
        self.before = before
        self.containers = containers
        self.specs = specs
        self.stays = stays
        self.places = [i for i, v in enumerate(before) if i in specs or (not stays.get(i) and _is_carried(v))]

    def build(self, counter: Any) -> None:
        """Build it, and give the names what they have after it."""
        entries = [self._begun(self.before[i], self.specs.get(i)) for i in self.places]
        carry = entries if counter is None else [counter, *entries]
        if not carry:
            raise self.loop.refused("nothing that the test reads changes in the loop")
        try:
            values = list(while_loop(self._test, self._step, carry))
        except ConversionError:
            raise
        except GradtoolError as error:
            if error.message.startswith("while_loop"):
                raise self.loop.refused(error.message.removeprefix("while_loop: ")) from error
            raise
        left = {
            i: Unset(v.name, "only a loop that a tensor repeats gives it a value", self.loop.place)
            for i, v in enumerate(self.before)
            if isinstance(v, Unset) and i not in self.specs
        }
        self._take(tuple(values), left)

    def _take(self, values: tuple[Any, ...], left: dict[int, Any]) -> None:
        """Let names and containers hold what the loop carries.

        Args:
            left: by place, what else names hold.
        """
        if self.loop.counter is not None:
            self.loop.counter, values = values[0], values[1:]
        self.containers.restore()
        current = list(self.before)
        for i, value in left.items():
            current[i] = value
        for i, value in zip(self.places, values, strict=True):
            current[i] = value
            if i >= self.state.size:
                put(self.before[i], value)
        self.state.set(current)

    def _test(self, *values: Any) -> Any:
        self._take(values, {})
        holds = self.goes_on()
        return holds if isinstance(holds, Variable) else _creation.full([], holds, "bool")

    def _step(self, *values: Any) -> list[Any]:
        self._take(values, {})
        attributes = Attributes(self.state.names)
        self.loop.body()
        attributes.check()
        after = self.state.get()
        own = values if self.loop.counter is None else values[1:]
        self._check_containers(own)
        for i, entry in zip(self.places, own, strict=True):
            self._check_carried(i, after[i], entry)
        for i in set(range(self.state.size)).difference(self.places):
            self._check_constant(i, after[i], self.before[i])
        result = [after[i].copy() if i >= self.state.size else after[i] for i in self.places]
        return result if self.loop.counter is None else [values[0] + self.loop.step, *result]

    def _begun(self, value: Any, spec: TensorSpec | None) -> Any:
        """Return the first value of the loop in the place of *value*."""
        if spec is None:
            return mapped(lambda v: v if isinstance(v, Variable) else number(v, None), value)
        if any(d < 0 for d in spec.shape):
            raise self.loop.refused(
                f"a variable becomes a tensor of the shape {list(spec.shape)} in it, which is not known before"
            )
        return _creation.full(list(spec.shape), value if isinstance(value, NUMBERS) else 0, spec.dtype)

    # -- what a program cannot go on with -----------------------------------------------------------------------------

    def _check_containers(self, own: tuple[Any, ...]) -> None:
        carried = {identity(self.before[i]): entry for i, entry in zip(self.places, own, strict=True)}
        for container, held in self.containers.changed():
            begun = carried.get(identity(container), held)
            if identity(container) in carried and len(container) == len(held):
                continue
            check_growth(container, begun)
            verb = "grows" if len(container) > len(held) else "changes"
            raise self.loop.refused(
                f"a {type(container).__name__} {verb} in it, and programs carry tensors from one iteration to the next",
                "append tensors to a list alone, or carry one tensor with a row for each step",
            )

    def _check_carried(self, i: int, value: Any, entry: Any) -> None:
        if isinstance(value, Unset) and value.why:
            value.read()
        if isinstance(self.before[i], NUMBERS) and value is entry and i not in self.stays and i not in self.specs:
            raise _Settled(i, True)
        if isinstance(self.before[i], (Unset, *NUMBERS)) and _tensor_grew(value, entry):
            raise _Promoted(i, spec_of(value))
        if (why := difference(value, entry)) is not None:
            raise self.loop.refused(f"'{self.state.names[i]}' becomes another structure in it: {why}")

    def _check_constant(self, i: int, value: Any, before: Any) -> None:
        if value is before or isinstance(value, Unset):
            return
        name = self.state.names[i]
        if isinstance(before, Unset):
            # A name that only the loop gives a value begins with zeros, where something reads it later.
            if name in self.state.needed and isinstance(value, (Variable, *NUMBERS)):
                raise _Promoted(i, spec_of(value))
        elif isinstance(value, Variable) or not _same(value, before):
            if isinstance(before, NUMBERS):
                raise _Settled(i, False)
            raise self.loop.refused(
                f"'{name}' is a {type(before).__name__} before it and a {_kind(value)} in it",
                f"give '{name}' a tensor of the same shape and type before the loop",
            )


def _is_carried(value: Any) -> bool:
    """Return whether a program carries *value* from one iteration to the next."""
    if isinstance(value, (Variable, *NUMBERS)):
        return True
    if not isinstance(value, (list, tuple, dict)):
        return False
    held = leaves(value)
    return any(isinstance(v, Variable) for v in held) and all(isinstance(v, (Variable, *NUMBERS)) for v in held)


def _tensor_grew(value: Any, own: Any) -> bool:
    """Return whether a number begins a tensor of another type or shape than numbers have."""
    if not isinstance(value, Variable) or not isinstance(own, Variable):
        return isinstance(value, float) and isinstance(own, Variable) and not own.dtype.is_differentiable
    return value.dtype is not own.dtype or value.ndim != own.ndim


def spec_of(value: Any) -> TensorSpec:
    """The spec of a variable, or of the variable that a number becomes."""
    return value.spec if isinstance(value, Variable) else number(value, None).spec


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    try:
        return type(a) is type(b) and bool(a == b)
    except (TypeError, ValueError):
        return False


def _kind(value: Any) -> str:
    return "tensor" if isinstance(value, Variable) else type(value).__name__


__all__ = ["Rows", "VariableRange", "has_unknown_length", "iterated", "length", "repeated"]
