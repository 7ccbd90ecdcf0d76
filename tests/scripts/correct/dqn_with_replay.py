# about     Deep Q-learning: goals come from a target network under no_grad, which no optimizer holds; it is copied now and then.
import random
from collections import deque

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn


class QNet(nn.Layer):
    def __init__(self, states, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(states, 24), nn.ReLU())
        self.head = nn.Linear(24, actions)

    def forward(self, x):
        return self.head(self.body(x))


class Corridor:
    """Walk right to the end of a corridor."""

    def __init__(self, length=6):
        self.length, self.place = length, 0

    def state(self):
        one = np.zeros(self.length, "float32")
        one[self.place] = 1.0
        return one

    def step(self, action):
        self.place = max(0, min(self.length - 1, self.place + (1 if action else -1)))
        done = self.place == self.length - 1
        return self.state(), float(done) - 0.01, done


def train(episodes=3, gamma=0.95):
    random.seed(0)
    np.random.seed(0)
    paddle.seed(0)
    env = Corridor()
    online, target = QNet(6, 2), QNet(6, 2)
    target.set_state_dict(online.state_dict())
    target.eval()
    opt = paddle.optimizer.Adam(1e-2, parameters=online.parameters())
    memory = deque(maxlen=500)
    count = 0
    for episode in range(episodes):
        env.place = 0
        state = env.state()
        for _ in range(20):
            action = random.randrange(2)
            following, reward, done = env.step(action)
            memory.append((state, action, reward, following, float(done)))
            state = following
            if len(memory) >= 16:
                batch = random.sample(memory, 16)
                s, a, r, f, d = (np.array(column, "float32") for column in zip(*batch))
                s, f, r, d = map(paddle.to_tensor, (s, f, r, d))
                q = (online(s) * F.one_hot(paddle.to_tensor(a.astype("int64")), 2)).sum(axis=1)
                with paddle.no_grad():
                    goal = r + gamma * (1 - d) * target(f).max(axis=1)
                loss = F.smooth_l1_loss(q, goal)
                opt.clear_grad()
                loss.backward()
                opt.step()
                count += 1
                if count % 10 == 0:
                    target.set_state_dict(online.state_dict())
            if done:
                break
        print("episode", episode, "memory", len(memory))


if __name__ == "__main__":
    train()
