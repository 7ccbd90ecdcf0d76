# about     Gradients are added up over four small batches on purpose; the step and the clearing come once for all four.
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.io import DataLoader, Dataset


class Points(Dataset):
    def __init__(self, n):
        super().__init__()
        paddle.seed(1)
        self.x = paddle.randn([n, 6]).numpy()
        self.y = (self.x.sum(axis=1) > 0).astype("int64")

    def __getitem__(self, index):
        return self.x[index], self.y[index]

    def __len__(self):
        return len(self.x)


ACCUMULATE = 4


def main():
    loader = DataLoader(Points(64), batch_size=8, shuffle=False, drop_last=True)
    net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for epoch in range(2):
        for i, (x, y) in enumerate(loader):
            loss = F.cross_entropy(net(x), y) / ACCUMULATE
            loss.backward()
            if (i + 1) % ACCUMULATE == 0:
                opt.step()
                opt.clear_grad()


if __name__ == "__main__":
    main()
