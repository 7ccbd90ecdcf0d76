"""Steps that are taken in evaluation mode after others were taken in training mode."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ...core import source, watch
from ...core.identity import identity
from ...core.listeners import handles
from ...core.records import dataclass
from ...core.source import Location

_DROPPING = frozenset({"dropout", "dropout_nd", "alpha_dropout", "rrelu"})
_NORMALISING = frozenset({"batch_norm", "sync_batch_norm"})
MASKS = frozenset({"aten.bernoulli", "native_dropout"})
"""What PyTorch draws where it drops: nothing tells the product from another."""


_SWITCHED = {
    "native_batch_norm": "training",
    "aten.batch_norm": "training",
    "aten.dropout": "train",
    "aten.feature_dropout": "train",
    "aten.alpha_dropout": "train",
}
"""PyTorch's operators that are called in both modes, and the argument that says which; those with a prefix stay whole
under ``inference_mode``."""


@dataclass
class Evaluated:
    """An optimizer with steps whose gradients come from evaluation mode.

    Attributes:
        by: its class.
        before: how many of its steps were taken in training mode before.
        steps: how many were taken in evaluation mode.
        switched: the line that switched to it.
        loc: the line of the first such step.
    """

    by: str
    before: int
    steps: int
    switched: Location
    loc: Location


@dataclass
class Modes:
    """Hears in which mode gradients are computed that an optimizer goes by.

    Only a switch of all that the optimizer holds counts: who keeps the statistics of batch norm as they are switches
    these layers alone.

    Attributes:
        found: by what an optimizer holds.
    """

    found: dict[tuple[int, ...], Evaluated] = field(default_factory=dict)
    _switched: dict[int, Location | None] = field(default_factory=dict)
    """By parameter, the line that switched its layers to evaluation; None since they are back."""
    _moded: int = 0
    """How many operators were differentiated until now that worked as in training and can work otherwise."""
    _seen: dict[tuple[int, ...], tuple[int, int]] = field(default_factory=dict)
    """By what an optimizer holds, that number at its last step, and how many steps had more of them."""

    @handles(watch.Pulled, watch.Computed)
    def step(self, event: Any) -> None:
        """Hear of a step."""
        if type(event) is watch.Pulled:
            self._moded += trains(event.node.op.type, event.node.attrs)
        elif type(event) is watch.Computed:
            self._moded += event.op.type in MASKS

    @handles(watch.Switched, watch.Updating)
    def __call__(self, event: Any) -> None:
        """Hear of a tensor; nothing is spared."""
        if isinstance(event, watch.Switched):
            where = None if event.training else source.here()
            self._switched.update((identity(t), where) for t in event.tensors)
        elif isinstance(event, watch.Updating):
            self._update(event)

    def _update(self, event: watch.Updating) -> None:
        key = tuple(map(identity, event.tensors))
        last, steps = self._seen.get(key, (0, 0))
        if self._moded > last:
            self._seen[key] = self._moded, steps + 1
            return
        lines = [self._switched.get(identity(t)) for t in event.tensors if t.grad is not None]
        if not steps or not lines or lines[0] is None or None in lines:
            return
        known = self.found.setdefault(key, Evaluated(event.by, steps, 0, lines[0], source.here()))
        known.steps += 1


def trains(kind: str, attrs: Any) -> bool:
    """Return whether an operator works as in training, and would not in evaluation."""
    if kind in _DROPPING:
        return not attrs.get("is_test", False)
    if kind in _NORMALISING:
        return not (attrs.get("is_test", False) or attrs.get("use_global_stats", False))
    if kind in _SWITCHED:
        return bool(attrs.get(_SWITCHED[kind], True))
    return bool(kind == "rnn" and attrs.get("dropout_prob", 0) > 0 and not attrs.get("is_test", False))
