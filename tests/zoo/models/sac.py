"""Soft actor-critic: a squashed Gaussian policy, two critics and their slow copies, a temperature."""

import copy

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.distribution import Normal

LOG_SIG_MAX, LOG_SIG_MIN = 2.0, -20.0
EPSILON = 1e-6


class Actor(nn.Layer):
    def __init__(self, obs_dim, action_dim, hidden):
        super().__init__()
        self.l1 = nn.Linear(obs_dim, hidden)
        self.mean_linear = nn.Linear(hidden, action_dim)
        self.std_linear = nn.Linear(hidden, action_dim)

    def forward(self, obs):
        x = F.relu(self.l1(obs))
        act_std = self.std_linear(x)
        return self.mean_linear(x), paddle.clip(act_std, min=LOG_SIG_MIN, max=LOG_SIG_MAX)

    def sample(self, obs, noise):
        act_mean, act_log_std = self(obs)
        normal = Normal(act_mean, act_log_std.exp())
        # Noise that is given, so that every run draws the same: else this is normal.rsample().
        x_t = act_mean + noise * normal.scale
        action = paddle.tanh(x_t)
        log_prob = normal.log_prob(x_t)
        log_prob -= paddle.log((1 - action.pow(2)) + EPSILON)
        return action, paddle.sum(log_prob, axis=1, keepdim=True)


class Critic(nn.Layer):
    def __init__(self, obs_dim, action_dim, hidden):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(obs_dim + action_dim, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.q2 = nn.Sequential(nn.Linear(obs_dim + action_dim, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, obs, action):
        x = paddle.concat([obs, action], 1)
        return self.q1(x), self.q2(x)


class SAC(nn.Layer):
    def __init__(self, obs_dim=4, action_dim=2, hidden=12):
        super().__init__()
        self.actor = Actor(obs_dim, action_dim, hidden)
        self.critic = Critic(obs_dim, action_dim, hidden)
        self.log_alpha = self.create_parameter([1], default_initializer=nn.initializer.Constant(-1.6))
        self.target_entropy = -float(action_dim)


def batch():
    rng = np.random.RandomState(99)
    shapes = [(6, 4), (6, 2), (6, 1), (6, 4), (6, 1), (6, 2), (6, 2)]
    values = [rng.randn(*shape).astype(paddle.get_default_dtype()) for shape in shapes]
    values[1] = np.tanh(values[1])
    values[4] = (values[4] > 1).astype(values[4].dtype)
    return [paddle.to_tensor(x) for x in values]


def critic_loss(agent, target_critic, gamma=0.99):
    obs, action, reward, next_obs, terminal, noise, _ = batch()
    with paddle.no_grad():
        next_action, next_log_pro = agent.actor.sample(next_obs, noise)
        q1_next, q2_next = target_critic(next_obs, next_action)
        target_Q = paddle.minimum(q1_next, q2_next) - agent.log_alpha.exp() * next_log_pro
        target_Q = reward + gamma * (1.0 - terminal) * target_Q
    cur_q1, cur_q2 = agent.critic(obs, action)
    return F.mse_loss(cur_q1, target_Q) + F.mse_loss(cur_q2, target_Q)


def actor_loss(agent):
    obs, *_, noise = batch()
    act, log_pi = agent.actor.sample(obs, noise)
    q1_pi, q2_pi = agent.critic(obs, act)
    min_q_pi = paddle.minimum(q1_pi, q2_pi)
    alpha = agent.log_alpha.exp()
    temperature_loss = -(agent.log_alpha * (log_pi + agent.target_entropy).detach()).mean()
    return ((alpha.detach() * log_pi) - min_q_pi).mean() + temperature_loss


def network():
    return SAC()


def loss(net):
    return {"critic": critic_loss(net, copy.deepcopy(net.critic)), "actor": actor_loss(net)}


if __name__ == "__main__":
    agent = network()
    target_critic = copy.deepcopy(agent.critic)
    critic_optimizer = paddle.optimizer.Adam(learning_rate=3e-4, parameters=agent.critic.parameters())
    actor_optimizer = paddle.optimizer.Adam(learning_rate=3e-4, parameters=[*agent.actor.parameters(), agent.log_alpha])
    cost = critic_loss(agent, target_critic)
    critic_optimizer.clear_grad()
    cost.backward()
    critic_optimizer.step()

    cost = actor_loss(agent)
    actor_optimizer.clear_grad()
    cost.backward()
    actor_optimizer.step()

    for param, target_param in zip(agent.critic.parameters(), target_critic.parameters(), strict=True):
        target_param.set_value(0.005 * param.detach() + 0.995 * target_param)
