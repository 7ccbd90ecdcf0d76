# A layer keeps its state from batch to batch, without its graph.
import paddle
from paddle import nn


class Forecast(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(2, 6), nn.Linear(6, 1)
        self.state = None

    def forward(self, x):
        y, state = self.lstm(x, self.state)
        self.state = tuple(s.detach() for s in state)
        return self.out(y)


def main():
    paddle.seed(1)
    model = Forecast()
    opt = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
    for _ in range(3):
        loss = ((model(paddle.randn([3, 5, 2])) - 1) ** 2).mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
