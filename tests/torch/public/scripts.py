"""Scripts that train a public model for two steps; nothing is downloaded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PublicModel:
    """A public model in a training script.

    Attributes:
        name: the package and what the model is called there.
        modules: what the script imports; a model whose modules are not installed is not run.
        text: the script.
    """

    name: str
    modules: tuple[str, ...]
    text: str


TRAINING = """\
torch.manual_seed(0)
{setup}
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
net.train()
for step in range(2):
    opt.zero_grad()
    loss = {loss}
    loss.backward()
    opt.step()
    print(step, loss.item())
"""
"""What each script does."""


def write_script(name: str, imports: str, setup: str, loss: str) -> PublicModel:
    """Return the script of a model.

    Args:
        imports: lines that import what *setup* needs, torch and its functions apart.
        setup: statements that make ``net`` and its data.
        loss: an expression of the loss of one step.
    """
    lines = [line.strip() for line in imports.split(";") if line.strip()]
    modules = tuple(dict.fromkeys(line.split()[1] for line in lines))
    head = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F", *lines]
    statements = "\n".join(line.strip() for line in setup.strip().splitlines())
    return PublicModel(name, modules, "\n".join(head) + "\n\n" + TRAINING.format(setup=statements, loss=loss))


IMAGES = "x, y = torch.randn(2, 3, {size}, {size}), torch.randint(0, 10, (2,))"
SCORED = "F.cross_entropy(net(x), y)"
