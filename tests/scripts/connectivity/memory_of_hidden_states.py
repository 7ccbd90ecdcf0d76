# symptom   the second step raises: the graph was freed
# cause     the memory keeps hidden states with their graphs
# command   why
# exit      4
# verdict   detach the state
# line      self.memory.append(hidden)
import paddle
from paddle import nn


class Remembering(nn.Layer):
    def __init__(self):
        super().__init__()
        self.write, self.read = nn.Linear(3, 5), nn.Linear(5, 1)
        self.memory = []

    def forward(self, x):
        hidden = paddle.tanh(self.write(x))
        self.memory.append(hidden)
        return self.read(paddle.stack(self.memory).mean(axis=0))


def main():
    model = Remembering()
    opt = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
    for _ in range(3):
        loss = ((model(paddle.randn([4, 3])) - 1) ** 2).mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
