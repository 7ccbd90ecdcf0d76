# symptom   the new head does not learn
# cause     the head is replaced after the optimizer has taken the parameters
# command   why
# verdict   not in parameter_list
# line      model.head = nn.Linear(8, args.classes)
# affected  model.head.weight model.head.bias
import argparse

import paddle
import paddle.nn.functional as F
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 8)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--classes", type=int, default=3)
    args = parser.parse_args()
    paddle.seed(4)
    model = Net()
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    model.head = nn.Linear(8, args.classes)
    for _ in range(3):
        x, y = paddle.randn([9, 5]), paddle.randint(0, args.classes, [9])
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
