"""An actor whose last layer begins at small values next to its critic: neither lies behind the other."""

# expect: nothing

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(0)


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


critic = nn.Sequential(layer(4, 32), nn.Tanh(), layer(32, 1, 1.0))
actor = nn.Sequential(layer(4, 32), nn.Tanh(), layer(32, 2, 0.01))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 2.5e-4, eps=1e-5)
state, reward = torch.randn(32, 4), torch.rand(32) * 20
with torch.no_grad():
    action = Categorical(logits=actor(state)).sample()
    before = Categorical(logits=actor(state)).log_prob(action)
    advantage = reward - critic(state).flatten()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
for _ in range(2):
    chosen = Categorical(logits=actor(state))
    ratio = (chosen.log_prob(action) - before).exp()
    policy = torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()
    value = ((critic(state).flatten() - reward) ** 2).mean()
    loss = policy - 0.01 * chosen.entropy().mean() + 0.5 * value
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
    optimizer.step()
