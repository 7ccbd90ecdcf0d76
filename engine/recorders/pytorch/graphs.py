"""PyTorch's graph behind a tensor: its nodes and leaves, and the leaves that the user's names lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ...core.errors import LossError
from ...core.identity import identity


def freed_error() -> LossError:
    """Return the error for a graph that PyTorch has freed before anybody listened."""
    return LossError(
        "PyTorch has freed the graph of this loss: a backward pass went through it, and nobody was listening.",
        hint="ask before backward(), call backward(retain_graph=True), or compute the loss inside "
        "'with gradtool.recording():'",
    )


def nodes_in_graph(loss: Any) -> list[Any]:
    """Return the nodes behind a tensor, each once, from the loss on; those at which leaves accumulate among them."""
    found: list[Any] = [] if loss.grad_fn is None else [loss.grad_fn]
    seen = set(found)
    for node in found:  # which grows meanwhile
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                found.append(following)
    return found


def leaves_in_graph(loss: Any) -> dict[int, Any]:
    """Return the leaves behind a tensor, by their identities."""
    held = (getattr(node, "variable", None) for node in nodes_in_graph(loss))
    return {identity(t): t for t in held if t is not None}


def differentiate(loss: Any, leaves: Sequence[Any]) -> Sequence[Any]:
    """Return the gradients of *leaves*, None for one that gets none; graph, ``.grad`` and random numbers stay.

    Raises:
        RuntimeError: PyTorch's own, where it has freed the graph.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        given: Sequence[Any] = torch.autograd.grad(
            [loss], leaves, [torch.ones_like(loss)], retain_graph=True, allow_unused=True
        )
    return given


def leaves_with_names(values: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    """Return the parameters of modules among *values*, and other leaves, with their names."""
    listed: dict[int, tuple[str, Any]] = {}
    for name, value in values.items():
        if isinstance(value, torch.nn.Module):
            for path, p in value.named_parameters():
                listed.setdefault(identity(p), (f"{name}.{path}", p))
        elif isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad:
            listed.setdefault(identity(value), (name, value))
    return list(listed.values())
