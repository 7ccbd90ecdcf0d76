# about     Code written for several processes, run by one: DataParallel, ranks, a distributed sampler.
import paddle
import paddle.distributed as dist
import paddle.nn.functional as F
from paddle import nn
from paddle.io import BatchSampler, DataLoader, TensorDataset


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 7)
        self.out = nn.Linear(7, 2)

    def forward(self, x):
        return self.out(F.relu6(self.fc(x)))


def main():
    paddle.seed(0)
    if dist.get_world_size() > 1:
        dist.init_parallel_env()
    net = Net()
    if dist.get_world_size() > 1:
        net = paddle.DataParallel(net)
    data = TensorDataset([paddle.randn([24, 5]), paddle.randint(0, 2, [24])])
    loader = DataLoader(data, batch_sampler=BatchSampler(data, shuffle=True, batch_size=8))
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        if dist.get_rank() == 0:
            print(float(loss))


if __name__ == "__main__":
    main()
