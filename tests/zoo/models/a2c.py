"""Advantage actor-critic: one trunk, log-probabilities times advantages, errors of values, entropy."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.distribution import Categorical


class ActorCritic(nn.Layer):
    def __init__(self, obs_dim, act_dim, hidden=16):
        super().__init__()
        self.affine = nn.Linear(obs_dim, hidden)
        self.action_head = nn.Linear(hidden, act_dim)
        self.value_head = nn.Linear(hidden, 1)

    def forward(self, x):
        x = F.tanh(self.affine(x))
        return F.softmax(self.action_head(x), axis=-1), self.value_head(x)


def rollout():
    rng = np.random.RandomState(543)
    obs = rng.randn(6, 4)
    return obs, rng.randint(0, 3, size=6), rng.rand(6)


def discounted(rewards, gamma=0.9):
    returns, total = [], 0.0
    for reward in rewards[::-1]:
        total = reward + gamma * total
        returns.insert(0, total)
    returns = np.array(returns)
    return (returns - returns.mean()) / (returns.std() + 1e-6)


def network():
    return ActorCritic(4, 3)


def loss(net):
    kind = paddle.get_default_dtype()
    observations, actions, rewards = rollout()
    policy_losses, value_losses, entropies = [], [], []
    for state, action, target in zip(observations, actions, discounted(rewards), strict=True):
        probs, state_value = net(paddle.to_tensor(state.astype(kind)).unsqueeze(0))
        m = Categorical(probs)
        log_prob = m.log_prob(paddle.to_tensor([int(action)]))
        advantage = float(target) - state_value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(state_value, paddle.to_tensor([[target]], dtype=kind)))
        entropies.append(m.entropy())
    policy_loss = paddle.stack(policy_losses).sum()
    value_loss = paddle.stack(value_losses).sum()
    entropy = paddle.stack(entropies).mean()
    return policy_loss + 0.5 * value_loss - 0.01 * entropy


if __name__ == "__main__":
    model = network()
    optimizer = paddle.optimizer.RMSProp(learning_rate=3e-2, parameters=model.parameters())
    cost = loss(model)
    optimizer.clear_grad()
    cost.backward()
    optimizer.step()
