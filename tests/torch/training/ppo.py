"""Clipped policy gradients, after CleanRL's ppo."""
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(4, 16)), nn.Tanh(), layer_init(nn.Linear(16, 16)), nn.Tanh(), layer_init(nn.Linear(16, 1), std=1.0)
        )
        self.actor = nn.Sequential(
            layer_init(nn.Linear(4, 16)), nn.Tanh(), layer_init(nn.Linear(16, 16)), nn.Tanh(), layer_init(nn.Linear(16, 2), std=0.01)
        )

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        logits = self.actor(x)
        probs = Categorical(logits=logits)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


torch.manual_seed(1)
np.random.seed(1)
agent = Agent()
optimizer = optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
num_steps, num_envs, num_iterations, minibatch = 8, 2, 2, 8
obs = torch.zeros((num_steps, num_envs, 4))
actions, logprobs = torch.zeros((num_steps, num_envs)), torch.zeros((num_steps, num_envs))
rewards, values = torch.zeros((num_steps, num_envs)), torch.zeros((num_steps, num_envs))
next_obs = torch.randn(num_envs, 4)
for iteration in range(1, num_iterations + 1):
    frac = 1.0 - (iteration - 1.0) / num_iterations
    optimizer.param_groups[0]["lr"] = frac * 2.5e-4
    for step in range(num_steps):
        obs[step] = next_obs
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step] = value.flatten()
        actions[step] = action
        logprobs[step] = logprob
        rewards[step] = torch.tensor(np.asarray(action.numpy() == 1, dtype=np.float32)).view(-1)
        next_obs = torch.Tensor(0.9 * next_obs.numpy() + 0.1 * np.random.randn(num_envs, 4))
    with torch.no_grad():
        next_value = agent.get_value(next_obs).reshape(1, -1)
        advantages = torch.zeros_like(rewards)
        lastgaelam = 0
        for t in reversed(range(num_steps)):
            nextvalues = next_value if t == num_steps - 1 else values[t + 1]
            delta = rewards[t] + 0.99 * nextvalues - values[t]
            advantages[t] = lastgaelam = delta + 0.99 * 0.95 * lastgaelam
        returns = advantages + values
    b_obs, b_logprobs, b_actions = obs.reshape(-1, 4), logprobs.reshape(-1), actions.reshape(-1)
    b_advantages, b_returns, b_values = advantages.reshape(-1), returns.reshape(-1), values.reshape(-1)
    b_inds = np.arange(num_steps * num_envs)
    for epoch in range(2):
        np.random.shuffle(b_inds)
        for start in range(0, len(b_inds), minibatch):
            mb_inds = b_inds[start : start + minibatch]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions.long()[mb_inds])
            logratio = newlogprob - b_logprobs[mb_inds]
            ratio = logratio.exp()
            with torch.no_grad():
                approx_kl = ((ratio - 1) - logratio).mean()
            mb_advantages = b_advantages[mb_inds]
            mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
            pg_loss1 = -mb_advantages * ratio
            pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - 0.2, 1 + 0.2)
            pg_loss = torch.max(pg_loss1, pg_loss2).mean()
            newvalue = newvalue.view(-1)
            v_loss_unclipped = (newvalue - b_returns[mb_inds]) ** 2
            v_clipped = b_values[mb_inds] + torch.clamp(newvalue - b_values[mb_inds], -0.2, 0.2)
            v_loss_clipped = (v_clipped - b_returns[mb_inds]) ** 2
            v_loss = 0.5 * torch.max(v_loss_unclipped, v_loss_clipped).mean()
            entropy_loss = entropy.mean()
            loss = pg_loss - 0.01 * entropy_loss + v_loss * 0.5
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    print(iteration, loss.item(), approx_kl.item())
