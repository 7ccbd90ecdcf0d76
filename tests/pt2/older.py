"""The archives of older PyTorch: ``PYTHON -m tests.pt2.older`` adds what the torch of that Python writes.

``saved/older.npz`` has for each version one network as ``torch.export.save`` wrote it, and its state as ``torch.save``
did; what it was fed, what came out, the gradients of the mean squared distance to a label and what became of its
buffers are the same for all of them.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

SAVED = Path(__file__).parent / "saved" / "older.npz"


class Net(nn.Module):
    """Layers of which versions of the schema tell differently: buffers, constants, frozen parameters, views."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3)
        self.norm = nn.BatchNorm2d(3)
        self.head = nn.Linear(12, 4)
        self.scale = nn.Parameter(torch.full((1,), 0.5), requires_grad=False)
        self.register_buffer("shift", torch.tensor([0.25]))

    def forward(self, x: Any) -> Any:
        h = torch.nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2).flatten(1)
        return torch.softmax(self.head(h) * self.scale + self.shift + torch.tensor([1.0, 2.0, 0.5, 0.0]), dim=-1)


def fill(model: nn.Module) -> None:
    """The same parameters in every version."""
    start = 0
    for p in model.parameters():
        if p.requires_grad:
            with torch.no_grad():
                p.copy_(torch.arange(start, start + p.numel()).reshape(p.shape).float().mul(0.7).cos() * 0.5)
            start += p.numel()


def main() -> None:
    """Add the archive of the torch that runs."""
    model = Net()
    fill(model)
    x = torch.arange(2 * 6 * 6).reshape(2, 1, 6, 6).float().mul(0.3).sin()
    label = torch.eye(4)[:2]
    recorded = dict(np.load(SAVED)) if SAVED.exists() else {}
    version = torch.__version__.partition("+")[0]
    state = io.BytesIO()
    torch.save(model.state_dict(), state)
    recorded[f"{version}/state"] = np.frombuffer(state.getvalue(), "uint8")
    archive = io.BytesIO()
    torch.export.save(torch.export.export(model, (x,)), archive)
    recorded[f"{version}/model"] = np.frombuffer(archive.getvalue(), "uint8")
    loss = ((model(x) - label) ** 2).mean()
    loss.backward()
    told = {"x": x, "label": label, "loss": loss}
    told |= {f"gradient/{name}": p.grad for name, p in model.named_parameters() if p.grad is not None}
    told |= {f"after/{name}": b for name, b in model.named_buffers()}
    for name, value in told.items():
        array = value.detach().numpy()
        if name in recorded:
            np.testing.assert_allclose(array, recorded[name], rtol=1e-4, atol=1e-6)
        recorded[name] = array
    np.savez_compressed(SAVED, **recorded)


if __name__ == "__main__":
    main()
