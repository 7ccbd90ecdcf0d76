"""Adapters beside frozen layers, after minLoRA."""
import math

import torch
import torch.nn as nn

torch.manual_seed(0)


class LoRALinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.lora_A = nn.Parameter(torch.zeros(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scaling = alpha / r
        self.dropout = nn.Dropout(0.05)
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def forward(self, x):
        return self.base(x) + (self.dropout(x) @ self.lora_A.T @ self.lora_B.T) * self.scaling


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 12)
        self.layers = nn.ModuleList([nn.ModuleDict({"up": nn.Linear(12, 24), "down": nn.Linear(24, 12)}) for _ in range(2)])
        self.norm = nn.LayerNorm(12)
        self.head = nn.Linear(12, 3)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = x + layer["down"](torch.nn.functional.gelu(layer["up"](x)))
        return self.head(self.norm(x).mean(1))


model = Model()
for p in model.parameters():
    p.requires_grad = False
for layer in model.layers:
    layer["up"], layer["down"] = LoRALinear(layer["up"]), LoRALinear(layer["down"])
for p in model.head.parameters():
    p.requires_grad = True
trainable = [p for p in model.parameters() if p.requires_grad]
print(sum(p.numel() for p in trainable), "of", sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.AdamW(trainable, lr=1e-3)
for step in range(4):
    ids, labels = torch.randint(0, 20, (8, 6)), torch.randint(0, 3, (8,))
    loss = nn.functional.cross_entropy(model(ids), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
