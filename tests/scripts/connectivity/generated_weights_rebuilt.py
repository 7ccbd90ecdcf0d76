# symptom   every task has the same weights
# cause     generated weights are made into a new tensor
# command   why
# verdict   detached
# line      w = paddle.to_tensor(w, stop_gradient=False)
# affected  net.task.weight net.make.weight net.make.bias
"""A hypernetwork makes the weights of a small net; they are wrapped anew and lose their history."""
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Hyper(nn.Layer):
    def __init__(self, tasks, n_in, n_out):
        super().__init__()
        self.task = nn.Embedding(tasks, 4)
        self.make = nn.Linear(4, n_in * n_out)
        self.bias = self.create_parameter([n_out], is_bias=True)
        self.shape = [n_in, n_out]

    def forward(self, t, x):
        w = self.make(self.task(t)).reshape(self.shape)
        w = paddle.to_tensor(w, stop_gradient=False)
        return x @ w + self.bias


def main():
    paddle.seed(0)
    net = Hyper(3, 4, 2)
    opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    for step in range(6):
        t = paddle.to_tensor([step % 3])
        x = paddle.randn([8, 4])
        loss = F.mse_loss(net(t, x), x[:, :2] * (step % 3))
        loss.backward()
        opt.step()
        opt.clear_grad()
        print(step, loss.item())


main()
