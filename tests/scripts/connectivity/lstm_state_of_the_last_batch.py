# symptom   the second batch raises: the graph was freed
# cause     the layer keeps its state from batch to batch
# command   why
# exit      4
# verdict   detach the state held in self.state
# line      y, self.state = self.lstm(x, self.state)
import paddle
from paddle import nn


class Forecast(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(2, 6), nn.Linear(6, 1)
        self.state = None

    def forward(self, x):
        y, self.state = self.lstm(x, self.state)
        return self.out(y)


def train_step(model, opt, x, y):
    loss = ((model(x) - y) ** 2).mean()
    opt.clear_grad()
    loss.backward()
    opt.step()
    return float(loss)


def main():
    paddle.seed(1)
    model = Forecast()
    opt = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
    for _ in range(3):
        train_step(model, opt, paddle.randn([3, 5, 2]), paddle.ones([3, 5, 1]))


if __name__ == "__main__":
    main()
