"""A small adversarial pair."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

maker, judge = nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
of_maker = torch.optim.Adam(maker.parameters())
of_judge = torch.optim.Adam(judge.parameters())
for _step in range(2):
    made = maker(torch.randn(8, 2))
    of_judge.zero_grad()
    judged = judge(made.detach()).mean() - judge(torch.randn(8, 4)).mean()
    judged.backward()
    of_judge.step()
    of_maker.zero_grad()
    loss = -judge(made).mean()
    loss.backward()
    of_maker.step()
