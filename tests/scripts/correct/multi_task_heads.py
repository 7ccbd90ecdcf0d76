# about     Three tasks with heads in a LayerList; the losses are weighted and added up in a list.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Tasks(nn.Layer):
    def __init__(self, n_tasks=3):
        super().__init__()
        self.trunk = nn.Linear(5, 10)
        self.heads = nn.LayerList([nn.Linear(10, 1) for _ in range(n_tasks)])

    def forward(self, x):
        h = F.relu(self.trunk(x))
        return [head(h) for head in self.heads]


def run(weights=(1.0, 0.5, 0.25), steps=3):
    paddle.seed(9)
    net = Tasks(len(weights))
    opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    for _ in range(steps):
        x = paddle.randn([8, 5])
        goals = [x[:, i : i + 1] * (i + 1) for i in range(len(weights))]
        losses = [w * F.mse_loss(out, goal) for w, out, goal in zip(weights, net(x), goals)]
        total = paddle.add_n(losses)
        total.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    run()
