"""Observations of the runs of a compiled block: a row for each run, and how many there were.

Who traces a plan says by :func:`set_look` what to look at in the blocks in it, and takes what came of it behind each
operator with a block by :func:`take`. Who looks at a run of a block does so for the operators with a block in it, and
has that as a part of what the run gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import jax
import numpy as np

from ...core.scoped_variables import set_inside
from ...core.summary import Uneventful
from ...core.watch import Entered, Exited
from .packing import is_here

Seen = list[tuple[int, Any]]


class RoundLook(Protocol):
    """Observation of one run of a block; a new one each time that it is traced."""

    def __call__(self, instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Called with each instruction of the block."""

    def collect(self, seen: Seen) -> Any:
        """Return what the run gives: arrays in any nesting, from what the instructions gave."""


class Looked:
    """Observations of the runs of a block.

    Attributes:
        count: how many there were; of a branch, whether it was taken.
        each: the arrays, with a row for each run; of a branch as they are. Those of them that stay where they are
            (:class:`~.packing.UnmovedArray`) stay there.
        body: whose runs they are (``executor/body.py``).
        look: what looked.
        is_loop: whether there are rows.
    """

    __slots__ = ("_nesting", "body", "count", "each", "is_loop", "look")

    def __init__(self, count: Any, each: Sequence[Any], body: Any, look: Any, nesting: Any, is_loop: bool) -> None:
        self.count = count
        self.each = each
        self.body = body
        self.look = look
        self.is_loop = is_loop
        self._nesting = nesting

    @property
    def stack(self) -> Any:
        """Results of the runs, each array of it with a row for each run."""
        return jax.tree_util.tree_unflatten(self._nesting, self.each)

    def of(self, part: Any) -> Looked:
        """The same with a part of what the runs gave."""
        leaves, nesting = jax.tree_util.tree_flatten(part, is_leaf=is_here)
        return Looked(self.count, leaves, self.body, self.look, nesting, self.is_loop)

    def runs(self) -> Iterator[tuple[int, Any]]:
        """Each run by its number, in the order of the runs, with what it gave; once the function has run."""
        count = int(np.asarray(self.count))
        each: list[Any] = [a if is_here(a) else np.asarray(a) for a in self.each] if count else []
        for number in reversed(range(count)) if self.body.backwards else range(count):
            leaves = [a.row(number) if is_here(a) else a[number] for a in each] if self.is_loop else each
            yield number, jax.tree_util.tree_unflatten(self._nesting, leaves)


class Maybe:
    """Stands for a summary that is told where a flag says so."""

    __slots__ = ("flag", "summary")

    def __init__(self, flag: int, summary: Any) -> None:
        self.flag = flag
        self.summary = summary


class QuietRounds:
    """Stands for the runs of a block in which nothing happened.

    Attributes:
        flag: which of the flags is what came of them (:class:`Looked`): the flags of each.
        told: what is told of each.
    """

    __slots__ = ("flag", "told")

    def __init__(self, flag: int, told: Sequence[Any]) -> None:
        self.flag = flag
        self.told = told


class Lull:
    """Instructions that were judged, as a compiled function returns them.

    Attributes:
        wrong: by chunk, whether something is wrong with them.
        flags: what is known once it has run, packed: what is there, and how often blocks ran, with the flags of each
            run; None where nothing depends on that.
        story: what is to be told if nothing is wrong.
    """

    __slots__ = ("flags", "story", "wrong")

    def __init__(self, wrong: Any, flags: Any, story: LullStory) -> None:
        self.wrong = wrong
        self.flags = flags
        self.story = story

    def event(self) -> Uneventful:
        """One event for all of it."""
        return self.story.event(() if self.flags is None else self.flags.unpack())

    def unpack(self) -> Seen:
        """As what is looked at is read: under the number of its first instruction."""
        return [(self.story.start, self)]


class LullStory:
    """Report of a lull; the same flags give the same event.

    Args:
        told: of each operator, with :class:`Maybe` and :class:`QuietRounds` where that depends on flags.
        start: the number of the first instruction.
    """

    KEPT = 64

    def __init__(self, told: Sequence[Any], start: int) -> None:
        self.start = start
        self._told = tuple(told)
        self._events: dict[tuple[bytes, ...], Uneventful] = {}

    def event(self, flags: Sequence[Any]) -> Uneventful:
        """The event."""
        key = tuple([np.asarray(leaf).tobytes() for leaf in jax.tree_util.tree_leaves(flags)])
        event = self._events.get(key)
        if event is None:
            if len(self._events) >= self.KEPT:
                self._events.clear()
            event = self._events[key] = Uneventful([*_narrate(self._told, flags)])
        return event


def _narrate(story: Sequence[Any], flags: Sequence[Any]) -> Iterator[Any]:
    """Yield the events; blocks are nested as deep as the program was written."""

    def there(values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([(v.summary if flags[v.flag] else None) if isinstance(v, Maybe) else v for v in values])

    for told in story:
        if not isinstance(told, QuietRounds):
            index, op, read, gave = told
            yield index, op, there(read), there(gave)
            continue
        looked = flags[told.flag]
        for number, inner in looked.runs():
            yield Entered(looked.body.op, number)
            yield from _narrate(told.told, inner)
            yield Exited()


_factory: ContextVar[Callable[[Any], RoundLook] | None] = ContextVar("gradtool_jax_round_look", default=None)
_taken: ContextVar[list[Looked] | None] = ContextVar("gradtool_jax_looked", default=None)

factory = _factory.get
"""Makes of a body what looks at one run of it; None where nobody looks."""


@contextmanager
def set_look(look: Callable[[Any], RoundLook]) -> Iterator[None]:
    """Look at runs of blocks inside, each with what *look* makes of its body."""
    with set_inside(_factory, look), _collect():
        yield


def _collect() -> AbstractContextManager[list[Looked]]:
    return set_inside(_taken, [])


def tell(looked: Looked) -> None:
    """The runs of a block are over."""
    noted = _taken.get()
    if noted is not None:
        noted.append(looked)


def take() -> Looked | None:
    """Take the observation of the block of the operator that was traced last; None where it has none."""
    noted = _taken.get()
    return noted.pop() if noted else None


def register() -> None:
    """Tell JAX; once in a process."""
    add = jax.tree_util.register_pytree_node
    add(
        Looked,
        lambda v: ((v.count, tuple(v.each)), (v.body, v.look, v._nesting, v.is_loop)),
        lambda rest, parts: Looked(*parts, *rest),
    )
    add(Lull, lambda v: ((v.wrong, v.flags), v.story), lambda story, parts: Lull(*parts, story))
