"""A backbone that is unfrozen later, and given to the optimizer then."""

# expect: nothing

import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
head = nn.Linear(8, 4)
for p in backbone.parameters():
    p.requires_grad = False
opt = torch.optim.AdamW(head.parameters(), lr=1e-3)


def epoch():
    for _ in range(2):
        x, y = torch.randn(4, 3, 8, 8), torch.randint(0, 4, (4,))
        loss = nn.functional.cross_entropy(head(backbone(x)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


epoch()
for p in backbone.parameters():
    p.requires_grad = True
opt.add_param_group({"params": backbone.parameters(), "lr": 1e-4})
epoch()
