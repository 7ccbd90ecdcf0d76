# about     Advantage actor-critic: the advantage is detached in the actor's loss, the critic learns from the returns.
import paddle
import paddle.nn.functional as F
from paddle import nn


class ActorCritic(nn.Layer):
    def __init__(self, observations=4, actions=3):
        super().__init__()
        self.shared = nn.Linear(observations, 16)
        self.policy = nn.Linear(16, actions)
        self.value = nn.Linear(16, 1)

    def forward(self, x):
        h = paddle.tanh(self.shared(x))
        return self.policy(h), self.value(h).squeeze(-1)


def discounted(rewards, gamma):
    total, out = 0.0, []
    for r in reversed(rewards):
        total = r + gamma * total
        out.append(total)
    return out[::-1]


def main(episodes=3, gamma=0.9):
    paddle.seed(21)
    net = ActorCritic()
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(episodes):
        states = paddle.randn([10, 4])
        logits, values = net(states)
        actions = paddle.multinomial(F.softmax(logits).detach(), 1).squeeze(-1)
        rewards = [1.0 if int(a) == i % 3 else 0.0 for i, a in enumerate(actions)]
        returns = paddle.to_tensor(discounted(rewards, gamma))
        advantage = returns - values.detach()
        chosen = paddle.take_along_axis(F.log_softmax(logits), actions.unsqueeze(-1), 1).squeeze(-1)
        entropy = -(F.softmax(logits) * F.log_softmax(logits)).sum(axis=-1).mean()
        loss = -(chosen * advantage).mean() + 0.5 * F.mse_loss(values, returns) - 0.01 * entropy
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
