"""Ordinary fine-tuning: the batch norm of a frozen body goes on, and the optimizer holds all."""

# expect: nothing

import torch
torch.manual_seed(0)
body = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU())
head = torch.nn.Linear(8, 3)
for p in body.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], 0.1)
for i in range(4):
    loss = torch.nn.functional.cross_entropy(head(body(torch.randn(16, 4))), torch.randint(3, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
