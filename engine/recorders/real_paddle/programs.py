"""Static programs that a script runs in real Paddle: which one it was, with its values and what it was fed last.

What ``Executor.run`` is given is the whole of a static model, so nothing is recorded of what operators compute there:
the program goes to gradtool as the files that Paddle saves of it, and is computed there when values are asked for.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import paddle
from paddle.base import executor

from ..recorded.patched_names import PatchedNames
from .running import FEED, FETCHED, PROGRAM


class _Run(NamedTuple):
    """One run of a program.

    Attributes:
        size: how many operators the program had.
        scope: where its variables lie.
    """

    program: Any
    size: int
    feed: Mapping[str, Any]
    fetched: tuple[str, ...]
    scope: Any


class ProgramRuns:
    """Programs that were run."""

    def __init__(self) -> None:
        self._chosen: _Run | None = None

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Inside, runs are noted."""
        with PatchedNames([(executor.Executor, "run", self._wrap_run(executor.Executor.run))]):
            yield

    def _wrap_run(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def run(
            itself: Any, program: Any = None, feed: Any = None, fetch_list: Any = None, *args: Any, **named: Any
        ) -> Any:
            self._note(program, feed, fetch_list, named.get("scope"))
            return original(itself, program, feed, fetch_list, *args, **named)

        return run

    def _note(self, program: Any, feed: Any, fetched: Any, scope: Any) -> None:
        plain = paddle.static.default_main_program() if program is None else program
        plain = getattr(plain, "_program", plain) or plain  # of a program that is compiled
        size = len(plain.global_block().ops)
        # A startup program is fed nothing, and what is fed is the model; of several, the one with most operators.
        rank = (bool(feed), size)
        if self._chosen is None or rank >= (bool(self._chosen.feed), self._chosen.size):
            held = fetched if isinstance(fetched, (list, tuple)) else [fetched]
            names = tuple([n for n in (_name(v) for v in held) if n is not None])
            self._chosen = _Run(plain, size, _arrays(feed), names, scope or paddle.static.global_scope())

    def save(self, folder: Path) -> bool:
        """Write the program that was run into *folder*; False where none was."""
        chosen = self._chosen
        if chosen is None:
            return False
        with paddle.static.scope_guard(chosen.scope):
            paddle.static.save(chosen.program, str(folder / PROGRAM))
        np.savez(folder / FEED, **dict(chosen.feed))
        (folder / FETCHED).write_text(json.dumps(chosen.fetched), encoding="utf-8")
        return True


def _name(v: Any) -> str | None:
    """Return the file's name for something that is fetched; values of the new IR have no names there."""
    name = v.name if isinstance(v, paddle.base.framework.Variable) else v
    return name if isinstance(name, str) else None


def _arrays(feed: Any) -> dict[str, Any]:
    """Return copies of the arrays that are fed."""
    feed = feed[0] if isinstance(feed, (list, tuple)) and feed else feed
    return {name: np.array(value) for name, value in feed.items()} if isinstance(feed, Mapping) else {}
