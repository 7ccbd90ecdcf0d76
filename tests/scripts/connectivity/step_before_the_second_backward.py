# symptom   the second backward raises: a value was modified in place
# cause     the first optimizer steps before the second loss is differentiated
# command   why
# exit      4
# verdict   before the first step()
# line      of_first.step()
import paddle
from paddle import nn


def main():
    body, first, second = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
    of_first = paddle.optimizer.SGD(0.1, parameters=[*body.parameters(), *first.parameters()])
    of_second = paddle.optimizer.SGD(0.1, parameters=second.parameters())
    for _ in range(2):
        hidden = first(paddle.tanh(body(paddle.randn([8, 4]))))
        one, other = (hidden**2).mean(), (second(hidden) ** 2).mean()
        one.backward(retain_graph=True)
        of_first.step()
        other.backward()
        of_second.step()
        of_first.clear_grad()
        of_second.clear_grad()


if __name__ == "__main__":
    main()
