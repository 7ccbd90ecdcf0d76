# symptom   the script raises, and the layers before have no gradient
# cause     a wrong shape in the third step; detach before it
# command   why
# verdict   detached
# line      h = first(x).detach()
# affected  first.weight first.bias
# exit      4
import paddle
from paddle import nn


def main():
    paddle.seed(3)
    first, second = nn.Linear(4, 5), nn.Linear(5, 1)
    opt = paddle.optimizer.SGD(0.1, parameters=[*first.parameters(), *second.parameters()])
    for step in range(4):
        x = paddle.randn([3, 4 if step < 2 else 7])
        h = first(x).detach()
        loss = second(h).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
