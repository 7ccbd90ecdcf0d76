"""Names of a notebook that belong to the model of a loss: models of earlier cells stay out of the answer."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from typing import Any

from gradtool.engine.answers.why.of_journal import JournalReasons, NamedTensor, explain_tensors
from gradtool.engine.eager.journal import Journal
from gradtool.engine.eager.recorded_calls import leaves_behind
from gradtool.engine.eager.tape import GradNode
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle.nn import Layer


def select_related(
    names: Mapping[str, Any], loss: Tensor, nodes: Sequence[GradNode], journal: Journal | None, starts: Sequence[int]
) -> dict[str, Any]:
    """*names* without the tensors and layers that have nothing to do with *loss*.

    A tensor belongs to it if the loss was computed from it, whether gradients flow back or not, or from values that it
    left for Python in the cell of the loss. A layer belongs to it with all its parameters if one of them does.

    Args:
        nodes: the recorded calls behind the loss.
        journal: None if the loss was not watched; then only what gradients flow to belongs to it.
        starts: the journal's times at which cells began.
    """
    members = {n: tensors_of(v) for n, v in names.items() if isinstance(v, (Tensor, Layer))}
    if journal is None:
        places = {*leaves_behind([loss], nodes), *nodes}
        chosen = {n for n, tensors in members.items() if any(_stands(t) in places for t in tensors)}
    else:
        known = {t: None for tensors in members.values() for t in tensors}
        reasons = explain_tensors(journal, [loss], [NamedTensor(t, "") for t in known], [])
        since = starts[bisect(starts, journal.number(loss)) - 1]
        inside = {t for t in known if _belongs(reasons, journal.number(t), since)}
        chosen = {n for n, tensors in members.items() if not inside.isdisjoint(tensors)}
    return {n: v for n, v in names.items() if n not in members or n in chosen or v is loss}


def tensors_of(value: Tensor | Layer) -> list[Tensor]:
    """The tensor itself, or all parameters of a layer."""
    tensors = [value] if isinstance(value, Tensor) else list(value.parameters())
    return [t for t in tensors if isinstance(t, Tensor)]


def _stands(t: Tensor) -> Any:
    return t.node if t.node is not None else t._leaf


def _belongs(reasons: JournalReasons, value: int, since: int) -> bool:
    if not reasons.explain(value).verdict.is_apart:
        return True
    back = reasons.round_trip(value)
    return back is not None and back.left.time >= since
