"""Small networks of PyTorch, right and wrong, and what of PyTorch a recorder stands in for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import nn


class TwoLayers(nn.Module):
    """Two layers; *cut* detaches what comes between them, and *spare* is used by nobody."""

    def __init__(self, cut: bool = False, spare: bool = False) -> None:
        super().__init__()
        self.body = nn.Linear(4, 3)
        self.head = nn.Linear(3, 1)
        self.cut = cut
        if spare:
            self.spare = nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        h = torch.tanh(self.body(x))
        return self.head(h.detach() if self.cut else h)


def loss_of(net: Any) -> Any:
    """The loss of a network on the same numbers every time."""
    torch.manual_seed(1)
    return net(torch.randn(5, 4)).square().mean()


def steps(net: Any, count: int) -> list[float]:
    """Train a network, and return its losses."""
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    losses = []
    for _ in range(count):
        optimizer.zero_grad()
        x = torch.randn(5, 4)
        loss = nn.functional.mse_loss(net(x), x[:, :1])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


_OWNERS = (
    *(torch, torch.Tensor, torch._C.TensorBase, torch.autograd, torch.autograd.Function, torch.nn.Module),
    *(torch.nn.Parameter, torch.optim.Optimizer, torch.nn.utils, torch.utils, torch.autograd.grad_mode.no_grad),
    *(torch.autograd.grad_mode.enable_grad, torch.amp.GradScaler, torch.jit, torch.UntypedStorage),
)


def names_of_torch() -> dict[tuple[int, str], int]:
    """What stands under each name of PyTorch that a recorder may stand in for, by identity."""
    import_module("torch._dynamo")  # which changes names by itself when it is first loaded
    return {(id(owner), name): id(value) for owner in _OWNERS for name, value in vars(owner).items()}
