"""Steps that go by what an earlier backward pass of another loss has left, beside the gradients meant for them."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ...core import source, watch
from ...core.identity import identity
from ...core.listeners import handles
from ...core.records import dataclass
from ...core.source import Location
from ...eager.tensor import Leaf, Tensor

Key = tuple[int, ...]


@dataclass
class Mixed:
    """An optimizer whose first step went by one backward call, and later ones also by what another has left.

    Attributes:
        by: its class.
        loc: the line of its steps.
        left: the backward call whose gradients were left.
        own: the one that alone counted in the first step.
        other: the class of the optimizer that made a step between these calls.
        tensors: what it holds that has gradients of both.
        times: how many steps do.
    """

    by: str
    loc: Location
    left: Location
    own: Location
    other: str
    tensors: tuple[Tensor, ...]
    times: int = 0
    always: bool = False
    """Whether the first step went by both as well."""


@dataclass
class Mixing:
    """Hears which backward calls a step goes by.

    Losses of one step may be differentiated one by one, so several calls are no mistake; nor is another optimizer's
    step between them, where this has been so from the first step on. But where the first step went by one call alone,
    and the later ones by what a call from before another optimizer's step has left, too, somebody has not cleared it:
    in a GAN, what the generator's loss gives the discriminator. Where the first step goes by both as well, it is the
    same mistake if the other optimizer went by the earlier call, and everything that this one steps has gradients of
    both: a part that two losses share would get both, and what is around it only one.

    Attributes:
        found: by what an optimizer holds.
    """

    found: dict[Key, Mixed] = field(default_factory=dict)
    _calls: dict[Leaf, dict[Location, int]] = field(default_factory=dict)
    """By leaf, the backward calls that its gradient comes of, and how many steps there had been."""
    _steps: list[tuple[Key, str]] = field(default_factory=list)
    _used: list[set[Location]] = field(default_factory=list)
    """By step, the calls that it went by."""
    _first: dict[Key, set[Location]] = field(default_factory=dict)
    _call: tuple[Any, Location] | None = None

    @handles(watch.Added, watch.Filled, watch.Cleared, watch.Updating)
    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        if isinstance(event, watch.Added):
            if self._call is None or self._call[0] is not event.root:
                self._call = event.root, source.here()
            self._calls.setdefault(event.leaf, {})[self._call[1]] = len(self._steps)
        elif isinstance(event, watch.Filled):
            self._call = None
        elif isinstance(event, watch.Cleared):
            self._calls.pop(event.tensor.leaf, None)
        elif isinstance(event, watch.Updating):
            self._step(event)

    def _step(self, event: watch.Updating) -> None:
        key = tuple(map(identity, event.tensors))
        calls = {t: c for t in event.tensors if (c := self._calls.get(t.leaf))}
        first = self._first.setdefault(key, {loc for c in calls.values() for loc in c})
        if len(first) == 1:
            (own,) = first
            self._find_leftovers(event, key, calls, own)
        elif len(first) == 2:
            self._note_left(event, key, calls)
        self._steps.append((key, event.by))
        self._used.append({loc for c in calls.values() for loc in c})

    def _note_left(self, event: watch.Updating, key: Key, calls: dict[Tensor, dict[Location, int]]) -> None:
        """Note what another optimizer's call has left for all that this step updates, from the first step on."""
        spans = {tuple(sorted(call.items(), key=lambda entry: entry[1])) for call in calls.values()}
        if len(spans) != 1 or len(next(iter(spans))) != 2:
            return
        ((left, since), (own, now)) = next(iter(spans))
        between = range(since, now)
        others = [i for i in between if self._steps[i][0] != key and left in self._used[i]]
        if now == len(self._steps) and others and len(others) == len(between):
            other = self._steps[others[0]][1]
            known = Mixed(event.by, source.here(), left, own, other, tuple(calls), always=True)
            self.found.setdefault(key, known).times += 1

    def _find_leftovers(
        self, event: watch.Updating, key: Key, calls: dict[Tensor, dict[Location, int]], own: Location
    ) -> None:
        """Note what calls other than *own* have left for this step, if another optimizer made one in between."""
        for call in calls.values():
            for left, since in call.items():
                between = self._steps[since : call.get(own, 0)] if left != own else []
                if between and all(by != key for by, _ in between):
                    both = tuple(t for t, c in calls.items() if left in c and own in c)
                    known = Mixed(event.by, source.here(), left, own, between[0][1], both)
                    self.found.setdefault(key, known).times += 1
                    return
