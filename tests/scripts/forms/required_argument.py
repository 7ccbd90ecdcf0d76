# symptom   the script needs an argument, and its scale of zero kills the gradient
# cause     --scale 0
# command   why
# verdict   zero: multiplied by 0
# line      loss = (net(x) * args.scale).square().mean()
# affected  net.weight net.bias
# arguments --scale 0 out.txt
import argparse
import sys

import paddle
from paddle import nn


def main(argv):
    parser = argparse.ArgumentParser(prog="train")
    parser.add_argument("output")
    parser.add_argument("--scale", type=float, required=True)
    args = parser.parse_args(argv)
    paddle.seed(1)
    net = nn.Linear(3, 2)
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for _ in range(2):
        x = paddle.randn([4, 3])
        loss = (net(x) * args.scale).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
    print("would write", args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
