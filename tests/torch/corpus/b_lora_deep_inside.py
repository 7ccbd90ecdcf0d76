"""Twelve modules around an adapter: its parameters have their whole paths."""

# expect: DETACHED trainer.model.inner.inner.inner.inner.inner.inner.inner.inner.inner.inner.inner.inner.lora_A.default.weight at line 33

import torch
from torch import nn


class Wrapped(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


class Adapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.base_layer = nn.Linear(4, 4)
        self.lora_A = nn.ModuleDict({"default": nn.Linear(4, 2, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(2, 4, bias=False)})
        self.base_layer.requires_grad_(False)

    def forward(self, x):
        return self.base_layer(x) + self.change(x)

    def change(self, x):
        lora_A, lora_B = self.lora_A["default"], self.lora_B["default"]
        h = lora_A(x)
        return lora_B(
            h.detach()
        )


class Trainer:
    def __init__(self, model):
        self.model = model
        trained = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.SGD(trained, lr=0.1)

    def step(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss


torch.manual_seed(0)
model = Adapter()
for _ in range(12):
    model = Wrapped(model)
trainer = Trainer(model)
loss = trainer.step(torch.randn(3, 4))
