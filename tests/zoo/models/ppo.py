"""PPO for continuous actions: a clipped ratio of densities, clipped values, advantages from the end."""

import numpy as np
import paddle
import paddle.nn as nn
from paddle.distribution import Normal


def layer_init(layer, std=2**0.5, bias_const=0.0):
    nn.initializer.Orthogonal(std)(layer.weight)
    nn.initializer.Constant(bias_const)(layer.bias)
    return layer


class Agent(nn.Layer):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 12)),
            nn.Tanh(),
            layer_init(nn.Linear(12, 12)),
            nn.Tanh(),
            layer_init(nn.Linear(12, 1), std=1.0),
        )
        self.actor_mean = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 12)),
            nn.Tanh(),
            layer_init(nn.Linear(12, act_dim), std=0.01),
        )
        self.actor_logstd = self.create_parameter([1, act_dim], default_initializer=nn.initializer.Constant(0.0))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        action_mean = self.actor_mean(x)
        action_logstd = self.actor_logstd.expand_as(action_mean)
        probs = Normal(action_mean, paddle.exp(action_logstd))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x)


def estimated(rewards, values, dones, gamma=0.99, gae_lambda=0.95):
    advantages, last = np.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        following = values[t + 1] if t + 1 < len(rewards) else 0.0
        delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
        advantages[t] = last = delta + gamma * gae_lambda * (1 - dones[t]) * last
    return advantages


def network():
    return Agent(obs_dim=5, act_dim=2)


def loss(net, clip_coef=0.2, ent_coef=0.01, vf_coef=0.5):
    rng = np.random.RandomState(1)
    kind = paddle.get_default_dtype()
    observations = paddle.to_tensor(rng.randn(8, 5).astype(kind))
    actions = paddle.to_tensor(rng.randn(8, 2).astype(kind))
    with paddle.no_grad():
        _, old_logprobs, _, old_values = net.get_action_and_value(observations, actions)
        # What the policy was when it acted is a little off what it is now.
        old_logprobs = old_logprobs + paddle.to_tensor(0.3 * rng.randn(8).astype(kind))
        old_values = old_values.flatten() + paddle.to_tensor(0.3 * rng.randn(8).astype(kind))
    advantages = estimated(rng.rand(8), old_values.numpy(), rng.rand(8) < 0.2)
    returns = paddle.to_tensor((advantages + old_values.numpy()).astype(kind))
    advantages = paddle.to_tensor(((advantages - advantages.mean()) / (advantages.std() + 1e-8)).astype(kind))

    _, newlogprob, entropy, newvalue = net.get_action_and_value(observations, actions)
    logratio = newlogprob - old_logprobs
    ratio = logratio.exp()
    with paddle.no_grad():
        approx_kl = ((ratio - 1) - logratio).mean()
        assert approx_kl >= 0
    pg_loss1 = -advantages * ratio
    pg_loss2 = -advantages * paddle.clip(ratio, 1 - clip_coef, 1 + clip_coef)
    pg_loss = paddle.maximum(pg_loss1, pg_loss2).mean()

    newvalue = newvalue.flatten()
    v_loss_unclipped = (newvalue - returns) ** 2
    v_clipped = old_values + paddle.clip(newvalue - old_values, -clip_coef, clip_coef)
    v_loss = 0.5 * paddle.maximum(v_loss_unclipped, (v_clipped - returns) ** 2).mean()
    return pg_loss - ent_coef * entropy.mean() + v_loss * vf_coef


if __name__ == "__main__":
    agent = network()
    optimizer = paddle.optimizer.Adam(
        learning_rate=2.5e-4,
        epsilon=1e-5,
        parameters=agent.parameters(),
        grad_clip=nn.ClipGradByGlobalNorm(0.5),
    )
    cost = loss(agent)
    optimizer.clear_grad()
    cost.backward()
    optimizer.step()
