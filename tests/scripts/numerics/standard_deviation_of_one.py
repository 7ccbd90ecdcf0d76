# symptom   NaN in the last batch of an epoch
# cause     the last batch holds one sample, and its deviation is divided by n - 1 = 0
# command   nan
# verdict   0/0
# line      deviation = paddle.sqrt(((x - mean) ** 2).sum(axis=0) / (x.shape[0] - 1))
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.io import DataLoader, TensorDataset


class Normalise(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.gain = self.create_parameter([size], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, x):
        mean = x.mean(axis=0)
        deviation = paddle.sqrt(((x - mean) ** 2).sum(axis=0) / (x.shape[0] - 1))
        return self.gain * (x - mean) / deviation


def main():
    paddle.seed(4)
    x = paddle.randn([9, 3])
    loader = DataLoader(TensorDataset([x, x.sum(axis=1, keepdim=True)]), batch_size=4)
    net = nn.Sequential(Normalise(3), nn.Linear(3, 1))
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for bx, by in loader:
        loss = F.mse_loss(net(bx), by)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
