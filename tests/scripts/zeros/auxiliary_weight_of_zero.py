# symptom   the auxiliary head gets zeros
# cause     its loss is multiplied by a weight whose default is 0
# command   why
# verdict   zero: multiplied by 0
# line      loss = main_loss + args.auxiliary * auxiliary_loss
# affected  auxiliary.weight auxiliary.bias
import argparse

import paddle
import paddle.nn.functional as F
from paddle import nn


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--auxiliary", type=float, default=0.0)
    return parser.parse_args()


def main():
    args = parse()
    paddle.seed(1)
    trunk, head, auxiliary = nn.Linear(4, 6), nn.Linear(6, 2), nn.Linear(6, 1)
    parameters = trunk.parameters() + head.parameters() + auxiliary.parameters()
    opt = paddle.optimizer.Adam(1e-3, parameters=parameters)
    for _ in range(3):
        x, y = paddle.randn([10, 4]), paddle.randint(0, 2, [10])
        h = F.relu(trunk(x))
        main_loss = F.cross_entropy(head(h), y)
        auxiliary_loss = F.mse_loss(auxiliary(h), x[:, :1])
        loss = main_loss + args.auxiliary * auxiliary_loss
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
