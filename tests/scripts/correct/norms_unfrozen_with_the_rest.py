# about     all parameters are unfrozen, running statistics among them
"""ResNet-like net: train the head, then unfreeze and train all with smaller rate."""
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Residual(nn.Layer):
    def __init__(self, c):
        super().__init__()
        self.c1, self.b1 = nn.Conv2D(c, c, 3, padding=1), nn.BatchNorm2D(c)
        self.c2, self.b2 = nn.Conv2D(c, c, 3, padding=1), nn.BatchNorm2D(c)

    def forward(self, x):
        y = F.relu(self.b1(self.c1(x)))
        return F.relu(x + self.b2(self.c2(y)))


class ResNet(nn.Layer):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Conv2D(1, 4, 3, padding=1)
        self.stage1, self.stage2 = Residual(4), Residual(4)
        self.fc = nn.Linear(4, classes)

    def forward(self, x):
        x = self.stage2(self.stage1(F.relu(self.stem(x))))
        return self.fc(x.mean(axis=[2, 3]))


def set_trainable(layer, flag):
    for p in layer.parameters():
        p.stop_gradient = not flag
    layer.train() if flag else layer.eval()


def epoch(model, opt, data):
    total = 0.0
    for x, y in data:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        total += loss.item()
    return total / len(data)


def main():
    paddle.seed(0)
    data = [(paddle.randn([4, 1, 6, 6]), paddle.randint(0, 3, [4])) for _ in range(3)]
    model = ResNet(10)
    model.fc = nn.Linear(4, 3)
    for layer in (model.stem, model.stage1, model.stage2):
        set_trainable(layer, False)
    opt = paddle.optimizer.Adam(1e-2, parameters=model.fc.parameters())
    print("head", epoch(model, opt, data))
    set_trainable(model, True)
    opt = paddle.optimizer.Momentum(1e-3, 0.9, parameters=model.parameters(), weight_decay=1e-4)
    for _ in range(2):
        print("all", epoch(model, opt, data))


main()
