"""Two critics that learn what their target networks say, and an actor: an entropy term, one step each."""

# expect: nothing

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def mlp(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, outputs))


actor, one, other = mlp(3, 4), mlp(5, 1), mlp(5, 1)
old_one, old_other = copy.deepcopy(one), copy.deepcopy(other)
critics = torch.optim.Adam([*one.parameters(), *other.parameters()], 1e-3)
actors = torch.optim.Adam(actor.parameters(), 3e-4)


def act(state):
    mean, log_std = actor(state).chunk(2, -1)
    chosen = torch.distributions.Normal(mean, (-5 + 3.5 * (torch.tanh(log_std) + 1)).exp())
    raw = chosen.rsample()
    action = torch.tanh(raw)
    return action, (chosen.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(1, keepdim=True)


for _ in range(2):
    state, action, reward, after = torch.randn(8, 3), torch.rand(8, 2) * 2 - 1, torch.randn(8), torch.randn(8, 3)
    made, log_prob = act(state)
    pair = torch.cat([state, made], 1)
    reached = (0.2 * log_prob - torch.min(one(pair), other(pair))).mean()
    actors.zero_grad()
    reached.backward()
    actors.step()
    with torch.no_grad():
        next_action, log_prob = act(after)
        pair = torch.cat([after, next_action], 1)
        target = reward + 0.99 * (torch.min(old_one(pair), old_other(pair)) - 0.2 * log_prob).view(-1)
    pair = torch.cat([state, action], 1)
    loss = F.mse_loss(one(pair).view(-1), target) + F.mse_loss(other(pair).view(-1), target)
    critics.zero_grad()
    loss.backward()
    critics.step()
    with torch.no_grad():
        for new, old in ((one, old_one), (other, old_other)):
            for p, q in zip(new.parameters(), old.parameters()):
                q.mul_(0.995).add_(p, alpha=0.005)
