"""DQN: the value of the action taken against the best of a target network, with replay and soft updates."""

import collections
import copy
import random

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

Transition = collections.namedtuple("Transition", ["obs", "action", "reward", "next_obs", "terminal"])


class CartModel(nn.Layer):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.fc1 = nn.Linear(obs_dim, 16)
        self.fc2 = nn.Linear(16, 16)
        self.fc3 = nn.Linear(16, act_dim)

    def forward(self, obs):
        h1 = F.relu(self.fc1(obs))
        h2 = F.relu(self.fc2(h1))
        return self.fc3(h2)


class DQN:
    def __init__(self, model, gamma, lr):
        self.model = model
        self.target_model = copy.deepcopy(model)
        self.gamma = gamma
        self.mse_loss = nn.MSELoss(reduction="mean")
        self.optimizer = paddle.optimizer.Adam(learning_rate=lr, parameters=self.model.parameters())

    def cost(self, obs, action, reward, next_obs, terminal):
        pred_values = self.model(obs)
        action_dim = pred_values.shape[-1]
        action = paddle.squeeze(action, axis=-1)
        action_onehot = F.one_hot(action, num_classes=action_dim).astype(pred_values.dtype)
        pred_value = paddle.sum(paddle.multiply(pred_values, action_onehot), axis=1, keepdim=True)
        with paddle.no_grad():
            max_v = self.target_model(next_obs).max(1, keepdim=True)
            target = reward + (1 - terminal) * self.gamma * max_v
        return self.mse_loss(pred_value, target)

    def learn(self, *batch):
        loss = self.cost(*batch)
        self.optimizer.clear_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def sync_target(self, decay=0.0):
        target_vars = dict(self.target_model.named_parameters())
        for name, var in self.model.named_parameters():
            mixed = decay * target_vars[name] + (1 - decay) * var
            target_vars[name].set_value(mixed.detach())


def experiences(count):
    rng = np.random.RandomState(0)
    state = rng.randn(4)
    for _ in range(count):
        action = int(rng.randint(2))
        following = 0.9 * state + 0.3 * rng.randn(4) + (0.1 if action else -0.1)
        yield Transition(state, action, float(-abs(following[0])), following, float(rng.rand() < 0.1))
        state = following


def sampled(memory, size):
    rows = random.Random(1).sample(list(memory), size)
    kind = paddle.get_default_dtype()
    obs, action, reward, next_obs, terminal = zip(*rows, strict=True)
    columns = [np.stack(obs), np.array(reward)[:, None], np.stack(next_obs), np.array(terminal)[:, None]]
    obs, reward, next_obs, terminal = [paddle.to_tensor(x.astype(kind)) for x in columns]
    return obs, paddle.to_tensor(np.array(action, dtype="int64")[:, None]), reward, next_obs, terminal


def network():
    return CartModel(4, 2)


def loss(net):
    memory = collections.deque(experiences(20), maxlen=50)
    return DQN(net, gamma=0.99, lr=1e-3).cost(*sampled(memory, 8))


if __name__ == "__main__":
    agent = DQN(network(), gamma=0.99, lr=1e-3)
    memory = collections.deque(experiences(20), maxlen=50)
    agent.learn(*sampled(memory, 8))
    agent.sync_target(decay=0.9)
