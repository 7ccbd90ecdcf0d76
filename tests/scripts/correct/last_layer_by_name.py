# Fine-tuning: of one model the optimizer is given what a filter of names lets through.
import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    trained = [p for name, p in net.named_parameters() if name.startswith("2.")]
    opt = paddle.optimizer.SGD(0.1, parameters=trained)
    for _ in range(3):
        loss = F.cross_entropy(net(paddle.randn([8, 4])), paddle.randint(0, 2, [8]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
