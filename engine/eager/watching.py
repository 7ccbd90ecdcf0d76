"""Keeping a journal: functions that stand in for the usual ones and note what they do; outside, nothing is slower."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from .. import source
from ..ops.opdef import OpDef
from . import backward as sweeping
from . import pylayer, recipe
from .journal import Event, Journal
from .mode import enable_grad, grad_enabled
from .parameter import TensorParameter
from .tensor import Leaf, Tensor

_current: Journal | None = None


def current() -> Journal | None:
    """The journal that is being kept, or None."""
    return _current


@contextlib.contextmanager
def keeping(spared: Collection[tuple[str, int]] = ()) -> Iterator[Journal]:
    """Keep a journal inside the ``with`` block; one at a time, and for the whole process.

    Args:
        spared: see :class:`Journal`.
    """
    global _current
    if _current is not None:
        yield _current
        return
    journal = _current = Journal(spared)
    with contextlib.ExitStack() as stack:
        stack.callback(_forget)
        for owner, name, make in _STAND_INS:
            usual = getattr(owner, name) if not isinstance(owner, type) else owner.__dict__[name]
            stack.callback(setattr, owner, name, usual)
            setattr(owner, name, make(journal, usual))
        usual_recipe = recipe.Recipe.__init__
        stack.callback(setattr, recipe.Recipe, "__init__", usual_recipe)
        setattr(recipe.Recipe, "__init__", _new_recipe(journal, usual_recipe))  # noqa: B010 (typed as a method)
        before = list(recipe.recipes.values())
        for known in before:
            known.record = _noting(journal, known.record)
        stack.callback(_restore)
        yield journal


def _forget() -> None:
    global _current
    _current = None


def _restore() -> None:
    for known in recipe.recipes.values():
        usual = getattr(known.record, "usual", None)
        if usual is not None:
            known.record = usual


def _noting(journal: Journal, record: Callable[..., Any]) -> Callable[..., Any]:
    def noted(call: Any, *operands: Any) -> Any:
        if journal.spared and not grad_enabled() and journal.spares():
            with enable_grad():
                result = record(call, *operands)
        else:
            result = record(call, *operands)
        journal.call(call, operands, result)
        return result

    noted.usual = record  # type: ignore[attr-defined]
    return noted


def _new_recipe(journal: Journal, usual: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, op: OpDef, lists: bool = False) -> None:
        usual(self, op, lists)
        if not lists:
            self.record = _noting(journal, self.record)

    return init


def _made(journal: Journal, usual: Callable[..., None]) -> Callable[..., None]:
    def init(self: Tensor, *args: Any, **named: Any) -> None:
        usual(self, *args, **named)
        if self.node is None and not journal.silent:
            journal._give(self)

    return init


def _detach(journal: Journal, usual: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def detach(self: Tensor) -> Tensor:
        if journal.spares():
            return self.clone()  # type: ignore[no-any-return]
        made = usual(self)
        journal.copied("detach", [self], made)
        return made

    return detach


def _leaving(how: str) -> Callable[[Journal, Callable[..., Any]], Callable[..., Any]]:
    def make(journal: Journal, usual: Callable[..., Any]) -> Callable[..., Any]:
        def leave(self: Tensor, *args: Any, **named: Any) -> Any:
            journal.event("left", journal.number(self), how)
            return usual(self, *args, **named)

        leave.__doc__ = usual.__doc__
        return leave

    return make


def _write(journal: Journal, usual: Callable[..., None]) -> Callable[..., None]:
    def write(self: Tensor, array: Any, writer: str) -> None:
        usual(self, array, writer)
        journal.written(self, array, writer)

    return write


def _set_value(journal: Journal, usual: Callable[..., None]) -> Callable[..., None]:
    def set_value(self: Tensor, value: Any) -> None:
        usual(self, value)
        if isinstance(value, Tensor) and not journal.silent:
            site = source.site(sys._getframe(1))
            left = Event("left", journal.tick(), "set_value", site, journal.number(self))
            journal.events.setdefault(journal.number(value), []).append(left)

    return set_value


def _grad(journal: Journal, usual: Callable[..., list[Tensor | None]]) -> Callable[..., list[Tensor | None]]:
    """``paddle.grad``: what it gives is a constant, unless it is recorded itself."""

    def grad(outputs: Sequence[Tensor], *args: Any, **named: Any) -> list[Tensor | None]:
        found = usual(outputs, *args, **named)
        for t in found:
            if t is not None and t.node is None:
                journal.copied("grad", outputs, t)
        return found

    return grad


def _setter(journal: Journal, usual: Any) -> Any:
    def stop(self: Tensor, value: bool) -> None:
        if value and journal.spares():
            return
        if value and not self._stop and self.node is None:
            journal.event("stopped", journal.number(self), "stop_gradient")
        usual.fset(self, value)

    return usual.setter(stop)


def _trainable(journal: Journal, usual: Any) -> Any:
    def set_trainable(self: TensorParameter, value: bool) -> None:
        if not value and journal.spares():
            return
        if not value and not self._stop:
            journal.event("stopped", journal.number(self), "trainable")
        usual.fset(self, value)

    return usual.setter(set_trainable)


def _grad_setter(journal: Journal, usual: Any) -> Any:
    def set_grad(self: Tensor, value: Tensor | None) -> None:
        usual.fset(self, value)
        if value is None and self.node is None:
            journal.event("cleared", journal.number(self), "grad = None")

    return usual.setter(set_grad)


def _clear(journal: Journal, usual: Callable[..., None]) -> Callable[..., None]:
    def clear_gradient(self: Tensor, set_to_zero: bool = True) -> None:
        usual(self, set_to_zero)
        if self.node is None:
            journal.event("cleared", journal.number(self), "clear_grad")

    return clear_gradient


def _store(journal: Journal, usual: Callable[..., None]) -> Callable[..., None]:
    def store(leaf: Leaf, gradient: Any) -> None:
        usual(leaf, gradient)
        number = journal._leaves.get(leaf)
        if number is not None:
            journal.event("added", number, "backward")

    return store


def _layer(journal: Journal, usual: Callable[..., None]) -> Callable[..., None]:
    def record(cls: Any, ctx: Any, inputs: list[Tensor], wrt: list[Any], outputs: list[Tensor]) -> None:
        reads = [journal.number(t) for t in inputs]
        usual(cls, ctx, inputs, wrt, outputs)
        journal.layer(f"PyLayer_{cls.__name__}", inputs, reads, outputs)

    return record


_STAND_INS: tuple[tuple[Any, str, Callable[[Journal, Any], Any]], ...] = (
    (Tensor, "__init__", _made),
    (Tensor, "detach", _detach),
    (Tensor, "write", _write),
    (Tensor, "set_value", _set_value),
    (Tensor, "stop_gradient", _setter),
    (Tensor, "grad", _grad_setter),
    (Tensor, "clear_gradient", _clear),
    (TensorParameter, "trainable", _trainable),
    *((Tensor, name, _leaving(name)) for name in ("numpy", "__array__", "item", "tolist", "__float__", "__int__")),
    (sweeping, "store", _store),
    (sweeping, "grad", _grad),
    (pylayer, "_record", _layer),
)
