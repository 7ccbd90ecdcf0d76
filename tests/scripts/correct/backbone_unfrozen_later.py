# about     The backbone is frozen in the first epoch and trained from the second one on.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2D(1, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2D(2))
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(paddle.flatten(self.backbone(x), 1))


def set_trainable(layer, flag):
    for p in layer.parameters():
        p.stop_gradient = not flag


def main():
    paddle.seed(0)
    model = Model()
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    for epoch in range(3):
        set_trainable(model.backbone, epoch > 0)
        for _ in range(2):
            x, y = paddle.randn([6, 1, 8, 8]), paddle.randint(0, 3, [6])
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            opt.clear_grad()


if __name__ == "__main__":
    main()
