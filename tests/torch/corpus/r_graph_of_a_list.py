"""Losses wait in a list until a backward of all of them, while another network makes its steps."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
actor, critic = nn.Linear(3, 1), nn.Linear(3, 1)
of_actor = torch.optim.SGD(actor.parameters(), 0.1)
of_critic = torch.optim.SGD(critic.parameters(), 0.1)
waiting = []
for step in range(12):
    x = torch.randn(8, 3)
    of_critic.zero_grad()
    (critic(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    of_critic.step()
    waiting.append((actor(x) * critic(x).detach()).mean())
    if len(waiting) == 4:
        of_actor.zero_grad()
        torch.stack(waiting).mean().backward()
        of_actor.step()
        waiting.clear()
