"""Answers of the graph that PyTorch holds, where nobody listened to what made it.

The graph says which leaves gradients come to. It has no lines and no values, and nothing of what was left out of it:
detached copies, calls under ``no_grad`` and unused layers look alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...answers.numbers import Numbers
from ...answers.saved import Buffer, RunOperation, SavedStory, bytes_alive
from ...answers.why.answers import Answer
from ...answers.why.verdicts import Aspect, Verdict
from ...core.identity import identity
from ...core.source import NOWHERE
from ...view.graph import BACKWARD
from .graphs import differentiate, freed_error, leaves_in_graph, leaves_with_names, nodes_in_graph

LISTEN = "compute the loss inside 'with gradtool.recording() as run:' and ask run.why(): it names the line"

_NO_GRAPH = "the loss has no graph: everything that it is computed from was detached, or computed under no_grad"
_NO_WAY = (
    "no way leads to it in the graph that PyTorch holds",
    "nobody listened while the loss was computed: unused, detached and computed under no_grad look alike in a graph",
)
_NOTHING_GIVEN = (
    "the graph leads to it, and a node on the way gives no gradient",
    "nobody listened while the loss was computed: which node it is, and its line, are not known",
)
_ZERO = (
    "the graph leads to it, and what comes is zero",
    "nobody listened while the loss was computed: the values that make it zero are not known",
)
_FREED = "PyTorch has freed the graph: what .grad holds now is shown"


def explain_by_graph(loss: Any, names: Mapping[str, Any], asked: Sequence[Any] | None = None) -> list[Answer]:
    """Return what the graph behind a loss says of each leaf.

    Args:
        loss: PyTorch's tensor.
        names: the user's, by which leaves are called.
        asked: the leaves that are asked about; None for those in the graph and those that have names.
    """
    behind = leaves_in_graph(loss)
    named = {identity(t): (name, t) for name, t in leaves_with_names(names)}
    unnamed = {key: (f"leaf.{i}", t) for i, (key, t) in enumerate(behind.items()) if key not in named}
    known = {**named, **unnamed}
    given, is_freed = _gradients(loss, list(behind.values()))
    chosen = list(known.values()) if asked is None else [known.get(identity(t), ("tensor", t)) for t in asked]
    return [_answer(name, t, identity(t) in behind, given.get(identity(t)), is_freed, loss) for name, t in chosen]


def _gradients(loss: Any, leaves: Sequence[Any]) -> tuple[dict[int, Any], bool]:
    """Return the gradients of *leaves* by their identities, and whether these are what ``.grad`` holds."""
    if loss.grad_fn is None:
        return {}, False
    try:
        given = differentiate(loss, leaves)
    except RuntimeError:
        return {identity(t): t.grad for t in leaves}, True
    return {identity(t): g for t, g in zip(leaves, given, strict=True)}, False


def _answer(name: str, t: Any, is_behind: bool, gradient: Any, is_freed: bool, loss: Any) -> Answer:
    values = None if gradient is None else np.asarray(gradient.detach().cpu().double().numpy())
    verdict, said = _verdict(t, is_behind, values, loss)
    is_unseen = verdict.has(Aspect.UNSEEN)
    return Answer(
        name=name,
        tensor=name,
        shape=tuple(t.shape),
        dtype=str(t.dtype).removeprefix("torch."),
        is_parameter=isinstance(t, torch.nn.Parameter),
        verdict=verdict,
        label=verdict.text,
        finding=verdict.is_finding,
        said=(*said, *([_FREED] if is_freed and values is not None else [])),
        path=("loss", name) if is_behind else (),
        gradient=None if values is None else Numbers.measure(values),
        advice=LISTEN if is_unseen else "",
    )


def _verdict(t: Any, is_behind: bool, values: Any, loss: Any) -> tuple[Verdict, Sequence[str]]:
    """Return the verdict, and the sentences that explain it."""
    if not t.requires_grad:
        return Verdict.FROZEN, ()
    if not is_behind:
        return Verdict.UNSEEN, (_NO_GRAPH,) if loss.grad_fn is None else _NO_WAY
    if values is None:
        return Verdict.UNSEEN, _NOTHING_GIVEN
    if not np.isfinite(values).all():
        return Verdict.NOT_FINITE, ("gradtool.nan(function that computes the loss) finds where it is born",)
    return (Verdict.OK, ()) if values.any() else (Verdict.UNSEEN_ZERO, _ZERO)


def measure_saved(loss: Any, names: Mapping[str, Any]) -> SavedStory:
    """Return the storages that the graph behind a loss keeps, each once, with the nodes that read them.

    What made them is not known. Leaves of the graph, and what a name of the user's leads to, are held anyway.

    Raises:
        LossError: PyTorch has freed the graph.
    """
    behind = leaves_in_graph(loss)
    ours = [*behind.values(), *(t for _, t in leaves_with_names(names)), *_tensors_named(names)]
    held = {_storage(t): t for t in ours}
    shown = {identity(t): name for name, t in leaves_with_names(names)}
    story = SavedStory([], [], [])
    buffers: dict[Any, Buffer] = {}
    for node in nodes_in_graph(loss):
        operation = RunOperation(node.name().rpartition("::")[2], BACKWARD, NOWHERE, None)
        story.operations.append(operation)
        for slot, t in _iterate_saved(node):
            key = _storage(t)
            if key not in buffers:
                size = t.untyped_storage().nbytes()
                name = shown.get(identity(held.get(key)))
                kind = str(t.dtype).removeprefix("torch.")
                buffer = Buffer(len(buffers), size, tuple(t.shape), kind, None, slot, name, held=key in held)
                buffers[key] = buffer
            buffers[key].readers.append(operation)
            buffers[key].last = len(story.operations) - 1
    story.buffers = sorted(buffers.values(), key=lambda b: (not b.held, b.number))
    story.timeline = bytes_alive(story.kept, len(story.operations))
    return story


def _iterate_saved(node: Any) -> Iterator[tuple[str, Any]]:
    """Return the tensors that a node keeps, with what it calls them.

    Raises:
        LossError: PyTorch has freed them.
    """
    try:
        if hasattr(node, "saved_tensors"):
            yield from (("saved", t) for t in node.saved_tensors if isinstance(t, torch.Tensor))
        for attribute in dir(node):
            if not attribute.startswith("_saved_"):
                continue
            value = getattr(node, attribute)
            for t in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(t, torch.Tensor):
                    yield attribute.removeprefix("_saved_"), t
    except RuntimeError:
        raise freed_error() from None


def _storage(t: Any) -> Any:
    return t.untyped_storage()._cdata


def _tensors_named(names: Mapping[str, Any]) -> Iterator[Any]:
    for value in names.values():
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, torch.nn.Module):
            yield from value.buffers()
