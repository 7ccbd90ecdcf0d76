"""Keeping a journal of a whole program of dynamic mode, its optimizers included."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterator
from typing import Any

from gradtool.engine import source
from gradtool.engine.eager import watching
from gradtool.engine.eager.journal import Journal, Listing
from gradtool.engine.eager.tensor import Tensor
from gradtool.optimizer import _base, _steps

from . import _creation
from ._remembered import as_written


@contextlib.contextmanager
def keeping_journal(spared: Collection[tuple[str, int]] = ()) -> Iterator[Journal]:
    """Note inside the ``with`` block what :func:`gradtool.why` needs beyond the tape, and yield the journal.

    Args:
        spared: lines (file and number) at which nothing cuts gradients off, to see what would be without the cut.

    >>> import gradtool as paddle
    >>> from gradtool._journal import keeping_journal
    >>> with keeping_journal() as journal:
    ...     x = paddle.to_tensor(2.0, stop_gradient=False)
    ...     y = (x * x).detach()
    >>> [call.type for call in journal.calls]
    ['elementwise_mul', 'detach']
    """
    if (known := watching.current()) is not None:
        yield known
        return
    with watching.keeping(spared) as journal, as_written(), contextlib.ExitStack() as stack:
        for owner, name, make in (
            (_base.Optimizer, "__init__", _listed),
            (_steps.Steps, "_stepped", _stepped),
            (_creation, "_made", _copied),
        ):
            usual = getattr(owner, name)
            stack.callback(setattr, owner, name, usual)
            setattr(owner, name, make(journal, usual))
        yield journal


def _listed(journal: Journal, usual: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(usual)
    def init(self: Any, *args: Any, **named: Any) -> None:
        usual(self, *args, **named)
        leaves = [p for p in self._parameters or () if isinstance(p, Tensor)]
        if leaves:
            journal.listings.append(Listing(frozenset(map(journal.number, leaves)), source.here()))

    return init


def _stepped(journal: Journal, usual: Callable[..., None]) -> Callable[..., None]:
    def stepped(self: Any, pairs: list[tuple[Any, Any]]) -> None:
        journal.stepped(self._parameters or [p for p, _ in pairs])
        journal.silent += 1
        try:
            usual(self, pairs)
        finally:
            journal.silent -= 1

    return stepped


def _copied(journal: Journal, usual: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """``to_tensor`` of tensors: their values without the way back."""

    def made(data: Any, *args: Any) -> Tensor:
        found = usual(data, *args)
        given = [v for v in (data if isinstance(data, (list, tuple)) else (data,)) if isinstance(v, Tensor)]
        if given:
            journal.copied("to_tensor", given, found)
        return found

    return made
