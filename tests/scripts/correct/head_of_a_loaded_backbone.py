# The backbone is loaded and left as it is: the optimizer is given the parameters of the head.
import paddle
import paddle.nn.functional as F
from paddle import nn


def pretrained():
    paddle.seed(7)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8)).state_dict()


def main():
    backbone = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8))
    backbone.set_state_dict(pretrained())
    head = nn.Linear(8, 2)
    opt = paddle.optimizer.Adam(1e-3, parameters=head.parameters())
    for _ in range(3):
        loss = F.cross_entropy(head(backbone(paddle.randn([8, 4]))), paddle.randint(0, 2, [8]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
