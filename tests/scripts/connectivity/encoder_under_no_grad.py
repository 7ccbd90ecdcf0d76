# symptom   the encoder does not learn
# cause     features are computed under no_grad, which was meant for evaluation only
# command   why
# verdict   computed under no_grad
# line      with paddle.no_grad():
# affected  model.encoder
import argparse

import paddle
import paddle.nn.functional as F
from paddle import nn


class Model(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, width), nn.ReLU())
        self.head = nn.Linear(width, 3)

    def features(self, x):
        with paddle.no_grad():
            return self.encoder(x)

    def forward(self, x):
        return self.head(self.features(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    paddle.seed(0)
    model = Model(args.width)
    opt = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
    for epoch in range(args.epochs):
        for _ in range(3):
            x, y = paddle.randn([8, 6]), paddle.randint(0, 3, [8])
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            opt.clear_grad()
        print(epoch, float(loss))


if __name__ == "__main__":
    main()
