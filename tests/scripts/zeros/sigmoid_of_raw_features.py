# symptom   the first layer does not learn, the last one does
# cause     features in thousands saturate tanh completely
# command   why
# verdict   zero: saturated
# line      return self.out(paddle.tanh(self.first(x)))
# affected  model.first.weight model.first.bias
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.out = nn.Linear(3, 6), nn.Linear(6, 1)

    def forward(self, x):
        return self.out(paddle.tanh(self.first(x)))


def main():
    paddle.seed(5)
    rng = np.random.RandomState(0)
    salary = (1e6 + 1e5 * rng.rand(20, 3)).astype("float32")
    goal = (salary.sum(axis=1, keepdims=True) > 3.15e6).astype("float32")
    model = Model()
    opt = paddle.optimizer.SGD(0.01, parameters=model.parameters())
    for _ in range(3):
        loss = F.binary_cross_entropy_with_logits(model(paddle.to_tensor(salary)), paddle.to_tensor(goal))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
