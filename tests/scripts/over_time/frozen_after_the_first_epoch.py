# symptom   the encoder learns in the first epoch only
# cause     a schedule freezes it and nobody thaws it
# command   why
# verdict   stop_gradient
# line      parameter.stop_gradient = True
# affected  model.encoder.weight model.encoder.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(4, 6), nn.Linear(6, 2)

    def forward(self, x):
        return self.head(F.relu(self.encoder(x)))


def on_epoch_end(model, epoch):
    if epoch == 0:
        for parameter in model.encoder.parameters():
            parameter.stop_gradient = True


def main():
    paddle.seed(3)
    model = Model()
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    for epoch in range(3):
        for _ in range(2):
            loss = F.cross_entropy(model(paddle.randn([6, 4])), paddle.randint(0, 2, [6]))
            loss.backward()
            opt.step()
            opt.clear_grad()
        on_epoch_end(model, epoch)


if __name__ == "__main__":
    main()
