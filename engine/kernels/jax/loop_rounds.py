"""In which round of a loop something ran: told by the text of a program, which says what stands in its loops.

A recording has the operations of each round, on any thread. Those that stand directly in a loop run once in a round, so
another round has begun where one of them runs again; what they consist of belongs to the same round. Of loops that
a compiler has made one operation of nothing is known inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from ...core.records import dataclass
from .recording import Moment
from .scopes import Path
from .shares import Share

Turns = Mapping[Path, int]
"""By the operator of a loop, which round."""


@dataclass(eq=False, slots=True)
class _Loop:
    """A loop as it ran once.

    Attributes:
        path: the operator; empty for one that nobody asks about.
        around: the loops around it, and the round of each.
        turn: the round that runs.
        count: how many rounds had operations of its block.
    """

    path: Path
    around: tuple[tuple[_Loop, int], ...]
    turn: int = 0
    count: int = 0
    _ran: set[str] = field(default_factory=set)

    def note(self, name: str, share: Share) -> int:
        """The round in which an operation runs that begins now."""
        if share.directly:
            if name in self._ran:
                self.turn += 1
                self._ran.clear()
            self._ran.add(name)
        if any(len(owner) > len(self.path) for owner in share.parts):
            self.count = self.turn + 1
        return self.turn


def turns(
    lines: Sequence[Sequence[Moment]], programs: Mapping[str, Mapping[str, Share]], loops: Mapping[Path, bool]
) -> dict[Moment, Turns]:
    """The rounds in which moments lie that lie in any.

    Args:
        programs: whose operations are, by program.
        loops: the operators with a block, and whether they go through rounds from the last one to the first.
    """
    within = dict(_assign_moments(lines, programs, loops))  # how many rounds there were is known at the end
    return {
        moment: {loop.path: loop.count - 1 - turn if loops[loop.path] else turn for loop, turn in around if loop.path}
        for moment, around in within.items()
    }


def _assign_moments(
    lines: Sequence[Sequence[Moment]], programs: Mapping[str, Mapping[str, Share]], loops: Mapping[Path, bool]
) -> Iterator[tuple[Moment, tuple[tuple[_Loop, int], ...]]]:
    running: dict[tuple[str, str], _Loop] = {}
    for moment in sorted((m for line in lines for m in line), key=lambda m: (m.start, -m.stop)):
        share = programs.get(moment.program, {}).get(moment.name, Share())
        loop = running.get((moment.program, share.within))
        around = () if loop is None else (*loop.around, (loop, loop.note(moment.name, share)))
        if around:
            yield moment, around
        if share.loops:
            path = next(iter(share.parts), ())
            running[moment.program, moment.name] = _Loop(path if path in loops else (), around)
