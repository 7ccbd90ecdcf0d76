"""Pairs of items ranked by matrix factors, after Bayesian personalised ranking."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class BPR(nn.Module):
    def __init__(self, users, items, dim=8):
        super().__init__()
        self.W = nn.Parameter(torch.empty(users, dim))
        self.H = nn.Parameter(torch.empty(items, dim))
        nn.init.xavier_normal_(self.W)
        nn.init.xavier_normal_(self.H)

    def forward(self, u, i, j):
        u, i, j = self.W[u, :], self.H[i, :], self.H[j, :]
        x_uij = (u * i).sum(dim=1) - (u * j).sum(dim=1)
        log_prob = F.logsigmoid(x_uij).sum()
        regularization = 0.025 * (u.norm(dim=1).pow(2).sum() + i.norm(dim=1).pow(2).sum() + j.norm(dim=1).pow(2).sum())
        return -log_prob + regularization


model = BPR(12, 20)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    u, i, j = torch.randint(0, 12, (32,)), torch.randint(0, 20, (32,)), torch.randint(0, 20, (32,))
    optimizer.zero_grad()
    loss = model(u, i, j)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
