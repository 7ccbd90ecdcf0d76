# symptom   the first layer does not learn
# cause     the inputs are as the sensor gives them, up to 1e9
# command   why
# verdict   100 % of the outputs saturated
# line      hidden = paddle.tanh(first(batch))
# affected  first.weight first.bias
import paddle
from paddle import nn


def main():
    paddle.seed(0)
    first, last = nn.Linear(4, 8), nn.Linear(8, 1)
    opt = paddle.optimizer.Adam(1e-3, parameters=[*first.parameters(), *last.parameters()])
    for _ in range(3):
        batch, target = 1e9 * paddle.randn([16, 4]), paddle.rand([16, 1])
        hidden = paddle.tanh(first(batch))
        loss = ((last(hidden) - target) ** 2).mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
