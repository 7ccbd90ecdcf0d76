"""``while`` and ``for`` in rewritten functions: Python's own repetition, or a loop of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any

import numpy as np

from gradtool import _creation, _logic
from gradtool._structure import difference, leaves, mapped
from gradtool.engine.core import source
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.spec import TensorSpec
from gradtool.engine.ir.variable import Variable
from gradtool.static._branches import number
from gradtool.static._loops import while_loop

from .branches import State, branched, truth
from .containers import Containers
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
    """Whether there is another iteration: nothing has stopped the loop, and the test holds."""
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


class Counted:
    """``range`` of variables.

    Args:
        start, stop, step: numbers or variables of one element.
    """

    def __init__(self, start: Any, stop: Any, step: Any = 1) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    def holds(self, i: Any) -> Any:
        """Whether *i* is one of the numbers."""
        if isinstance(self.step, Variable):
            return _logic.greater_than((self.stop - i) * self.step, _creation.zeros([], i.dtype))
        return i < self.stop if self.step > 0 else i > self.stop

    def item(self, i: Any) -> Any:
        """What an iteration is given."""
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
        """Whether there is a row *i*."""
        return i < self.stop

    def item(self, i: Any) -> Any:
        """The rows of one iteration."""
        return self._entry(i, [t[i] for t in self.tensors])


def length(x: Variable) -> Any:
    """``len(x)``: a number, or a variable where the size is not known."""
    if not x.ndim:
        raise TypeError("len() of a 0-D tensor is wrong")
    if x.shape[0] >= 0:
        return x.shape[0]
    import gradtool

    return gradtool.cast(gradtool.shape(x)[0], "int64")


def has_unknown_length(value: Any) -> bool:
    """Whether *value* is a tensor that only a loop of a program goes through."""
    return isinstance(value, Variable) and value.ndim > 0 and value.shape[0] < 0


def iterated(items: Any, body: Body, state: State, stopped: Any) -> None:
    """``for item in items: body(item)``; *stopped*, if there is a ``break``, says whether one was met."""
    if has_unknown_length(items):
        items = Rows([items], lambda i, rows: rows[0])
    if isinstance(items, (Counted, Rows)):
        _counted(items, body, state, stopped)
        return
    over: Any = False
    for item in _limited(items, lambda: over):
        if isinstance(over, Variable):
            branched(_logic.logical_not(over), lambda item=item: body(item), _nothing, state)
        else:
            body(item)
        over = truth(stopped()) if stopped is not None else False
        if not isinstance(over, Variable) and over:
            return


def _nothing() -> None:
    return None


def _limited(items: Iterable[Any], over: Callable[[], Any]) -> Iterator[Any]:
    """*items*; where a tensor decides when to stop, their number must be known."""
    for item in items:
        yield item
        if isinstance(over(), Variable) and not isinstance(items, Sized):
            raise refused(
                f"a tensor decides when to leave this loop over a {type(items).__name__}, whose length is not known",
                "loop over range(n) or a list, or write the loop with while and a tensor",
            )


def _counted(items: Counted | Rows, body: Body, state: State, stopped: Any) -> None:
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
        start = list(before)
        containers = Containers(v for v in before if not isinstance(v, Variable))
        specs: dict[int, TensorSpec] = {}
        counter = self.counter
        while True:
            try:
                self._carry(goes_on, start, containers, specs, counter)
                return
            except _Promoted as promoted:
                specs[promoted.place] = promoted.spec
                self.state.set(before)
                containers.restore()

    def _carry(
        self, goes_on: Any, before: list[Any], containers: Containers, specs: dict[int, TensorSpec], counter: Any
    ) -> None:
        state = self.state
        rebound = before[: state.size]
        places = [i for i, v in enumerate(rebound) if i in specs or self._is_carried(v)]
        entries = [self._begun(rebound[i], specs.get(i)) for i in places]
        carry = [counter, *entries] if counter is not None else entries
        if not carry:
            raise self._refused("nothing that the test reads changes in the loop")

        def take(values: tuple[Any, ...]) -> None:
            if counter is not None:
                self.counter, values = values[0], values[1:]
            current = list(rebound)
            for i, value in zip(places, values, strict=True):
                current[i] = value
            containers.restore()
            state.set(current)

        def test(*values: Any) -> Any:
            take(values)
            holds = goes_on()
            return holds if isinstance(holds, Variable) else _creation.full([], holds, "bool")

        def step(*values: Any) -> list[Any]:
            take(values)
            self.body()
            after = list(state.get())
            self._check(before, after, places, containers, values[counter is not None :], specs)
            result = [after[i] for i in places]
            if counter is None:
                return result
            return [values[0] + self.step, *result]

        try:
            values = list(while_loop(test, step, carry))
        except ConversionError:
            raise
        except GradtoolError as error:
            if error.message.startswith("while_loop"):
                raise self._refused(error.message.removeprefix("while_loop: ")) from error
            raise
        take(tuple(values))
        if counter is not None:
            values = values[1:]
        final = list(rebound)
        for i, value in enumerate(rebound):
            if isinstance(value, Unset) and i not in specs:
                final[i] = Unset(value.name, "only a loop that a tensor repeats gives it a value", self.place)
        for i, value in zip(places, values, strict=True):
            final[i] = value
        state.set(final)

    def _is_carried(self, value: Any) -> bool:
        if isinstance(value, (Variable, *NUMBERS)):
            return True
        if not isinstance(value, (list, tuple, dict)):
            return False
        held = leaves(value)
        return any(isinstance(v, Variable) for v in held) and all(isinstance(v, (Variable, *NUMBERS)) for v in held)

    def _begun(self, value: Any, spec: TensorSpec | None) -> Any:
        """What the loop begins with in the place of *value*."""
        if spec is not None:
            begin = value if isinstance(value, NUMBERS) else 0
            if any(d < 0 for d in spec.shape):
                raise self._refused(
                    f"a variable becomes a tensor of the shape {list(spec.shape)} in it, which is not known before"
                )
            return _creation.full(list(spec.shape), begin, spec.dtype)
        return mapped(lambda v: v if isinstance(v, Variable) else number(v, None), value)

    def _check(
        self,
        before: list[Any],
        after: list[Any],
        places: list[int],
        containers: Containers,
        carry: tuple[Any, ...],
        specs: dict[int, TensorSpec],
    ) -> None:
        """Raise unless a program can go on with what the body left."""
        names = self.state.names
        for container, held in containers.changed():
            verb = "grows" if len(container) > len(held) else "changes"
            raise self._refused(
                f"a {type(container).__name__} {verb} in it, and programs carry tensors alone from one iteration to the next",
                "carry one tensor with a row for each step, and write rows with paddle.scatter",
            )
        for i, own in zip(places, carry, strict=True):
            if isinstance(after[i], Unset) and after[i].why:
                after[i].read()
            if isinstance(before[i], (Unset, *NUMBERS)) and _tensor_grew(after[i], own):
                raise _Promoted(i, spec_of(after[i]))
            if (why := difference(after[i], own)) is not None:
                raise self._refused(f"'{names[i]}' becomes another structure in it: {why}")
        for i in range(self.state.size):
            if i in places:
                continue
            value, start = after[i], before[i]
            if value is start or isinstance(value, Unset):
                continue
            if isinstance(start, Unset):
                self._first_set(i, value)
            elif isinstance(value, Variable) or not _same(value, start):
                raise self._refused(
                    f"'{names[i]}' is a {type(start).__name__} before it and a {_kind(value)} in it",
                    f"give '{names[i]}' a tensor of the same shape and type before the loop",
                )

    def _first_set(self, i: int, value: Any) -> None:
        """A name that only the loop gives a value: begun with zeros, where something reads it later."""
        name = self.state.names[i]
        if name not in self.state.needed:
            return
        if isinstance(value, Variable):
            raise _Promoted(i, value.spec)
        if isinstance(value, NUMBERS):
            raise _Promoted(i, spec_of(value))

    def _refused(self, why: str, hint: str | None = None) -> ConversionError:
        hint = hint or "give what the loop changes a tensor of the same shape and type before it"
        return refused(f"a tensor decides how often this loop runs, but {why}", hint, self.place)


def _tensor_grew(value: Any, own: Any) -> bool:
    """Whether a number begins a tensor of another type or shape than numbers have."""
    if not isinstance(value, Variable) or not isinstance(own, Variable):
        return isinstance(value, float) and isinstance(own, Variable) and not own.dtype.is_differentiable
    return value.dtype is not own.dtype or value.ndim != own.ndim


def spec_of(value: Any) -> TensorSpec:
    """The spec of a variable, or of the variable that a number becomes."""
    return value.spec if isinstance(value, Variable) else number(value, None).spec  # type: ignore[no-any-return]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    try:
        return type(a) is type(b) and bool(a == b)
    except (TypeError, ValueError):
        return False


def _kind(value: Any) -> str:
    return "tensor" if isinstance(value, Variable) else type(value).__name__


__all__ = ["Counted", "Rows", "has_unknown_length", "iterated", "length", "repeated"]

