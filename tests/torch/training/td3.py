"""Twin critics with delayed actors, after CleanRL's td3_continuous_action."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def mlp(inputs, outputs, *last):
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs), *last)


actor = mlp(3, 2, nn.Tanh())
qf1, qf2 = mlp(5, 1), mlp(5, 1)
target_actor, qf1_target, qf2_target = (copy.deepcopy(m) for m in (actor, qf1, qf2))
q_optimizer = torch.optim.Adam(list(qf1.parameters()) + list(qf2.parameters()), lr=3e-4)
actor_optimizer = torch.optim.Adam(list(actor.parameters()), lr=3e-4)
for step in range(6):
    obs, next_obs = torch.randn(16, 3), torch.randn(16, 3)
    actions, rewards, dones = torch.rand(16, 2) * 2 - 1, torch.randn(16), (torch.rand(16) < 0.1).float()
    with torch.no_grad():
        clipped_noise = (torch.randn_like(actions) * 0.2).clamp(-0.5, 0.5)
        next_actions = (target_actor(next_obs) + clipped_noise).clamp(-1, 1)
        inputs = torch.cat([next_obs, next_actions], 1)
        min_target = torch.min(qf1_target(inputs), qf2_target(inputs))
        next_q_value = rewards + (1 - dones) * 0.99 * min_target.view(-1)
    inputs = torch.cat([obs, actions], 1)
    qf1_loss = F.mse_loss(qf1(inputs).view(-1), next_q_value)
    qf2_loss = F.mse_loss(qf2(inputs).view(-1), next_q_value)
    qf_loss = qf1_loss + qf2_loss
    q_optimizer.zero_grad()
    qf_loss.backward()
    q_optimizer.step()
    if step % 2 == 0:
        actor_loss = -qf1(torch.cat([obs, actor(obs)], 1)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        for source, target in ((actor, target_actor), (qf1, qf1_target), (qf2, qf2_target)):
            for param, target_param in zip(source.parameters(), target.parameters()):
                target_param.data.copy_(0.005 * param.data + (1 - 0.005) * target_param.data)
print(qf_loss.item(), actor_loss.item())
