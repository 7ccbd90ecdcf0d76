"""Names of operators and tensors in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np

from ..answers.birth import Birth
from ..answers.events import ALL, BlockRun, Inside
from ..core import source
from ..core.records import dataclass
from ..core.vocabulary import title
from ..ir import blocks
from ..ir.operator import Operator


@dataclass
class Names:
    """Names of operators and tensors in a model.

    Attributes:
        operators: by operator of a program, by recorded call (its gradient operator), by key of a recorded call.
        written: by the same: slot -> the name of what is written there.
        tensors: names for people, by the names that a run knows.
        arrays: the arrays of tensors that have a name.
        layers: by the keys of *operators*, the layer that an operator belongs to, as the model names it.
    """

    operators: dict[Any, str] = field(default_factory=dict)
    written: dict[Any, dict[str, str]] = field(default_factory=dict)
    tensors: dict[str, str] = field(default_factory=dict)
    arrays: list[tuple[Any, str]] = field(default_factory=list)
    layers: dict[Any, str] = field(default_factory=dict)

    def operator(self, birth: Birth) -> str:
        """``sqrt_grad.0``, or the type where the operator is in no graph that is left."""
        name = None if isinstance(birth.origin, np.ndarray) else self.operators.get(birth.origin)
        return name if name is not None and self._is(birth, name) else birth.type

    def layer(self, origin: Any, type: str) -> str:
        """The layer of an operator, ``model.layers.3.attn``; empty where none is known.

        Args:
            origin: its key.
            type: what it is: a call that was not recorded may have the key of another one.
        """
        if isinstance(origin, np.ndarray) or (isinstance(origin, int) and not self._belongs(origin, type)):
            return ""
        return self.layers.get(origin, "")

    def _belongs(self, origin: Any, type: str) -> bool:
        return self.operators.get(origin, "").rpartition(".")[0] == title(type)

    def _is(self, birth: Birth, name: str) -> bool:
        """Return whether a call that was not recorded does not merely have the key of another one."""
        return not isinstance(birth.origin, int) or name.rpartition(".")[0] == title(birth.type)

    def tensor(self, birth: Birth) -> str:
        """The name of the bad tensor, or its slot."""
        if isinstance(birth.origin, np.ndarray):
            label = next((name for array, name in self.arrays if array is birth.origin), None)
            return label or birth.name or birth.slot
        if not isinstance(birth.origin, Operator) and self._is(birth, self.operators.get(birth.origin, "")):
            label = self.written.get(birth.origin, {}).get(birth.slot)
            if label is not None:
                return label
        return self.display(birth.name) if birth.name is not None else birth.slot

    def display(self, name: str) -> str:
        """A tensor's or gradient's name in the words of the model."""
        base, at, rest = name.partition("@")
        return self.tensors.get(base, base) + at + rest

    def runs(self, inside: Inside) -> list[tuple[str, int | None]]:
        """The branches and loops that something happened in, with the iteration of each loop, from 1."""
        steps = []
        for op, number in inside:
            forward, loops = blocks.run_by(op)
            steps.append((self.operators.get(forward, forward.type), number + 1 if loops else None))
        return steps

    def describe_place(self, inside: Inside) -> str:
        """``iteration 3 of while.0 · branch conditional_block.1``; empty outside of all."""
        told = [_run(name, run, n) for run, (name, n) in zip(inside, self.runs(inside), strict=True)]
        return " · ".join(told)


def _run(name: str, run: BlockRun, iteration: int | None) -> str:
    if iteration is None:
        return f"branch {name}"
    return f"iterations of {name}" if run.number == ALL else f"iteration {iteration} of {name}"


def runs_data(runs: list[tuple[str, int | None]]) -> list[dict[str, Any]]:
    """Branches and iterations for JSON."""
    return [{"operator": name, "iteration": n} for name, n in runs]


def line_of(loc: source.Location) -> Mapping[str, Any] | None:
    """File and line of a location for JSON; None where it is not known."""
    return source.short(loc).data()


def place(loc: source.Location) -> Mapping[str, Any] | None:
    """File, line and text of a location for JSON; None where it is not known."""
    line = line_of(loc)
    if line is None:
        return None
    return {**line, "text": source.text(*loc[0])}
