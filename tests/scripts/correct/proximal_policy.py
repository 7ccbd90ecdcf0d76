# about     PPO: several passes over the same batch; ratios are clipped, and the old log probabilities come from a frozen moment.
import argparse

import paddle
import paddle.nn.functional as F
from paddle import nn


def log_probability(policy, states, actions):
    return paddle.take_along_axis(F.log_softmax(policy(states)), actions, 1).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--passes", type=int, default=3)
    opts = parser.parse_args()
    paddle.seed(17)
    policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    value = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = paddle.optimizer.Adam(3e-3, parameters=[*policy.parameters(), *value.parameters()])
    states = paddle.randn([32, 4])
    actions = paddle.randint(0, 2, [32, 1])
    returns = (states[:, 0] > 0).astype("float32") + 0.1 * paddle.randn([32])
    with paddle.no_grad():
        before = log_probability(policy, states, actions)
        advantage = returns - value(states).squeeze(-1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    for _ in range(opts.passes):
        ratio = paddle.exp(log_probability(policy, states, actions) - before)
        clipped = paddle.clip(ratio, 1 - opts.clip, 1 + opts.clip)
        loss = -paddle.minimum(ratio * advantage, clipped * advantage).mean()
        loss = loss + 0.5 * F.mse_loss(value(states).squeeze(-1), returns)
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
